"""RFC 9113 section 4.3: field blocks over frames, and the compression state that both sides share."""
import expect
import fields
import frames
from case import case

METHOD_GET = fields.literal(fields.METHOD_GET, "GET", fields.INCREMENTAL)
INDEXED_METHOD = fields.after_method(fields.indexed(fields.FIRST_DYNAMIC))


def _in_parts(stream, parts, end=True):
    first, *rest = parts
    return [frames.headers(stream, first, end, flags=0 if rest else frames.END_HEADERS)] + [
        frames.continuation(stream, part, flags=frames.END_HEADERS if number == len(rest) else 0)
        for number, part in enumerate(rest, 1)]


@case("RFC 9113 4.3")
def block_split_within_a_field(c):
    """A field block may be cut anywhere, within a string too."""
    stream, block = c.next_stream(), fields.get(("user-agent", "a client with a name"))
    c.send(*_in_parts(stream, [block[:7], block[7:-9], block[-9:]]))
    expect.answered(c, stream)


@case("RFC 9113 4.3")
def block_in_empty_fragments(c):
    """A fragment of a field block may be empty, that of HEADERS and the last one too."""
    stream = c.next_stream()
    c.send(*_in_parts(stream, [b"", b"", fields.get(), b""]))
    expect.answered(c, stream)


@case("RFC 9113 4.3")
def blocks_of_two_streams_in_turn(c):
    """Field blocks one after another are decoded in the order of their arrival."""
    first, second = c.next_stream(), c.next_stream()
    c.send(*_in_parts(first, [METHOD_GET, fields.after_method(b"")]))
    expect.answered(c, first)
    c.send(*_in_parts(second, [INDEXED_METHOD[:3], INDEXED_METHOD[3:]]))
    expect.answered(c, second)


@case("RFC 9113 4.3", each={
    "DATA": lambda stream: frames.data(stream, b"{}"), "HEADERS": lambda stream: frames.headers(stream, fields.get()),
    "HEADERS of another stream": lambda stream: frames.headers(stream + 2, fields.get()),
    "PRIORITY": lambda stream: frames.priority(stream), "RST_STREAM": lambda stream: frames.rst_stream(stream),
    "SETTINGS": lambda stream: frames.settings(), "PING": lambda stream: frames.ping(),
    "GOAWAY": lambda stream: frames.goaway(), "WINDOW_UPDATE": lambda stream: frames.window_update(0, 1)})
def block_interrupted_by(c, build):
    """No other frame may come before the field block ends: a connection error PROTOCOL_ERROR."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(), flags=0), build(stream))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 4.3")
def undecodable_block(c):
    """A decoding error in a field block is a connection error COMPRESSION_ERROR."""
    c.send(frames.headers(c.next_stream(), b"\xff\xff\xff\xff\xff\xff\xff\xff"))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 9113 4.3")
def undecodable_trailers(c):
    """A decoding error in trailers is a connection error COMPRESSION_ERROR as well."""
    stream = c.open()
    c.send(frames.headers(stream, fields.indexed(0)))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 9113 4.3")
def block_of_malformed_request_updates_state(c):
    """The field block of a request that is refused as malformed is decoded all the same, to its end."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(("connection", "close")) + METHOD_GET))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)
    again = c.next_stream()
    c.send(frames.headers(again, INDEXED_METHOD))
    expect.answered(c, again)


@case("RFC 9113 4.3")
def block_of_too_long_list_updates_state(c):
    """A field list above SETTINGS_MAX_HEADER_LIST_SIZE is refused, not the connection: its block is decoded to its end."""
    stream = c.next_stream()
    long = fields.get(*((f"x-field-{number}", "v" * 1000) for number in range(12))) + METHOD_GET
    c.send(frames.headers(stream, long))
    seen = c.stream(stream)
    c.until(lambda: seen.ended or seen.reset is not None, f"an error status, or RST_STREAM, on stream {stream}")
    expect.that(seen.reset is not None or 400 <= seen.status < 500, f"an error status, or RST_STREAM, on stream {stream}", c)
    again = c.next_stream()
    c.send(frames.headers(again, INDEXED_METHOD))
    expect.answered(c, again)


@case("RFC 9113 4.3")
def block_of_ignored_trailers_updates_state(c):
    """Trailers are decoded although nobody reads them."""
    stream = c.open()
    c.send(frames.data(stream, b"{}"), frames.headers(stream, fields.literal("x-trailer", "1", fields.INCREMENTAL)))
    expect.answered(c, stream, c.target.post_status)
    again = c.next_stream()
    # The entry is number 63 after one more, so a decoder that left it out finds none.
    c.send(frames.headers(again, fields.after_method(METHOD_GET) + fields.indexed(fields.FIRST_DYNAMIC + 1)))
    expect.answered(c, again)


@case("RFC 9113 4.3")
def block_on_reset_stream_updates_state(c):
    """A field block that comes late, on a stream that was reset, is decoded all the same, unless the connection ends."""
    stream = c.open()
    c.send(frames.rst_stream(stream), frames.headers(stream, fields.literal("x-trailer", "1", fields.INCREMENTAL)))
    again = c.next_stream()
    c.send(frames.headers(again, fields.after_method(METHOD_GET) + fields.indexed(fields.FIRST_DYNAMIC + 1)))
    seen = c.stream(again)
    c.until(lambda: seen.ended or c.goaway, f"a response on stream {again}, or GOAWAY STREAM_CLOSED")
    if c.goaway:
        expect.connection_error(c, frames.STREAM_CLOSED)
    else:
        expect.answered(c, again)
