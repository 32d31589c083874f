"""Field blocks by hand (RFC 7541): each representation by its name, so that a case decides every byte."""
from hpack.huffman import HuffmanEncoder
from hpack.huffman_constants import REQUEST_CODES, REQUEST_CODES_LENGTH

INDEXED, INCREMENTAL, SIZE_UPDATE, WITHOUT_INDEXING, NEVER_INDEXED = (0x80, 7), (0x40, 6), (0x20, 5), (0x00, 4), (0x10, 4)

# Entries of the static table (RFC 7541 appendix A) that requests are made of.
AUTHORITY, METHOD_GET, METHOD_POST, PATH_ROOT, SCHEME_HTTP, SCHEME_HTTPS = 1, 2, 3, 4, 6, 7
STATIC_ENTRIES = 61
FIRST_DYNAMIC = 62
TABLE_BYTES = 4096

_huffman = HuffmanEncoder(REQUEST_CODES, REQUEST_CODES_LENGTH)


def integer(value, form):
    """An integer in the prefix of `form`, whose pattern fills the other bits (RFC 7541 section 5.1)."""
    pattern, bits = form
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([pattern | value])
    out, value = [pattern | limit], value - limit
    while value >= 128:
        out.append(value % 128 | 128)
        value //= 128
    return bytes(out + [value])


def string(text, huffman=False):
    """A string literal (section 5.2)."""
    octets = text if isinstance(text, bytes) else text.encode("latin-1")
    return integer(len(coded := _huffman.encode(octets)), (0x80, 7)) + coded if huffman else integer(len(octets), (0, 7)) + octets


def indexed(index):
    return integer(index, INDEXED)


def literal(name, value, form=WITHOUT_INDEXING, huffman=False):
    """A literal field; `name` is a string, or the index of an entry with that name."""
    head = integer(name, form) if isinstance(name, int) else integer(0, form) + string(name, huffman)
    return head + string(value, huffman)


def size_update(size):
    return integer(size, SIZE_UPDATE)


def block(*fields):
    """A block of literals without indexing, from (name, value) pairs."""
    return b"".join(literal(name, value) for name, value in fields)


PATH = "/3/device/00"
HOST = "localhost"


def request(*more, method="GET", scheme="https", path=PATH, authority=HOST):
    """The fields of a request; a pseudo-header field that is None is left out."""
    pseudo = [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority)]
    return [(name, value) for name, value in pseudo if value is not None] + list(more)


def get(*more):
    return block(*request(*more))


def post(*more):
    return block(*request(*more, method="POST"))


def after_method(method):
    """A request whose first representation, the :method, is given in bytes."""
    return method + indexed(SCHEME_HTTPS) + literal(PATH_ROOT, PATH) + literal(AUTHORITY, HOST)
