"""RFC 9113 sections 6.6 and 8.4: PUSH_PROMISE, which no client may send."""
import expect
import fields
import frames
from case import case


def _promise(stream, promised=2):
    return frames.frame(frames.PUSH_PROMISE, frames.END_HEADERS, stream, promised.to_bytes(4, "big") + fields.get())


@case("RFC 9113 8.4")
def push_promise_on_open_stream(c):
    """A client cannot push: PUSH_PROMISE is a connection error PROTOCOL_ERROR."""
    c.send(_promise(c.open()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.4")
def push_promise_on_closed_stream(c):
    """PUSH_PROMISE on a stream that has ended is a connection error PROTOCOL_ERROR."""
    stream = c.get()
    expect.answered(c, stream)
    c.send(_promise(stream))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.6", each={"stream 0": 0, "an idle stream": 1})
def push_promise_on(c, stream):
    """PUSH_PROMISE needs a stream that was opened: elsewhere it is a connection error PROTOCOL_ERROR."""
    c.send(_promise(stream))
    expect.connection_error(c, frames.PROTOCOL_ERROR)
