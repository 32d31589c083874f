"""RFC 7541 section 5.2: string literals in Huffman code."""
import expect
import fields
import frames
from case import case

# The code of "a" is 00011, and padding is the first bits of EOS, which are ones.
VALID = {"3 bits of padding": b"\x1f", "7 bits of padding": b"\xfe\x7f"}
INVALID = {
    "padding of zeros": b"\x18", "padding with a zero in it": b"\x1d", "8 bits of padding": b"\x1f\xff",
    "only padding": b"\xff", "24 bits of padding": b"\x1f\xff\xff\xff", "EOS": b"\xff\xff\xff\xff",
    "EOS after a character": b"\x1f\xff\xff\xff\xff"}


def _coded(octets):
    return fields.integer(len(octets), (0x80, 7)) + octets


@case("RFC 7541 5.2", each=INVALID)
def wrong_huffman_value(c, octets):
    """Padding longer than 7 bits or not of ones, and the EOS symbol, are decoding errors in a value."""
    c.send(frames.headers(c.next_stream(), fields.get() + b"\x00" + fields.string("x-name") + _coded(octets)))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.2", each={key: INVALID[key] for key in ("padding of zeros", "8 bits of padding", "EOS")})
def wrong_huffman_name(c, octets):
    """The same holds in a name."""
    c.send(frames.headers(c.next_stream(), fields.get() + b"\x40" + _coded(octets) + fields.string("value")))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.2")
def wrong_huffman_in_ignored_field(c):
    """A field that the application never looks at is decoded all the same."""
    stream = c.open()
    c.send(frames.headers(stream, b"\x00" + fields.string("x-trailer") + _coded(INVALID["EOS"])))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.2", each=VALID)
def right_huffman_padding(c, octets):
    """Padding of up to 7 ones is right."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get() + b"\x00" + fields.string("x-name") + _coded(octets)))
    expect.accepted(c, stream)


@case("RFC 7541 5.2")
def empty_huffman_string(c):
    """A string of no octets may be marked as Huffman code."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get() + b"\x00" + fields.string("x-name") + _coded(b"")))
    expect.answered(c, stream)


@case("RFC 7541 5.2")
def huffman_code_of_all_characters(c):
    """Strings may use codes of every length, 5 bits to 30."""
    stream = c.next_stream()
    every = "".join(chr(code) for code in [*range(0x21, 0x7f), *range(0x80, 0x100)])
    c.send(frames.headers(stream, fields.get() + fields.literal("x-every", every, huffman=True)))
    expect.answered(c, stream)
