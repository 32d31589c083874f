"""RFC 9113 section 5.1: which frames a stream takes in which state."""
import expect
import fields
import frames
from case import case

IDLE = 99


def _half_closed(c):
    """A stream whose request is whole and whose answer waits for its window: half-closed (remote)."""
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 0)))
    stream = c.get()
    c.until(lambda: c.stream(stream).lists, f"HEADERS on stream {stream}")
    return stream


def _closed_by_both(c):
    stream = c.get()
    expect.answered(c, stream)
    return stream


def _closed_by_reset(c):
    stream = c.open()
    c.send(frames.rst_stream(stream))
    return stream


def _closed_by_server(c):
    """A stream that the server has reset, because its request is malformed."""
    stream = c.open(("connection", "close"))
    c.until(lambda: c.stream(stream).reset is not None, f"RST_STREAM on stream {stream}")
    return stream


@case("RFC 9113 5.1", each={
    "DATA": frames.data(IDLE, b"x", end=True), "RST_STREAM": frames.rst_stream(IDLE),
    "WINDOW_UPDATE": frames.window_update(IDLE, 1), "CONTINUATION": frames.continuation(IDLE, fields.get())})
def idle_stream_refuses(c, octets):
    """On an idle stream anything but HEADERS and PRIORITY is a connection error PROTOCOL_ERROR."""
    c.send(octets)
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 5.1")
def idle_stream_of_the_server_refuses(c):
    """Streams that the server could open are idle too: DATA on one is a connection error PROTOCOL_ERROR."""
    c.send(frames.data(2, b"x", end=True))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 5.1")
def idle_stream_takes_priority(c):
    """PRIORITY on an idle stream leaves it idle: streams below it may still be opened, and so may it."""
    c.send(frames.priority(5))
    expect.serves(c)
    c.send(frames.headers(5, fields.get()))
    expect.answered(c, 5)


@case("RFC 9113 5.1", each={
    "WINDOW_UPDATE": lambda stream: frames.window_update(stream, 1), "PRIORITY": frames.priority,
    "unknown": lambda stream: frames.frame(0xee, 0, stream)})
def open_stream_takes(c, build):
    """An open stream takes frames of every type."""
    stream = c.open()
    c.send(frames.data(stream, b"{"), build(stream), frames.data(stream, b"}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 5.1")
def open_stream_takes_rst_stream(c):
    """RST_STREAM ends an open stream: no response comes."""
    stream = c.open()
    c.send(frames.rst_stream(stream))
    expect.ignored(c, stream)


@case("RFC 9113 5.1", each={
    "DATA": lambda stream: frames.data(stream, b"x", end=True),
    "HEADERS": lambda stream: frames.headers(stream, fields.literal("x-trailer", "1"))})
def half_closed_stream_refuses(c, build):
    """After END_STREAM anything but WINDOW_UPDATE, PRIORITY and RST_STREAM is a stream error STREAM_CLOSED."""
    stream = _half_closed(c)
    c.send(build(stream))
    seen = c.stream(stream)
    c.until(lambda: seen.reset is not None or c.goaway, "RST_STREAM or GOAWAY STREAM_CLOSED")
    if c.goaway:
        return expect.connection_error(c, frames.STREAM_CLOSED)
    expect.that(seen.reset == frames.STREAM_CLOSED, "RST_STREAM STREAM_CLOSED", c)
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 65_535)))
    expect.serves(c)


@case("RFC 9113 5.1")
def half_closed_stream_refuses_continuation(c):
    """CONTINUATION after END_STREAM and END_HEADERS is a connection error."""
    stream = _half_closed(c)
    c.send(frames.continuation(stream, fields.literal("x-more", "1")))
    expect.connection_error(c, frames.PROTOCOL_ERROR, frames.STREAM_CLOSED)


@case("RFC 9113 5.1", each={"WINDOW_UPDATE": lambda stream: frames.window_update(stream, 3), "PRIORITY": frames.priority,
                            "unknown": lambda stream: frames.frame(0xee, 0, stream)})
def half_closed_stream_takes(c, build):
    """A stream that the client has ended still takes WINDOW_UPDATE and PRIORITY, and the answer goes on."""
    stream = _half_closed(c)
    c.send(build(stream))
    c.send(frames.window_update(stream, 1000))
    expect.answered(c, stream)


