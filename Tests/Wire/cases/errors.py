"""RFC 9113 sections 5.4 and 7: how errors are told."""
import expect
import fields
import frames
from case import case


@case("RFC 9113 5.4.1")
def goaway_names_the_last_stream(c):
    """The GOAWAY of a connection error has the last stream that was processed."""
    for _ in range(3):
        expect.serves(c)
    c.send(frames.ping(b"short"))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)
    expect.that(c.goaway[0] == 5, "GOAWAY with last stream 5", c)


@case("RFC 9113 5.4.1")
def goaway_without_any_stream(c):
    """The GOAWAY of a connection error before the first request has the last stream 0."""
    c.send(frames.ping(b"short"))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)
    expect.that(c.goaway[0] == 0, "GOAWAY with last stream 0", c)


@case("RFC 9113 5.4.1")
def nothing_is_processed_after_connection_error(c):
    """Requests behind a connection error are above the GOAWAY's last stream, and not answered."""
    c.send(frames.ping(b"short"), frames.headers(1, fields.get()))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)
    expect.that(c.goaway[0] == 0 and c.stream(1).is_untouched, "GOAWAY with last stream 0 and nothing on stream 1", c)


@case("RFC 9113 5.4.2")
def stream_error_leaves_other_streams(c):
    """A stream error ends its stream only."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(("connection", "close"))))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)
    expect.serves(c)


@case("RFC 9113 5.4.2")
def rst_stream_is_not_answered_with_another(c):
    """To avoid loops, RST_STREAM is never sent in response to RST_STREAM."""
    stream = c.open()
    c.send(frames.rst_stream(stream), frames.rst_stream(stream))
    expect.ignored(c, stream)


@case("RFC 9113 5.4.2")
def one_rst_stream_for_many_frames(c):
    """A stream that was reset gets no second RST_STREAM for what was under way."""
    stream = c.open(("connection", "close"))
    c.send(*[frames.data(stream, b"x")] * 20)
    c.until(lambda: c.stream(stream).reset is not None, f"RST_STREAM on stream {stream}")
    expect.serves(c)
    resets = sum(each.kind == frames.RST_STREAM and each.stream == stream for each in c.came)
    expect.that(resets == 1, f"one RST_STREAM on stream {stream}", c)


@case("RFC 9113 7", each={"0xd": 0xd, "largest": 2**32 - 1})
def unknown_error_code_of_rst_stream(c, code):
    """An unknown error code has no meaning of its own: the stream ends."""
    stream = c.open()
    c.send(frames.rst_stream(stream, code))
    expect.ignored(c, stream)


@case("RFC 9113 7", each={"0xd": 0xd, "largest": 2**32 - 1})
def unknown_error_code_of_goaway(c, code):
    """An unknown error code in GOAWAY has no meaning of its own: open requests are answered."""
    stream = c.open()
    c.send(frames.goaway(0, code), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)
