"""What a case expects to come. Each of these reads until it is decided, and raises Departure when it is not so."""
import frames
from connection import Departure, Silence


def _names(codes):
    return " or ".join(map(frames.error_name, codes))


def answered(c, stream, status=None):
    """A whole response on `stream`, by default the one that every target has for a GET."""
    status = status or c.target.get_status
    expected = f"a response with status {status} on stream {stream}"
    seen = c.stream(stream)
    c.until(lambda: seen.ended or seen.reset is not None or c.goaway, expected)
    if not seen.ended or seen.status != status:
        raise Departure(expected, c.story())
    return seen


def accepted(c, stream):
    """Any whole response on `stream`, a refusal of the application's too: the request was well formed."""
    expected = f"a response on stream {stream}"
    seen = c.stream(stream)
    c.until(lambda: seen.ended or seen.reset not in (None, frames.NO_ERROR) or c.goaway, expected)
    if not seen.ended:
        raise Departure(expected, c.story())
    return seen


def serves(c, expected="a connection that still serves"):
    """A further request of the connection is answered."""
    stream = c.get()
    try:
        return answered(c, stream)
    except Departure as departure:
        raise Departure(f"{expected} ({departure.expected})", departure.came) from None


def ignored(c, *streams):
    """Nothing comes of it: no answer on `streams`, and the connection serves."""
    serves(c)
    for stream in streams:
        if not c.stream(stream).is_untouched:
            raise Departure(f"nothing on stream {stream}", c.story())


def closed(c):
    """The server hangs up, with or without a GOAWAY; what it sends before is kept."""
    try:
        while c.read() is not None:
            pass
    except Silence:
        raise Departure("the end of the connection", c.story() + " and then silence") from None


def connection_error(c, *codes):
    """A GOAWAY with one of `codes`, and the end of the connection."""
    expected = f"GOAWAY {_names(codes)} and the end of the connection"
    try:
        closed(c)
    except Departure as departure:
        raise Departure(expected, departure.came) from None
    if c.goaway is None or c.goaway[1] not in codes:
        raise Departure(expected, c.story())


def stream_error(c, stream, *codes, connection=False):
    """A RST_STREAM with one of `codes` on `stream`, no response there, and a connection that serves.

    With `connection`, a connection error with one of the codes will do: RFC 9113 section 5.4.1 lets an endpoint treat a
    stream error as that, and the libraries do it for faults that no correct client has.
    """
    wanted = f"RST_STREAM {_names(codes)} on stream {stream}" + (f", or GOAWAY {_names(codes)}" if connection else "")
    seen = c.stream(stream)
    c.until(lambda: seen.reset is not None or seen.ended or c.goaway, wanted)
    if connection and c.goaway:
        return connection_error(c, *codes)
    if seen.reset not in codes or seen.lists:
        raise Departure(wanted, c.story())
    serves(c)


def ignored_or_stream_closed(c, *streams, also=()):
    """Nothing comes of frames on a closed stream, or an error STREAM_CLOSED of the stream or of the connection.

    RFC 9113 section 5.1: an endpoint MAY treat them as a connection error, and discards them where they can be late.
    """
    codes = (frames.STREAM_CLOSED, *also)
    before = {each: len(c.stream(each).lists) for each in streams}
    probe = c.stream(c.get())
    c.until(lambda: probe.ended or c.goaway, "a connection that serves, or GOAWAY STREAM_CLOSED")
    if c.goaway:
        return connection_error(c, *codes)
    for each in streams:
        if c.stream(each).reset not in (None, *codes) or len(c.stream(each).lists) != before[each]:
            raise Departure(f"nothing more on stream {each}, or RST_STREAM STREAM_CLOSED", c.story())


def that(condition, expected, c):
    """A fact about what has come already."""
    if not condition:
        raise Departure(expected, c.story())


def body(c, stream, octets):
    """After all that was sent has had its effect, exactly so many bytes of the body have come on `stream`."""
    c.settle()
    count = len(c.stream(stream).body)
    if count != octets:
        raise Departure(f"{octets} bytes of DATA in all on stream {stream}", f"{count}: {c.story()}")
