"""RFC 9113 section 8.1: requests and responses as frames."""
import re

import expect
import fields
import frames
from case import case

TRAILERS = fields.literal("x-checksum", "0")


@case("RFC 9113 8.1")
def request_with_body(c):
    """A request is HEADERS, DATA, and END_STREAM on the last frame."""
    stream = c.open()
    c.send(frames.data(stream, b'{"aps":'), frames.data(stream, b"{}}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1")
def trailers_after_body(c):
    """A request may end with trailers."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, TRAILERS))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1")
def trailers_without_body(c):
    """Trailers may follow the header section at once."""
    stream = c.open()
    c.send(frames.headers(stream, TRAILERS))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1")
def trailers_with_continuation(c):
    """Trailers may go on in CONTINUATION; END_STREAM on their HEADERS holds at the end of the block."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, TRAILERS[:5], flags=0), frames.continuation(stream, TRAILERS[5:]))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1")
def trailers_without_end_stream(c):
    """A second HEADERS without END_STREAM is malformed: a stream error PROTOCOL_ERROR."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, TRAILERS, end=False))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1", each={":path": (":path", "/"), ":status": (":status", "200"), "unknown": (":x", "1")})
def pseudo_field_in_trailers(c, field):
    """Trailers have no pseudo-header fields: else the request is malformed."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, fields.block(field)))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1", each={"upper case": ("X-Checksum", "0"), "connection": ("connection", "close")})
def malformed_field_in_trailers(c, field):
    """The rules for fields hold in trailers too."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, fields.block(field)))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1")
def data_after_trailers(c):
    """Nothing but the end follows trailers: DATA is an error STREAM_CLOSED, or discarded when the answer has closed the stream."""
    stream = c.open()
    c.send(frames.headers(stream, TRAILERS) + frames.data(stream, b"x"))
    seen = c.stream(stream)
    c.until(lambda: seen.ended or seen.reset is not None or c.goaway, "a response, or an error STREAM_CLOSED")
    if c.goaway:
        return expect.connection_error(c, frames.STREAM_CLOSED)
    expect.that(seen.reset in (None, frames.STREAM_CLOSED), "a response, or an error STREAM_CLOSED", c)
    expect.serves(c)


@case("RFC 9113 8.1")
def no_answer_to_half_a_request(c):
    """A header section that has not ended is no request: nothing comes on its stream, and the connection goes on after RST_STREAM."""
    stream = c.open()
    c.settle()
    expect.that(c.stream(stream).is_untouched, f"nothing on stream {stream}", c)
    c.send(frames.rst_stream(stream))
    expect.ignored(c, stream)


@case("RFC 9113 8.1")
def response_begins_with_headers(c):
    """A response is HEADERS, then DATA, then the end, on the request's stream."""
    stream = c.get()
    expect.answered(c, stream)
    kinds = [each.kind for each in c.came if each.stream == stream]
    expect.that(kinds[0] == frames.HEADERS and set(kinds[1:]) <= {frames.DATA}, "HEADERS, then DATA only", c)


@case("RFC 9113 8.2")
def response_fields_are_valid(c):
    """Field names of a response are lower case, and none is specific to the connection."""
    fields_of_response = expect.answered(c, c.get()).lists[0]
    names = [name for name, _ in fields_of_response]
    expect.that(all(re.fullmatch(r":?[!#$%&'*+\-.^_`|~0-9a-z]+", name) for name in names), "names of lower-case letters", c)
    expect.that(not {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"} & set(names),
                "no connection-specific fields", c)
    expect.that(all(value == value.strip(" \t") and not set(value) & set("\0\r\n") for _, value in fields_of_response),
                "values without NUL, CR, LF and space around them", c)


@case("RFC 9113 8.3.2")
def response_has_one_status(c):
    """A response has :status first, once, and no other pseudo-header field."""
    names = [name for name, _ in expect.answered(c, c.get()).lists[0]]
    expect.that(names[0] == ":status" and not any(name.startswith(":") for name in names[1:]), "one :status, first", c)


@case("RFC 9113 8.1.1")
def response_content_length_is_right(c):
    """Where a response has content-length, it is the length of its DATA."""
    seen = expect.answered(c, c.get())
    told = dict(seen.lists[0]).get("content-length", str(len(seen.body)))
    expect.that(told == str(len(seen.body)), f"content-length {len(seen.body)}", c)
