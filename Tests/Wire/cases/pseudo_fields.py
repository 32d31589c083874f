"""RFC 9113 sections 8.3 and 8.5: the pseudo-header fields of requests."""
import expect
import fields
import frames
from case import case


def _send(c, *pairs):
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.block(*pairs)))
    return stream


def _malformed(c, *pairs):
    expect.stream_error(c, _send(c, *pairs), frames.PROTOCOL_ERROR)


@case("RFC 9113 8.3", each={"unknown": (":x", "1"), "of responses": (":status", "200"), "empty name": (":", "1"),
                            "upper case": (":Authority", "localhost"), ":protocol without its setting": (":protocol", "websocket")})
def pseudo_field_that_requests_lack(c, field):
    """A pseudo-header field that requests do not have is malformed."""
    _malformed(c, field, *fields.request())


@case("RFC 9113 8.3", each={name: name for name in (":method", ":scheme", ":path", ":authority")})
def pseudo_field_after_regular(c, name):
    """A pseudo-header field after a regular one is malformed."""
    pairs = fields.request()
    last = next(pair for pair in pairs if pair[0] == name)
    _malformed(c, *(pair for pair in pairs if pair != last), ("accept", "*/*"), last)


@case("RFC 9113 8.3", each={name: name for name in (":method", ":scheme", ":path", ":authority")})
def pseudo_field_twice(c, name):
    """A pseudo-header field that comes twice is malformed, even with the same value."""
    pairs = fields.request()
    _malformed(c, *pairs, next(pair for pair in pairs if pair[0] == name))


@case("RFC 9113 8.3")
def pseudo_fields_in_any_order(c):
    """The order among pseudo-header fields is free."""
    expect.answered(c, _send(c, *reversed(fields.request())))


@case("RFC 9113 8.3.1", each={"method": "method", "scheme": "scheme", "path": "path"})
def pseudo_field_missing(c, name):
    """A request without :method, :scheme or :path is malformed."""
    _malformed(c, *fields.request(**{name: None}))


@case("RFC 9113 8.3.1")
def only_regular_fields(c):
    """A request without any pseudo-header field is malformed."""
    _malformed(c, ("host", "localhost"), ("accept", "*/*"))


@case("RFC 9113 8.3.1", each={
    "empty :method": {"method": ""}, "space in :method": {"method": "GE T"}, "empty :scheme": {"scheme": ""},
    "space in :scheme": {"scheme": "ht tps"}, "empty :path": {"path": ""}, "space in :path": {"path": "/3/device/a b"},
    "control in :path": {"path": "/3/device/\x01"}, ":path without slash": {"path": "3/device/00"},
    "* for another method than OPTIONS": {"path": "*"}, "space in :authority": {"authority": "local host"}})
def pseudo_field_without_valid_value(c, change):
    """:method, :scheme and :path need a valid value each, and :authority one where it is sent; else the request is malformed."""
    _malformed(c, *fields.request(**change))


@case("RFC 9113 8.3.1", each={
    "query": {"path": fields.PATH + "?a=b"}, "authority with port": {"authority": "localhost:443"},
    "method of any name": {"method": "PATCH"}, "lower-case method": {"method": "get"}, "scheme http": {"scheme": "http"}})
def unusual_pseudo_field(c, change):
    """Valid values that clients seldom send make no malformed request."""
    expect.accepted(c, _send(c, *fields.request(**change)))
    expect.serves(c)


@case("RFC 9113 8.3.1")
def asterisk_for_options(c):
    """OPTIONS may have the path *."""
    expect.accepted(c, _send(c, *fields.request(method="OPTIONS", path="*")))
    expect.serves(c)


@case("RFC 9113 8.3.1")
def host_in_place_of_authority(c):
    """A request may have host and no :authority."""
    expect.answered(c, _send(c, *fields.request(("host", "localhost"), authority=None)))


@case("RFC 9113 8.3.1")
def host_beside_authority(c):
    """A request may have host and :authority with the same value."""
    expect.answered(c, c.get(("host", fields.HOST)))


@case("RFC 9113 8.3.1")
def head_has_no_body(c):
    """The answer to HEAD has no DATA but an empty one."""
    seen = expect.accepted(c, _send(c, *fields.request(method="HEAD")))
    expect.that(not seen.body, "no DATA", c)


@case("RFC 9113 8.5", each={"with :scheme": {"scheme": "https"}, "with :path": {"path": "/"}, "with both": {"scheme": "https", "path": "/"}})
def connect_with_scheme_or_path(c, more):
    """CONNECT has neither :scheme nor :path; else it is malformed."""
    _malformed(c, *fields.request(**{"method": "CONNECT", "scheme": None, "path": None, "authority": "localhost:443"} | more))


@case("RFC 9113 8.5")
def connect_without_authority(c):
    """CONNECT needs :authority; else it is malformed."""
    _malformed(c, (":method", "CONNECT"))


@case("RFC 9113 8.5")
def connect_is_refused(c):
    """A server that is no proxy refuses CONNECT with a status or on the stream; the connection serves."""
    stream = _send(c, *fields.request(method="CONNECT", scheme=None, path=None, authority="localhost:443"))
    seen = c.stream(stream)
    c.until(lambda: seen.lists or seen.reset is not None or c.goaway, f"an error status, or RST_STREAM, on stream {stream}")
    expect.that(seen.reset is not None or seen.lists and seen.status >= 400, f"an error status, or RST_STREAM, on stream {stream}", c)
    expect.serves(c)
