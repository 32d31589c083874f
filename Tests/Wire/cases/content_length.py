"""RFC 9113 section 8.1.1: content-length and the DATA that came; a request where they differ is malformed."""
import expect
import fields
import frames
from case import case


def _length(value):
    return ("content-length", value)


@case("RFC 9113 8.1.1", each={"of one frame": [b"{}"], "of three frames": [b"{", b"", b"}"]})
def right_content_length(c, parts):
    """The lengths of all DATA frames together are the content-length."""
    stream = c.open(_length("2"))
    c.send(*(frames.data(stream, part) for part in parts), frames.data(stream, end=True))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1.1")
def content_length_with_trailers(c):
    """Trailers do not count for the content-length."""
    stream = c.open(_length("2"))
    c.send(frames.data(stream, b"{}"), frames.headers(stream, fields.literal("x-checksum", "0")))
    expect.answered(c, stream, c.target.post_status)


@case("RFC 9113 8.1.1")
def content_length_zero(c):
    """A content-length of 0 goes with no DATA."""
    stream = c.get(_length("0"))
    expect.answered(c, stream)


@case("RFC 9113 8.1.1", each={"too much": ("1", [b"{}"]), "too much in two frames": ("3", [b"{}", b"{}"]), "any after 0": ("0", [b"x"]),
                              "too little": ("3", [b"{}"]), "none": ("2", [b""])})
def content_length_differs(c, how):
    """DATA of another length than content-length says is malformed: a stream error PROTOCOL_ERROR."""
    told, parts = how
    stream = c.open(_length(told))
    c.send(*(frames.data(stream, part) for part in parts[:-1]), frames.data(stream, parts[-1], end=True))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1.1")
def content_length_without_data(c):
    """END_STREAM on HEADERS with a content-length above 0 is malformed."""
    stream = c.next_stream()
    c.send(frames.headers(stream, fields.post(_length("2"))))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1.1")
def content_length_differs_before_trailers(c):
    """DATA that is too short before trailers is malformed."""
    stream = c.open(_length("3"))
    c.send(frames.data(stream, b"{}"), frames.headers(stream, fields.literal("x-checksum", "0")))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1.1", each={"word": "two", "negative": "-2", "with a sign": "+2", "empty": "", "fraction": "2.0", "hexadecimal": "0x2",
                              "above 64 bits": "18446744073709551618"})
def content_length_is_no_number(c, value):
    """A content-length that is no decimal number, or one that nobody can count to, is malformed."""
    stream = c.open(_length(value))
    c.send(frames.data(stream, b"{}", end=True))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)


@case("RFC 9113 8.1.1")
def content_length_twice(c):
    """Two content-lengths that differ are malformed."""
    stream = c.open(_length("2"), _length("3"))
    c.send(frames.data(stream, b"{}", end=True))
    expect.stream_error(c, stream, frames.PROTOCOL_ERROR)
