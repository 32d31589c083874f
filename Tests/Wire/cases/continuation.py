"""RFC 9113 section 6.10: CONTINUATION."""
import expect
import fields
import frames
from case import case


def _begin(c, end=True):
    """HEADERS without END_HEADERS, with half of a request; returns the stream and the other half."""
    stream, block = c.next_stream(), fields.get() if end else fields.post()
    return stream, frames.headers(stream, block[:12], end, flags=0), block[12:]


@case("RFC 9113 6.10", each={"1": 1, "7": 7})
def continuations(c, count):
    """A field block may go on over several CONTINUATION frames."""
    stream, begin, rest = _begin(c)
    parts = [frames.continuation(stream, rest[number:number + 1], flags=0) for number in range(count - 1)]
    c.send(begin, *parts, frames.continuation(stream, rest[count - 1:]))
    expect.answered(c, stream)


@case("RFC 9113 6.10")
def end_stream_is_that_of_headers(c):
    """END_STREAM on HEADERS holds although CONTINUATION follows: no DATA is waited for."""
    stream, begin, rest = _begin(c)
    c.send(begin)
    c.send(frames.continuation(stream, rest))
    expect.answered(c, stream)


@case("RFC 9113 6.10", each={"END_STREAM": 0x1, "PADDED": 0x8, "PRIORITY": 0x20, "all others": 0xfb})
def continuation_with_undefined_flag(c, flag):
    """CONTINUATION defines END_HEADERS only; flags of other frames mean nothing on it."""
    stream, begin, rest = _begin(c, end=False)
    c.send(begin, frames.continuation(stream, rest, flags=flag | frames.END_HEADERS), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.10")
def continuation_on_stream_0(c):
    """CONTINUATION on stream 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.continuation(0, fields.get()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.10", each={"0": 0, "the next": 3})
def continuation_on_other_stream(c, other):
    """CONTINUATION on another stream than the HEADERS before it is a connection error PROTOCOL_ERROR."""
    _, begin, rest = _begin(c)
    c.send(begin, frames.continuation(other, rest))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.10", each={
    "HEADERS with END_HEADERS": lambda stream: frames.headers(stream, fields.post(), end=False),
    "DATA": lambda stream: frames.headers(stream, fields.post(), end=False) + frames.data(stream, b"{"),
    "PRIORITY": lambda stream: frames.headers(stream, fields.post(), end=False) + frames.priority(stream)})
def continuation_after(c, build):
    """CONTINUATION follows HEADERS or CONTINUATION without END_HEADERS; else it is a connection error PROTOCOL_ERROR."""
    stream = c.next_stream()
    c.send(build(stream), frames.continuation(stream, fields.literal("x-more", "1")))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.10")
def continuation_after_the_last(c):
    """CONTINUATION after a CONTINUATION with END_HEADERS is a connection error PROTOCOL_ERROR."""
    stream, begin, rest = _begin(c, end=False)
    c.send(begin, frames.continuation(stream, rest), frames.continuation(stream, fields.literal("x-more", "1")))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.10", each={"PING": frames.ping(), "SETTINGS": frames.settings(), "WINDOW_UPDATE": frames.window_update(0, 1)})
def continuations_interrupted_by(c, octets):
    """Nothing may come between CONTINUATION frames: a connection error PROTOCOL_ERROR."""
    stream, begin, rest = _begin(c)
    c.send(begin, frames.continuation(stream, rest[:1], flags=0), octets)
    expect.connection_error(c, frames.PROTOCOL_ERROR)
