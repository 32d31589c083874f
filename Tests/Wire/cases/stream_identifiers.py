"""RFC 9113 sections 5.1.1 and 5.1.2: stream identifiers, and how many streams may be open."""
import expect
import fields
import frames
from case import AUTHENTICATED, case

STREAMS_TO_OPEN_MAX = 2000


@case("RFC 9113 5.1.1", each={"2": 2, "1000": 1000})
def even_identifier(c, stream):
    """Clients open streams with odd identifiers: an even one is a connection error PROTOCOL_ERROR."""
    c.send(frames.headers(stream, fields.get()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 5.1.1")
def identifier_below_an_earlier_one(c):
    """A new stream's identifier is above all before: one that was left out may not be used later."""
    c.send(frames.headers(5, fields.get()))
    expect.answered(c, 5)
    c.send(frames.headers(3, fields.get()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 5.1.1")
def identifiers_with_gaps(c):
    """Identifiers may be left out."""
    for stream in (5, 101, 100_001):
        c.send(frames.headers(stream, fields.get()))
        expect.answered(c, stream)


@case("RFC 9113 5.1.1", each={
    "DATA": lambda stream: frames.data(stream, b"x"), "RST_STREAM": frames.rst_stream,
    "WINDOW_UPDATE": lambda stream: frames.window_update(stream, 1)})
def left_out_identifiers_are_closed(c, build):
    """The first use of an identifier closes all idle streams below: frames there are not errors of an idle stream."""
    c.send(frames.headers(101, fields.get()))
    expect.answered(c, 101)
    c.skip_past(101)
    c.send(build(51))
    expect.ignored_or_stream_closed(c, 51)


@case("RFC 9113 5.1.1")
def largest_identifier(c):
    """The largest identifier is one like others."""
    c.send(frames.headers(frames.WINDOW_MAX, fields.get()))
    expect.answered(c, frames.WINDOW_MAX)
    c.send(frames.ping(b"still on"))
    c.until(lambda: b"still on" in c.pongs, "PING ACK")


@case("RFC 9113 5.1.1")
def repeated_identifier_of_open_stream(c):
    """A second request on an open stream is not a new stream: it is malformed trailers, or an error."""
    stream = c.open()
    c.send(frames.headers(stream, fields.get()))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR, frames.STREAM_CLOSED, connection=True)


def _fill(c):
    """Opens as many streams as the server allows; returns them."""
    limit = c.settings.get(frames.MAX_CONCURRENT_STREAMS, STREAMS_TO_OPEN_MAX)
    expect.that(0 < limit <= STREAMS_TO_OPEN_MAX, f"SETTINGS_MAX_CONCURRENT_STREAMS from 1 to {STREAMS_TO_OPEN_MAX}", c)
    streams = [c.next_stream() for _ in range(limit)]
    c.send(*(frames.headers(each, fields.post(), end=False) for each in streams), name=f"{limit} HEADERS without END_STREAM")
    return streams


@case("RFC 9113 5.1.2", AUTHENTICATED)
def as_many_streams_as_announced(c):
    """As many streams as SETTINGS_MAX_CONCURRENT_STREAMS says may be open, and each is served."""
    streams = _fill(c)
    c.settle()
    expect.that(not any(c.stream(each).reset for each in streams), "no RST_STREAM", c)
    for each in (streams[0], streams[-1]):
        c.send(frames.data(each, b"{}", end=True))
        expect.answered(c, each, c.target.post_status)


@case("RFC 9113 5.1.2")
def one_stream_too_many(c):
    """A stream above SETTINGS_MAX_CONCURRENT_STREAMS is a stream error, and the others go on: clients open many before they
    have read SETTINGS, so that the connection must live (RFC 9113 section 5.4.1 would allow its end)."""
    streams = _fill(c)
    extra = c.get()
    seen = c.stream(extra)
    c.until(lambda: seen.reset is not None or seen.ended or c.goaway, f"RST_STREAM on stream {extra}")
    expect.that(seen.reset in (frames.REFUSED_STREAM, frames.PROTOCOL_ERROR),
                f"RST_STREAM REFUSED_STREAM or PROTOCOL_ERROR on stream {extra}", c)
    c.send(frames.data(streams[0], b"{}", end=True))
    expect.answered(c, streams[0], c.target.post_status)


@case("RFC 9113 5.1.2")
def closed_streams_do_not_count(c):
    """A stream that has ended, by its response or by RST_STREAM, makes room for another."""
    streams = _fill(c)
    c.send(frames.rst_stream(streams[0]))
    expect.serves(c)
    expect.serves(c)


@case("RFC 9113 5.1.2")
def refused_stream_keeps_compression_state(c):
    """The field block of a stream that is refused is decoded all the same, unless the connection ends."""
    streams = _fill(c)
    extra = c.next_stream()
    c.send(frames.headers(extra, fields.after_method(fields.literal(fields.METHOD_GET, "GET", fields.INCREMENTAL))))
    c.until(lambda: c.stream(extra).reset is not None or c.goaway, f"RST_STREAM on stream {extra}")
    if c.goaway:
        return expect.connection_error(c, frames.PROTOCOL_ERROR)
    again = c.next_stream()
    c.send(frames.rst_stream(streams[0]), frames.headers(again, fields.after_method(fields.indexed(fields.FIRST_DYNAMIC))))
    expect.answered(c, again)
