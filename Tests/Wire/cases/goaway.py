"""RFC 9113 section 6.8: GOAWAY, of the client and of the server."""
import signal

import expect
import frames
from case import NOTHING, case
from connection import Connection


@case("RFC 9113 6.8")
def goaway_on_a_stream(c):
    """GOAWAY on another stream than 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.goaway(stream=c.open()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.8", each={f"{size} bytes": size for size in (0, 4, 7)})
def goaway_of_wrong_size(c, size):
    """A GOAWAY below 8 bytes is a connection error FRAME_SIZE_ERROR."""
    c.send(frames.frame(frames.GOAWAY, 0, 0, bytes(size)))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.8", each={"no debug data": b"", "debug data": b"good-bye, and \xff\x00 other octets"})
def open_requests_outlive_goaway(c, debug):
    """After the client's GOAWAY its open requests are still answered."""
    stream = c.open()
    c.send(frames.goaway(debug=debug))
    c.send(frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.8")
def goaway_without_streams_ends_the_connection(c):
    """After the client's GOAWAY on a connection without streams there is nothing to wait for: the server hangs up."""
    expect.serves(c)
    c.send(frames.goaway())
    expect.closed(c)


@case("RFC 9113 6.8")
def goaway_with_streams_ends_the_connection_after_them(c):
    """After the client's GOAWAY the server hangs up once the last open request is answered."""
    stream = c.open()
    c.send(frames.goaway(), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)
    expect.closed(c)


@case("RFC 9113 6.8")
def goaway_with_reserved_bit(c):
    """The reserved bit before the last stream is ignored."""
    stream = c.open()
    c.send(frames.frame(frames.GOAWAY, 0, 0, b"\x80" + bytes(7)), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.8", NOTHING)
def server_that_stops_says_goaway(target):
    """A server that stops says GOAWAY NO_ERROR with the last stream it processed, answers that one, and hangs up."""
    if target.another is None:
        return
    with target.another() as server:
        c = Connection(server, 5)
        try:
            c.handshake()
            expect.serves(c)
            stream = c.open()
            c.settle()
            server.process.send_signal(signal.SIGTERM)
            c.until(lambda: c.goaway, "GOAWAY NO_ERROR")
            expect.that(c.goaway[:2] == (stream, frames.NO_ERROR), f"GOAWAY NO_ERROR with last stream {stream}", c)
            c.send(frames.data(stream, b"{}", end=True))
            c.until(lambda: c.stream(stream).ended, f"a response on stream {stream}")
            expect.closed(c)
        finally:
            c.close()
