"""RFC 9113 sections 4.1, 4.2 and 5.5: the frame header, frame sizes and what extends the protocol."""
import expect
import fields
import frames
from case import case

UNKNOWN = 0xee
OVERSIZED = bytes(frames.FRAME_BYTES_MAX + 1)


def _field_of(octets):
    """A field that takes so many octets of a block, and is within every limit of a list: the code of 0xf9 has 28 bits."""
    value = fields.string(b"\xf9" * ((octets - 24) * 2 // 7), huffman=True)
    name = fields.string("x" * (octets - len(value) - 2))
    return b"\0" + name + value


@case("RFC 9113 4.1", each={"on stream 0": 0, "on an idle stream": 99})
def unknown_frame_type(c, stream):
    """Frames of unknown types are ignored."""
    c.send(frames.frame(UNKNOWN, 0xff, stream, b"anything"))
    expect.ignored(c)


@case("RFC 9113 4.1")
def unknown_frame_type_on_open_stream(c):
    """Frames of unknown types are ignored on a stream whose request is under way."""
    stream = c.open()
    c.send(frames.frame(UNKNOWN, 0xff, stream, b"anything"), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 4.1")
def undefined_flags_on_ping(c):
    """Flags that a frame type does not define are ignored: PING is answered."""
    c.send(frames.ping(b"flagged!", flags=0xfe))
    c.until(lambda: b"flagged!" in c.pongs, "PING ACK")


@case("RFC 9113 4.1")
def undefined_flags_on_settings(c):
    """Flags that SETTINGS does not define are ignored."""
    acks = c.settings_acks
    c.send(frames.settings(flags=0xfe))
    c.until(lambda: c.settings_acks > acks, "SETTINGS ACK")


@case("RFC 9113 4.1")
def undefined_flags_on_request(c):
    """Flags that HEADERS and DATA do not define are ignored."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.post(), end=False, flags=frames.END_HEADERS | 0x52), frames.data(stream, b"{}", end=True, flags=0xf6))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 4.1", each={
    "WINDOW_UPDATE": lambda stream: frames.frame(frames.WINDOW_UPDATE, 0xff, stream, b"\0\0\0\1"),
    "PRIORITY": lambda stream: frames.frame(frames.PRIORITY, 0xff, stream, b"\0\0\0\0\1"),
    "GOAWAY": lambda stream: frames.frame(frames.GOAWAY, 0xff, 0, bytes(8))})
def undefined_flags_on(c, build):
    """Flags that the frame type does not define are ignored; the request is answered."""
    stream = c.open()
    c.send(build(stream), frames.data(stream, b"{}", end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 4.1")
def undefined_flags_on_rst_stream(c):
    """Flags that RST_STREAM does not define are ignored: the stream ends."""
    stream = c.open()
    c.send(frames.frame(frames.RST_STREAM, 0xff, stream, b"\0\0\0\x08"))
    expect.ignored(c, stream)


@case("RFC 9113 4.1")
def reserved_bit_of_stream_identifier(c):
    """The reserved bit before the stream identifier is ignored."""
    stream = c.next_stream()
    c.send(frames.headers(stream | frames.RESERVED_BIT, fields.get()), frames.ping(b"reserved", stream=frames.RESERVED_BIT))
    expect.answered(c, stream)
    c.until(lambda: b"reserved" in c.pongs, "PING ACK")


@case("RFC 9113 4.2")
def data_of_the_largest_size(c):
    """Every endpoint takes frames of 16,384 bytes."""
    stream = c.open()
    c.send(frames.data(stream, bytes(frames.FRAME_BYTES_MAX), end=True))
    expect.accepted(c, stream)
    expect.serves(c)


@case("RFC 9113 4.2")
def headers_of_the_largest_size(c):
    """HEADERS of 16,384 bytes are taken, where the list in them is not too long."""
    stream, get = c.next_stream(), fields.get()
    c.send(frames.headers(stream, get + _field_of(frames.FRAME_BYTES_MAX - len(get))))
    expect.answered(c, stream)


@case("RFC 9113 4.2")
def continuation_of_the_largest_size(c):
    """CONTINUATION of 16,384 bytes is taken."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(), flags=0), frames.continuation(stream, _field_of(frames.FRAME_BYTES_MAX)))
    expect.answered(c, stream)


@case("RFC 9113 4.2")
def unknown_frame_of_the_largest_size(c):
    """A frame of unknown type with 16,384 bytes is skipped."""
    c.send(frames.frame(UNKNOWN, 0, 0, bytes(frames.FRAME_BYTES_MAX)))
    expect.ignored(c)


@case("RFC 9113 4.2")
def oversized_data(c):
    """A DATA frame above SETTINGS_MAX_FRAME_SIZE is a FRAME_SIZE_ERROR of the stream."""
    stream = c.open()
    c.send(frames.data(stream, OVERSIZED))
    expect.stream_error(c, stream, frames.FRAME_SIZE_ERROR, connection=True)


@case("RFC 9113 4.2", each={
    "HEADERS": lambda c: frames.headers(c.next_stream(), fields.get() + _field_of(frames.FRAME_BYTES_MAX + 1 - len(fields.get()))),
    "SETTINGS": lambda c: frames.frame(frames.SETTINGS, 0, 0, bytes(6 * 2731)),
    "CONTINUATION": lambda c: (frames.headers(stream := c.next_stream(), fields.get(), flags=0)
                               + frames.continuation(stream, _field_of(frames.FRAME_BYTES_MAX + 1))),
    "PUSH_PROMISE": lambda c: frames.frame(frames.PUSH_PROMISE, frames.END_HEADERS, 1, OVERSIZED)})
def oversized(c, build):
    """A frame above SETTINGS_MAX_FRAME_SIZE that could alter the connection's state is a connection error FRAME_SIZE_ERROR."""
    c.send(build(c))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 4.2", each={"GOAWAY": frames.GOAWAY, "unknown type": UNKNOWN})
def oversized_without_limit_of_its_own(c, kind):
    """Any frame above SETTINGS_MAX_FRAME_SIZE is a FRAME_SIZE_ERROR."""
    c.send(frames.frame(kind, 0, 0, OVERSIZED))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 4.2")
def oversized_by_its_header(c):
    """The length in the frame header is enough to refuse it: the server does not wait for 16 MB."""
    c.send(frames.frame(UNKNOWN, 0, 0, length=(1 << 24) - 1))
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 5.5", each={"on the same stream": True, "on stream 0": False})
def unknown_frame_within_field_block(c, same):
    """An extension frame in the middle of a field block is a connection error PROTOCOL_ERROR."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(), flags=0), frames.frame(UNKNOWN, 0, stream if same else 0))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 5.5")
def unknown_setting(c):
    """SETTINGS with unknown identifiers are acknowledged, and nothing else comes of them."""
    acks = c.settings_acks
    c.send(frames.settings((0xbeef, 1), (0, 7), (0x7, 2**32 - 1)))
    c.until(lambda: c.settings_acks > acks, "SETTINGS ACK")
    expect.serves(c)