@case("RFC 9113 5.1")
def half_closed_stream_takes_rst_stream(c):
    """RST_STREAM takes the answer back: its DATA never comes."""
    stream = _half_closed(c)
    c.send(frames.rst_stream(stream), frames.settings((frames.INITIAL_WINDOW_SIZE, 65_535)))
    expect.body(c, stream, 0)
    expect.serves(c)


CLOSED = {"both sides": _closed_by_both, "RST_STREAM of the client": _closed_by_reset,
          "RST_STREAM of the server": _closed_by_server}


@case("RFC 9113 5.1", each=CLOSED)
def closed_stream_takes_priority(c, close):
    """PRIORITY on a closed stream is allowed."""
    stream = close(c)
    c.send(frames.priority(stream))
    expect.serves(c)


@case("RFC 9113 5.1", each={key: CLOSED[key] for key in ("both sides", "RST_STREAM of the server")})
def closed_stream_takes_late_window_update(c, close):
    """WINDOW_UPDATE may be under way while the server closes the stream: it is ignored."""
    stream = close(c)
    c.send(frames.window_update(stream, 1))
    expect.serves(c)


@case("RFC 9113 5.1", each={key: CLOSED[key] for key in ("both sides", "RST_STREAM of the server")})
def closed_stream_takes_late_rst_stream(c, close):
    """RST_STREAM may be under way while the server closes the stream: it is ignored."""
    stream = close(c)
    c.send(frames.rst_stream(stream))
    expect.serves(c)


@case("RFC 9113 5.1", each={
    "DATA": lambda stream: frames.data(stream, b"x", end=True),
    "trailers": lambda stream: frames.headers(stream, fields.literal("x-trailer", "1"))})
def stream_that_the_server_reset_discards(c, build):
    """What was under way when the server reset the stream is discarded: the connection serves."""
    stream = _closed_by_server(c)
    c.send(build(stream))
    expect.serves(c)


@case("RFC 9113 5.1", each={
    "DATA after END_STREAM": (_closed_by_both, lambda stream: frames.data(stream, b"x", end=True)),
    "DATA after RST_STREAM": (_closed_by_reset, lambda stream: frames.data(stream, b"x", end=True)),
    "HEADERS after END_STREAM": (_closed_by_both, lambda stream: frames.headers(stream, fields.get())),
    "HEADERS after RST_STREAM": (_closed_by_reset, lambda stream: frames.headers(stream, fields.get()))})
def frames_after_the_clients_end(c, how):
    """On a stream that the client had ended, where that is remembered, DATA and HEADERS are an error STREAM_CLOSED, and no request."""
    close, build = how
    stream = close(c)
    seen = c.stream(stream)
    answers = len(seen.lists)
    c.send(build(stream))
    c.until(lambda: seen.reset is not None or c.goaway, "RST_STREAM or GOAWAY STREAM_CLOSED")
    if c.goaway:
        return expect.connection_error(c, frames.STREAM_CLOSED)
    expect.that(seen.reset == frames.STREAM_CLOSED, "RST_STREAM STREAM_CLOSED", c)
    expect.serves(c)
    expect.that(len(seen.lists) == answers, "no answer on a stream that is closed", c)


@case("RFC 9113 5.1", each={"both sides": _closed_by_both, "RST_STREAM of the client": _closed_by_reset})
def closed_stream_refuses_continuation(c, close):
    """CONTINUATION on a closed stream follows no field block: a connection error."""
    stream = close(c)
    c.send(frames.continuation(stream, fields.get()))
    expect.connection_error(c, frames.PROTOCOL_ERROR, frames.STREAM_CLOSED)


@case("RFC 9113 5.1")
def data_on_reset_streams_is_credited(c):
    """DATA that comes after the server's RST_STREAM counts for the connection's window, and is given back to it."""
    stream = _closed_by_server(c)
    room = 65_535 + c.window_updates.get(0, 0)
    for _ in range(2 * room // 10_000):
        c.send(frames.data(stream, bytes(10_000)))
        room -= 10_000
        credited = c.window_updates.get(0, 0)
        if room < 10_000:
            c.until(lambda: c.window_updates.get(0, 0) > credited, "WINDOW_UPDATE of the connection for the discarded DATA")
            room += c.window_updates[0] - credited
    expect.serves(c)
