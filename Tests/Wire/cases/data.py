"""RFC 9113 section 6.1: DATA."""
import expect
import frames
from case import case


@case("RFC 9113 6.1")
def data_on_stream_0(c):
    """DATA on stream 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.data(0, b"x"))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.1")
def data_in_many_frames(c):
    """A body may come in any number of DATA frames."""
    stream = c.open()
    c.send(*(frames.data(stream, b"x") for _ in range(50)), frames.data(stream, b"x", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.1")
def empty_data_ends_the_stream(c):
    """An empty DATA frame may carry END_STREAM."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.data(stream), frames.data(stream, end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.1", each={"none": (b"{}", 0), "some": (b"{}", 10), "most": (b"{}", 255), "only padding": (b"", 255)})
def padded_data(c, how):
    """DATA may be padded."""
    payload, padding = how
    stream = c.open(("content-length", str(len(payload))))
    c.send(frames.data(stream, frames.padded(payload, padding), end=True, flags=frames.PADDED))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.1")
def padding_may_be_the_rest_of_the_payload(c):
    """Padding that leaves no data is allowed, if just."""
    stream = c.open()
    c.send(frames.data(stream, b"\x03\0\0\0", flags=frames.PADDED), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.1", each={"as long as the payload": b"\x04\0\0\0", "longer": b"\xff\0\0\0", "of nothing": b"\x01"})
def padding_above_the_payload(c, payload):
    """Padding as long as the frame's payload or longer is a connection error PROTOCOL_ERROR."""
    stream = c.open()
    c.send(frames.data(stream, payload, flags=frames.PADDED))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.1")
def padded_data_without_pad_length(c):
    """PADDED on an empty DATA frame: it has no room for the Pad Length field (4.2), nor for the padding (6.1)."""
    stream = c.open()
    c.send(frames.data(stream, flags=frames.PADDED))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.1")
def padding_of_other_octets(c):
    """Padding that is not zero may be an error PROTOCOL_ERROR, and is no part of the data otherwise."""
    stream = c.open(("content-length", "2"))
    c.send(frames.data(stream, b"\x03{}abc", end=True, flags=frames.PADDED))
    seen = c.stream(stream)
    c.until(lambda: seen.ended or seen.reset is not None or c.goaway, f"a response on stream {stream}, or PROTOCOL_ERROR")
    expect.that(seen.ended or seen.reset == frames.PROTOCOL_ERROR or c.goaway and c.goaway[1] == frames.PROTOCOL_ERROR,
                f"a response on stream {stream}, or PROTOCOL_ERROR", c)
