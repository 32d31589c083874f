"""RFC 9113 section 8.2: names and values of fields; a request with a wrong one is malformed."""
import expect
import fields
import frames
from case import case


def _malformed(c, *more):
    stream = c.get(*more)
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.2.1", each={
    "upper case": "User-Agent", "one capital": "user-agenT", "space": "user agent", "space at the end": "user-agent ",
    "tab": "user\tagent", "NUL": "user\0agent", "CR": "user\ragent", "LF": "user\nagent", "DEL": "user\x7fagent",
    "0x80": "user\x80agent", "0xff": "user\xffagent", "colon within": "user:agent", "colon at the end": "user-agent:", "empty": ""})
def wrong_field_name(c, name):
    """A name with capitals, controls, space, octets above 0x7e or a colon, or none at all, is malformed."""
    _malformed(c, (name, "value"))


@case("RFC 9113 8.2.1", each={"NUL": "a\0b", "CR": "a\rb", "LF": "a\nb", "CRLF": "a\r\nb: c", "NUL at the end": "a\0"})
def wrong_field_value(c, value):
    """A value with NUL, CR or LF is malformed."""
    _malformed(c, ("x-value", value))


@case("RFC 9113 8.2.1", each={"space before": " a", "space after": "a ", "tab before": "\ta", "tab after": "a\t", "only space": " "})
def space_around_field_value(c, value):
    """A value that begins or ends with space or tab is malformed."""
    _malformed(c, ("x-value", value))


@case("RFC 9113 8.2.1", each={"NUL": ("x-value", "a\0b"), "LF": ("x-value", "a\nb"), "upper case": ("X-Value", "a")})
def wrong_field_in_huffman_code(c, field):
    """The rules hold for what the Huffman code stands for."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get() + fields.literal(*field, huffman=True)))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.2.1", each={"empty": "", "space within": "a b", "tab within": "a\tb", "octets above 0x7f": "\x80\xff", "colon": "a:b"})
def unusual_field_value(c, value):
    """Values may be empty, and have space, tab and octets above 0x7f within them."""
    expect.answered(c, c.get(("x-value", value)))


@case("RFC 9113 8.2.1")
def every_character_of_a_name(c):
    """Names may have all characters of a token."""
    expect.answered(c, c.get(("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz", "1")))


@case("RFC 9113 8.2.2", each={
    "connection": ("connection", "keep-alive"), "proxy-connection": ("proxy-connection", "keep-alive"),
    "keep-alive": ("keep-alive", "timeout=5"), "transfer-encoding": ("transfer-encoding", "chunked"), "upgrade": ("upgrade", "h2c")})
def connection_specific_field(c, field):
    """Fields that are specific to a connection of HTTP/1.1 are malformed."""
    _malformed(c, field)


@case("RFC 9113 8.2.2", each={"gzip": "gzip", "trailers and more": "trailers, deflate"})
def te_other_than_trailers(c, value):
    """TE with another value than trailers is malformed."""
    _malformed(c, ("te", value))


@case("RFC 9113 8.2.2")
def te_trailers(c):
    """TE: trailers is allowed."""
    expect.answered(c, c.get(("te", "trailers")))


@case("RFC 9113 8.2.3")
def cookie_in_pieces(c):
    """A cookie may come as several fields."""
    expect.answered(c, c.get(("cookie", "a=b"), ("cookie", "c=d"), ("cookie", "e=f")))


@case("RFC 9113 8.2")
def repeated_field(c):
    """A field may come more than once, and between others."""
    expect.answered(c, c.get(("accept", "a/b"), ("x-value", "1"), ("accept", "c/d")))
