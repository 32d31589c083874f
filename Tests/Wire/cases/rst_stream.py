"""RFC 9113 section 6.4: RST_STREAM."""
import expect
import frames
from case import case


@case("RFC 9113 6.4")
def rst_stream_on_stream_0(c):
    """RST_STREAM on stream 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.rst_stream(0))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.4", each={f"{size} bytes": size for size in (0, 3, 5, 8)})
def rst_stream_of_wrong_size(c, size):
    """A RST_STREAM of other than 4 bytes is a connection error FRAME_SIZE_ERROR."""
    stream = c.open()
    c.send(frames.frame(frames.RST_STREAM, 0, stream, bytes(size)))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.4", each={frames.error_name(code): code for code in range(12)})
def rst_stream_with(c, code):
    """Whatever its error code, RST_STREAM ends the stream and nothing else."""
    stream = c.open()
    c.send(frames.data(stream, b"{"), frames.rst_stream(stream, code))
    expect.ignored(c, stream)
