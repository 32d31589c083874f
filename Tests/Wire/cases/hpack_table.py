"""RFC 7541 sections 4, 6.3 and 7: the size of the dynamic table, eviction, and the server's own table."""
import expect
import fields
import frames
from case import case
from fields import FIRST_DYNAMIC, INCREMENTAL, TABLE_BYTES, after_method, indexed, literal, size_update

METHOD_GET = literal(fields.METHOD_GET, "GET", INCREMENTAL)
ENTRY_OVERHEAD = 32


def _request(c, block):
    stream = c.next_stream()
    c.send(frames.headers(stream, block))
    return stream


def _undecodable(c, block):
    _request(c, block)
    expect.connection_error(c, frames.COMPRESSION_ERROR)


def _entry(size):
    """A field that takes `size` bytes of the table."""
    name = "x-filler"
    return literal(name, "f" * (size - ENTRY_OVERHEAD - len(name)), INCREMENTAL)


@case("RFC 7541 6.3", each={"by one": TABLE_BYTES + 1, "by far": 1 << 20, "2^32-1": 2**32 - 1})
def size_update_above_the_setting(c, size):
    """A size above SETTINGS_HEADER_TABLE_SIZE is a decoding error."""
    _undecodable(c, size_update(size) + fields.get())


@case("RFC 7541 4.2", each={"after the first field": 1, "at the end": None})
def size_update_not_at_the_start(c, place):
    """A size update after a field is a decoding error."""
    get = fields.get()
    first = len(fields.block(fields.request()[0]))
    _undecodable(c, get[:first] + size_update(100) + get[first:] if place else get + size_update(100))


@case("RFC 7541 4.2")
def size_update_in_trailers_after_a_field(c):
    """The same holds in trailers."""
    stream = c.open()
    c.send(frames.headers(stream, fields.literal("x-trailer", "1") + size_update(0)))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 4.2", each={"the largest": (TABLE_BYTES,), "zero": (0,), "zero and back": (0, TABLE_BYTES), "smaller, then larger": (100, 200)})
def size_update_at_the_start(c, sizes):
    """One size update, or the least and then the last, may begin a block."""
    expect.answered(c, _request(c, b"".join(map(size_update, sizes)) + fields.get()))
    expect.serves(c)


@case("RFC 7541 4.2")
def size_update_at_the_start_of_trailers(c):
    """Trailers are a block too, and may begin with a size update."""
    stream = c.open()
    c.send(frames.headers(stream, size_update(0) + fields.literal("x-trailer", "1")))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 7541 4.3", each={"to zero": (0,), "to zero and back": (0, TABLE_BYTES), "below the entry": (40,)})
def size_update_evicts(c, sizes):
    """A smaller size evicts the entries that do not fit."""
    expect.answered(c, _request(c, after_method(METHOD_GET)))
    _undecodable(c, b"".join(map(size_update, sizes)) + after_method(indexed(FIRST_DYNAMIC)))


@case("RFC 7541 4.3")
def size_update_keeps_what_fits(c):
    """An entry that fits exactly stays: name, value and 32 bytes."""
    expect.answered(c, _request(c, after_method(METHOD_GET)))
    size = len(":method") + len("GET") + ENTRY_OVERHEAD
    expect.answered(c, _request(c, size_update(size) + after_method(indexed(FIRST_DYNAMIC))))


@case("RFC 7541 4.4")
def oldest_entry_is_evicted(c):
    """A new entry evicts the oldest ones until it fits."""
    expect.answered(c, _request(c, after_method(METHOD_GET)))
    expect.answered(c, _request(c, fields.get() + _entry(TABLE_BYTES - 42)))
    expect.answered(c, _request(c, after_method(indexed(FIRST_DYNAMIC + 1))))
    expect.answered(c, _request(c, fields.get() + _entry(100)))
    # The method and the filler are gone: entry 62 is the last filler, and there is no other.
    _undecodable(c, fields.get() + indexed(FIRST_DYNAMIC + 1))


@case("RFC 7541 4.4")
def entry_above_the_table_empties_it(c):
    """A field larger than the table is no error; it empties the table and is not added."""
    expect.answered(c, _request(c, after_method(METHOD_GET)))
    expect.answered(c, _request(c, size_update(50) + fields.get() + _entry(51)))
    _undecodable(c, fields.get() + indexed(FIRST_DYNAMIC))


@case("RFC 7541 4.4")
def name_of_the_entry_that_is_evicted(c):
    """A new entry may take its name from one that is evicted to make room for it."""
    expect.answered(c, _request(c, size_update(42) + after_method(METHOD_GET)))
    expect.answered(c, _request(c, after_method(literal(FIRST_DYNAMIC, "GET", INCREMENTAL))))
    expect.answered(c, _request(c, after_method(indexed(FIRST_DYNAMIC))))


@case("RFC 7541 2.2", each={"small": 10, "large": 300})
def responses_decode(c, count):
    """The server's blocks decode one after another, whatever it adds to its table."""
    for _ in range(count):
        expect.serves(c)


@case("RFC 7541 4.2", each={"0": 0, "100": 100, "40": 40})
def server_keeps_to_a_smaller_table(c, size):
    """After SETTINGS_HEADER_TABLE_SIZE is lowered, the server's next block begins with a size update, and it keeps to it."""
    expect.serves(c)
    acks = c.settings_acks
    c.send(frames.settings((frames.HEADER_TABLE_SIZE, size)))
    c.until(lambda: c.settings_acks > acks, "SETTINGS ACK")
    c.decoder.max_allowed_table_size = size
    for _ in range(5):
        expect.serves(c)
    expect.that(c.decoder.header_table_size <= size, f"a size update to {size} or less", c)


@case("RFC 7541 4.2")
def server_table_to_zero_and_back(c):
    """SETTINGS_HEADER_TABLE_SIZE 0 and then 4096 empties the server's table: a size update to 0 comes first, unless it is there."""
    expect.serves(c)
    was_zero = c.decoder.header_table_size == 0
    acks = c.settings_acks
    c.send(frames.settings((frames.HEADER_TABLE_SIZE, 0)), frames.settings((frames.HEADER_TABLE_SIZE, 4096)))
    c.until(lambda: c.settings_acks == acks + 2, "2 SETTINGS ACK")
    before = len(c.came)
    expect.serves(c)
    block = next(each.payload for each in c.came[before:] if each.kind == frames.HEADERS)
    expect.that(was_zero or block[:1] == size_update(0), f"a block that begins with a size update to 0, not {block[:4].hex()}", c)
    for _ in range(5):
        expect.serves(c)
