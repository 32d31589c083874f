"""RFC 9113 section 6.2: HEADERS."""
import expect
import fields
import frames
from case import case

DEPENDENCY = b"\x80\0\0\0\xff"
PADDED, PRIORITY = frames.PADDED | frames.END_HEADERS, frames.WITH_PRIORITY | frames.END_HEADERS


@case("RFC 9113 6.2")
def headers_on_stream_0(c):
    """HEADERS on stream 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.headers(0, fields.get()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.2", each={
    "padding": (PADDED, frames.padded(fields.get(), 20)), "padding of length 0": (PADDED, frames.padded(fields.get(), 0)),
    "most padding": (PADDED, frames.padded(fields.get(), 255)),
    "priority": (PRIORITY, DEPENDENCY + fields.get()),
    "padding and priority": (PADDED | PRIORITY, frames.padded(DEPENDENCY + fields.get(), 20))})
def headers_with(c, how):
    """HEADERS may have padding and priority fields; neither changes the request."""
    flags, payload = how
    stream = c.next_stream()
    c.send(frames.headers(stream, payload, flags=flags))
    expect.answered(c, stream)


@case("RFC 9113 6.2")
def padded_headers_with_continuation(c):
    """The padding of HEADERS is no part of the field block that CONTINUATION goes on with."""
    stream, block = c.next_stream(), fields.get()
    c.send(frames.headers(stream, frames.padded(block[:9], 30), flags=frames.PADDED), frames.continuation(stream, block[9:]))
    expect.answered(c, stream)


@case("RFC 9113 6.2", each={
    "longer than the payload": (PADDED, b"\xff" + fields.get()), "as long as the payload": (PADDED, b"\x04\0\0\0"),
    "over the priority fields": (PADDED | PRIORITY, b"\x05" + DEPENDENCY[:4] + b"\x82")})
def headers_padding(c, how):
    """Padding that leaves no room for the field block fragment's other fields is a connection error PROTOCOL_ERROR."""
    flags, payload = how
    c.send(frames.headers(c.next_stream(), payload, flags=flags))
    expect.connection_error(c, frames.PROTOCOL_ERROR, *([frames.FRAME_SIZE_ERROR] if flags & frames.WITH_PRIORITY else []))


@case("RFC 9113 6.2", each={"PADDED without Pad Length": (PADDED, b""), "PRIORITY without its fields": (PRIORITY, DEPENDENCY[:4])})
def headers_too_small(c, how):
    """HEADERS without room for the fields that its flags announce is a connection error."""
    flags, payload = how
    c.send(frames.headers(c.next_stream(), payload, flags=flags))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.2")
def empty_field_block(c):
    """HEADERS with an empty field block is a request without any field, which is malformed."""
    stream = c.next_stream()
    c.send(frames.headers(stream, b""))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)
