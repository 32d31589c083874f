"""RFC 9113 section 6.7: PING."""
import expect
import frames
from case import case


@case("RFC 9113 6.7", each={"zeros": bytes(8), "text": b"pingpong", "ones": b"\xff" * 8})
def ping_is_answered(c, payload):
    """PING is answered with ACK and the same payload, on stream 0."""
    c.send(frames.ping(payload))
    c.until(lambda: payload in c.pongs, f"PING ACK with {payload.hex()}")
    expect.that(c.came[-1].stream == 0, "PING ACK on stream 0", c)


@case("RFC 9113 6.7")
def pings_are_answered_in_order(c):
    """Each PING is answered once, in order."""
    payloads = [b"number %d" % number for number in range(8)]
    c.send(*map(frames.ping, payloads))
    c.until(lambda: len(c.pongs) >= 8, "8 PING ACK")
    c.settle()
    expect.that(c.pongs[:8] == payloads and payloads[0] not in c.pongs[8:], "8 PING ACK in order", c)


@case("RFC 9113 6.7")
def ping_ack_is_not_answered(c):
    """PING with ACK is not answered."""
    c.send(frames.ping(b"unasked!", frames.ACK))
    expect.serves(c)
    c.settle()
    expect.that(b"unasked!" not in c.pongs, "no answer to PING ACK", c)


@case("RFC 9113 6.7")
def ping_between_body_frames(c):
    """PING is answered while a request's body is under way."""
    stream = c.open()
    c.send(frames.data(stream, b"{"), frames.ping(b"between!"))
    c.until(lambda: b"between!" in c.pongs, "PING ACK")
    c.send(frames.data(stream, b"}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 6.7", each={"PING": 0, "PING ACK": frames.ACK})
def ping_on_a_stream(c, flags):
    """PING on another stream than 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.ping(flags=flags, stream=c.open()))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.7", each={f"{size} bytes": size for size in (0, 7, 9, 16)})
def ping_of_wrong_size(c, size):
    """A PING of other than 8 bytes is a connection error FRAME_SIZE_ERROR."""
    c.send(frames.ping(bytes(size)))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)
