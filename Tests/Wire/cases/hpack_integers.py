"""RFC 7541 sections 5.1 and 6: integers, and blocks that end too early."""
import expect
import fields
import frames
from case import case
from fields import INCREMENTAL, NEVER_INDEXED, WITHOUT_INDEXING, literal

ENDLESS = b"\xff" * 12 + b"\x7f"


@case("RFC 7541 5.1", each={
    "index": b"\xff" + ENDLESS, "name index": b"\x7f" + ENDLESS, "name index, never indexed": b"\x1f" + ENDLESS,
    "table size": b"\x3f" + ENDLESS, "name length": b"\x00\x7f" + ENDLESS, "value length": b"\x00\x01a\x7f" + ENDLESS})
def integer_overflow(c, octets):
    """An integer above what the decoder can hold is a decoding error."""
    before = b"" if octets[0] == 0x3f else fields.get()
    c.send(frames.headers(c.next_stream(), before + octets))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.1")
def integer_of_endless_zeros(c):
    """An integer of very many octets is a decoding error, whatever its value."""
    c.send(frames.headers(c.next_stream(), fields.get() + b"\xff" + b"\x80" * 1000 + b"\x7f"))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.1")
def integer_at_the_edge_of_its_prefix(c):
    """A value that just fills the prefix goes on with an octet of zero."""
    stream = c.next_stream()
    name = "x" * 127
    c.send(frames.headers(stream, fields.get() + literal(name, "v" * 127) + literal(name, "v" * 126) + literal(15, "*", NEVER_INDEXED)))
    expect.answered(c, stream)


@case("RFC 7541 5.1", each={
    "index": b"\xff", "index after an octet": b"\xff\x80", "name index": b"\x0f", "name index, incremental": b"\x7f\x80"})
def truncated_integer(c, octets):
    """A block that ends within an integer is a decoding error."""
    c.send(frames.headers(c.next_stream(), fields.get() + octets))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


LITERAL = {"incremental": INCREMENTAL, "without indexing": WITHOUT_INDEXING, "never indexed": NEVER_INDEXED}
ENDS = {"before the name": 1, "within the name": 4, "before the value": 8, "before the value's octets": 9, "within the value": 11}


@case("RFC 7541 6.2", each={
    f"{form} {end}": (LITERAL[form], length) for form in LITERAL for end, length in ENDS.items()
    if form == "incremental" or end == "within the value"})
def truncated_literal(c, how):
    """A block that ends within a literal field is a decoding error."""
    form, length = how
    c.send(frames.headers(c.next_stream(), fields.get() + literal("x-name", "value", form)[:length]))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 6.2")
def truncated_after_name_index(c):
    """A literal with an indexed name and no value is a decoding error."""
    c.send(frames.headers(c.next_stream(), fields.get() + b"\x4f"))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.2", each={"by one": 6, "by far": 100_000})
def string_longer_than_the_block(c, length):
    """A string whose length goes past the block's end is a decoding error."""
    c.send(frames.headers(c.next_stream(), fields.get() + b"\x00\x01a" + fields.integer(length, (0, 7)) + b"value"))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 5.2")
def truncated_in_continuation(c):
    """A block that ends early in its CONTINUATION is a decoding error as well."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.get(), flags=0), frames.continuation(stream, b"\x00\x05a"))
    expect.connection_error(c, frames.COMPRESSION_ERROR)
