"""RFC 9113 section 6.5: SETTINGS."""
import expect
import frames
from case import TLS, case


def _acknowledged(c, *octets):
    acks = c.settings_acks
    c.send(*octets)
    c.until(lambda: c.settings_acks == acks + len(octets), f"{len(octets)} SETTINGS ACK")
    expect.serves(c)
    expect.that(c.settings_acks == acks + len(octets), f"{len(octets)} SETTINGS ACK and no more", c)


@case("RFC 9113 6.5", each={"1": 1, "3": 3})
def settings_on_a_stream(c, stream):
    """SETTINGS on another stream than 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.settings(stream=stream))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.5", each={"1 byte": b"\0", "a setting": bytes(6)})
def settings_ack_with_payload(c, payload):
    """SETTINGS ACK with a payload is a connection error FRAME_SIZE_ERROR."""
    c.send(frames.frame(frames.SETTINGS, frames.ACK, 0, payload))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.5", each={f"{size} bytes": size for size in (1, 5, 7, 11)})
def settings_of_wrong_size(c, size):
    """A SETTINGS payload that is no multiple of 6 bytes is a connection error FRAME_SIZE_ERROR."""
    c.send(frames.frame(frames.SETTINGS, 0, 0, bytes(size)))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 6.5.1")
def later_setting_wins(c):
    """Settings are processed in their order: of two values of one setting, the last holds."""
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 20), (frames.INITIAL_WINDOW_SIZE, 5)))
    stream = c.get()
    expect.body(c, stream, 5)


@case("RFC 9113 6.5.1")
def earlier_setting_is_checked(c):
    """A wrong value is an error although a right one follows."""
    c.send(frames.settings((frames.MAX_FRAME_SIZE, 1), (frames.MAX_FRAME_SIZE, 16_384)))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.5.2", each={
    "SETTINGS_ENABLE_PUSH 2": (frames.ENABLE_PUSH, 2), "SETTINGS_ENABLE_PUSH 2^32-1": (frames.ENABLE_PUSH, 2**32 - 1),
    "SETTINGS_MAX_FRAME_SIZE 16383": (frames.MAX_FRAME_SIZE, 16_383), "SETTINGS_MAX_FRAME_SIZE 0": (frames.MAX_FRAME_SIZE, 0),
    "SETTINGS_MAX_FRAME_SIZE 2^24": (frames.MAX_FRAME_SIZE, 1 << 24)})
def wrong_value_of(c, entry):
    """A value outside of the setting's range is a connection error PROTOCOL_ERROR."""
    c.send(frames.settings(entry))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.5.2", each={"2^31": 1 << 31, "2^32-1": 2**32 - 1})
def initial_window_above_the_largest(c, value):
    """SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1 is a connection error FLOW_CONTROL_ERROR."""
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, value)))
    expect.connection_error(c, frames.FLOW_CONTROL_ERROR)


@case("RFC 9113 6.5.2", each={
    "SETTINGS_HEADER_TABLE_SIZE 0": (frames.HEADER_TABLE_SIZE, 0),
    "SETTINGS_HEADER_TABLE_SIZE 2^32-1": (frames.HEADER_TABLE_SIZE, 2**32 - 1),
    "SETTINGS_ENABLE_PUSH 0": (frames.ENABLE_PUSH, 0), "SETTINGS_ENABLE_PUSH 1": (frames.ENABLE_PUSH, 1),
    "SETTINGS_MAX_CONCURRENT_STREAMS 0": (frames.MAX_CONCURRENT_STREAMS, 0),
    "SETTINGS_MAX_CONCURRENT_STREAMS 2^32-1": (frames.MAX_CONCURRENT_STREAMS, 2**32 - 1),
    "SETTINGS_INITIAL_WINDOW_SIZE 2^31-1": (frames.INITIAL_WINDOW_SIZE, frames.WINDOW_MAX),
    "SETTINGS_MAX_FRAME_SIZE 16384": (frames.MAX_FRAME_SIZE, 16_384),
    "SETTINGS_MAX_FRAME_SIZE 2^24-1": (frames.MAX_FRAME_SIZE, (1 << 24) - 1),
    "SETTINGS_MAX_HEADER_LIST_SIZE 2^32-1": (frames.MAX_HEADER_LIST_SIZE, 2**32 - 1)})
def allowed_value_of(c, entry):
    """The least and the largest allowed value of each setting is taken, and requests are answered as before."""
    _acknowledged(c, frames.settings(entry))


@case("RFC 9113 6.5.2", TLS)
def settings_of_the_server(c):
    """The server's own settings are in their ranges, and it does not offer to be pushed to."""
    c.handshake()
    told = c.settings
    expect.that(told.get(frames.ENABLE_PUSH, 0) == 0, "no SETTINGS_ENABLE_PUSH 1", c)
    expect.that(told.get(frames.INITIAL_WINDOW_SIZE, 0) <= frames.WINDOW_MAX, "SETTINGS_INITIAL_WINDOW_SIZE of at most 2^31-1", c)
    expect.that(16_384 <= told.get(frames.MAX_FRAME_SIZE, 16_384) < 1 << 24, "SETTINGS_MAX_FRAME_SIZE from 2^14 to 2^24-1", c)


@case("RFC 9113 6.5.3")
def each_settings_is_acknowledged(c):
    """Every SETTINGS is acknowledged once, and nothing else comes of three in a row."""
    _acknowledged(c, frames.settings((frames.ENABLE_PUSH, 0)), frames.settings(), frames.settings((frames.INITIAL_WINDOW_SIZE, 70_000)))


@case("RFC 9113 6.5.3")
def settings_ack_is_not_acknowledged(c):
    """The server's SETTINGS ACK carries nothing, and is on stream 0."""
    c.send(frames.settings())
    before = c.settings_acks
    c.until(lambda: c.settings_acks > before, "SETTINGS ACK")
    acks = [each for each in c.came if each.kind == frames.SETTINGS and each.has(frames.ACK)]
    expect.that(all(not each.payload and each.stream == 0 for each in acks), "empty SETTINGS ACK on stream 0", c)


@case("RFC 9113 6.5.3")
def settings_hold_once_acknowledged(c):
    """What was acknowledged is applied: DATA after the ACK keeps to the new window."""
    acks = c.settings_acks
    c.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 1)))
    c.until(lambda: c.settings_acks > acks, "SETTINGS ACK")
    expect.body(c, c.get(), 1)


@case("RFC 9113 6.5.3")
def settings_between_body_frames(c):
    """SETTINGS may come between the DATA frames of a request."""
    stream, acks = c.open(), c.settings_acks
    c.send(frames.data(stream, b"{"), frames.settings(), frames.data(stream, b"}", end=True))
    expect.answered(c, stream, c.target.post_status)
    c.until(lambda: c.settings_acks > acks, "SETTINGS ACK")


@case("RFC 9113 6.5.3", TLS)
def late_acknowledgement_of_the_client(c):
    """A client may send requests before it has acknowledged the server's SETTINGS."""
    c.acknowledges = False
    c.send(frames.PREFACE, frames.settings(), name="preface")
    expect.serves(c)
    c.send(frames.settings(flags=frames.ACK))
    expect.serves(c)
