"""RFC 9113 section 6.9: the WINDOW_UPDATE frame."""
import expect
import frames
from case import case


@case("RFC 9113 6.9")
def zero_increment_of_connection(c):
    """An increment of 0 on the connection's window is a connection error PROTOCOL_ERROR."""
    c.send(frames.window_update(0, 0))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.9")
def zero_increment_of_stream(c):
    """An increment of 0 on a stream's window is a stream error PROTOCOL_ERROR."""
    stream = c.open()
    c.send(frames.window_update(stream, 0))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR, connection=True)


@case("RFC 9113 6.9", each={f"{size} bytes": size for size in (0, 3, 5, 8)})
def window_update_of_wrong_size(c, size):
    """A WINDOW_UPDATE of other than 4 bytes is a connection error FRAME_SIZE_ERROR."""
    c.send(frames.frame(frames.WINDOW_UPDATE, 0, 0, b"\0\0\0\1\0\0\0\1"[:size]))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.9")
def window_update_of_wrong_size_on_stream(c):
    """The size is checked on a stream as well: a connection error FRAME_SIZE_ERROR."""
    stream = c.open()
    c.send(frames.frame(frames.WINDOW_UPDATE, 0, stream, b"\0\0\1"))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.9")
def reserved_bit_of_increment(c):
    """The reserved bit before the increment is ignored."""
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 0)))
    stream = c.get()
    c.send(frames.window_update(stream, frames.RESERVED_BIT | 4))
    expect.body(c, stream, 4)


@case("RFC 9113 6.9.1")
def largest_windows(c):
    """Windows of 2^31-1 bytes are allowed."""
    stream = c.open()
    c.send(frames.window_update(0, frames.WINDOW_MAX - 65_535), frames.window_update(stream, frames.WINDOW_MAX - 65_535))
    c.send(frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)
    expect.serves(c)


@case("RFC 9113 6.9.1", each={"at once": (frames.WINDOW_MAX,), "by one byte": (frames.WINDOW_MAX - 65_535, 1),
                              "in steps": (1 << 30, (1 << 30) - 65_535)})
def connection_window_overflows(c, increments):
    """A connection's window above 2^31-1 is a connection error FLOW_CONTROL_ERROR."""
    c.send(*(frames.window_update(0, each) for each in increments))
    expect.connection_error(c, frames.FLOW_CONTROL_ERROR)


@case("RFC 9113 6.9.1", each={"at once": (frames.WINDOW_MAX,), "by one byte": (frames.WINDOW_MAX - 65_535, 1),
                              "in steps": (1 << 30, (1 << 30) - 65_535)})
def stream_window_overflows(c, increments):
    """A stream's window above 2^31-1 is a stream error FLOW_CONTROL_ERROR."""
    stream = c.open()
    c.send(*(frames.window_update(stream, each) for each in increments))
    expect.stream_error(c, stream, frames.FLOW_CONTROL_ERROR)


@case("RFC 9113 6.9.1")
def window_of_stream_that_waits_overflows(c):
    """The window overflows while the answer waits for it: the stream is reset, and no DATA comes on it."""
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 0)))
    stream = c.get()
    c.until(lambda: c.stream(stream).lists, f"HEADERS on stream {stream}")
    # In one piece, so that no DATA goes between the two.
    c.send(frames.window_update(stream, frames.WINDOW_MAX) + frames.window_update(stream, frames.WINDOW_MAX))
    seen = c.stream(stream)
    c.until(lambda: seen.reset is not None or seen.ended or c.goaway, f"RST_STREAM FLOW_CONTROL_ERROR on stream {stream}")
    expect.that(seen.reset == frames.FLOW_CONTROL_ERROR, f"RST_STREAM FLOW_CONTROL_ERROR on stream {stream}", c)
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 65_535)))
    expect.serves(c)
