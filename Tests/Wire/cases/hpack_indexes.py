"""RFC 7541 sections 2.3, 3 and 6: representations and the indexes in them."""
import expect
import fields
import frames
from case import case
from fields import INCREMENTAL, NEVER_INDEXED, WITHOUT_INDEXING, after_method, indexed, literal

FORMS = {"with incremental indexing": INCREMENTAL, "without indexing": WITHOUT_INDEXING, "never indexed": NEVER_INDEXED}


def _request(c, block):
    stream = c.next_stream()
    c.send(frames.headers(stream, block))
    return stream


def _undecodable(c, *representations):
    _request(c, fields.get() + b"".join(representations))
    expect.connection_error(c, frames.COMPRESSION_ERROR)


@case("RFC 7541 6.1")
def index_0(c):
    """The index 0 of an indexed field is a decoding error."""
    _undecodable(c, indexed(0))


@case("RFC 7541 2.3.3", each={"first dynamic of none": 62, "100": 100, "70000": 70_000, "2^31": 1 << 31})
def index_beyond_the_tables(c, index):
    """An index above both tables is a decoding error."""
    _undecodable(c, indexed(index))


@case("RFC 7541 2.3.3")
def index_beyond_one_dynamic_entry(c):
    """The dynamic table ends after the entries that were added."""
    _undecodable(c, literal("x-one", "1", INCREMENTAL), indexed(62), indexed(63))


@case("RFC 7541 6.2", each=FORMS)
def name_index_beyond_the_tables(c, form):
    """A literal whose name has an index above both tables is a decoding error."""
    _undecodable(c, literal(62, "value", form))


@case("RFC 7541 6.1")
def static_entries(c):
    """Entries of the static table stand for whole fields: GET, and POST."""
    expect.answered(c, _request(c, after_method(indexed(fields.METHOD_GET))))
    expect.answered(c, _request(c, after_method(indexed(fields.METHOD_POST))), c.target.post_status)


@case("RFC 7541 2.3.1")
def whole_static_table(c):
    """Each of the 61 entries is there: names of literals may use all after the pseudo-header fields."""
    skipped = {28, 57}  # content-length and transfer-encoding have rules for their values
    rest = b"".join(literal(index, "trailers" if index == 58 else "1") for index in range(15, 62) if index not in skipped)
    expect.accepted(c, _request(c, fields.get() + rest))


@case("RFC 7541 6.2", each=FORMS | {f"{key}, Huffman code": (*form, True) for key, form in FORMS.items()})
def literal_fields(c, form):
    """Each form of a literal field is taken, its name indexed or not."""
    *form, huffman = form if len(form) == 3 else (*form, False)
    method = literal(fields.METHOD_GET, "GET", form, huffman)
    expect.answered(c, _request(c, after_method(method) + literal("x-name", "value", form, huffman)))


@case("RFC 7541 6.2.1")
def added_entry_serves_later_requests(c):
    """A literal with incremental indexing is entry 62 for the rest of the connection."""
    expect.answered(c, _request(c, after_method(literal(fields.METHOD_GET, "GET", INCREMENTAL))))
    for _ in range(3):
        expect.answered(c, _request(c, after_method(indexed(62))))


@case("RFC 7541 6.2.2", each={key: FORMS[key] for key in ("without indexing", "never indexed")})
def other_literals_add_nothing(c, form):
    """Literals without indexing, and never indexed, add no entry."""
    _undecodable(c, literal("x-name", "value", form), indexed(62))


@case("RFC 7541 2.3.3")
def newest_entry_is_first(c):
    """The newest entry has the lowest dynamic index, and the older ones move up."""
    expect.answered(c, _request(c, after_method(literal(fields.METHOD_GET, "GET", INCREMENTAL))))
    expect.answered(c, _request(c, after_method(literal(fields.METHOD_GET, "POST", INCREMENTAL))), c.target.post_status)
    expect.answered(c, _request(c, after_method(indexed(62))), c.target.post_status)
    expect.answered(c, _request(c, after_method(indexed(63))))


@case("RFC 7541 6.2.1")
def name_of_dynamic_entry(c):
    """A literal may take its name from a dynamic entry."""
    expect.answered(c, _request(c, after_method(literal(fields.METHOD_GET, "GET", INCREMENTAL))))
    expect.answered(c, _request(c, after_method(literal(62, "POST"))), c.target.post_status)
