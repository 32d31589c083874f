"""Streams that are opened, reset, refused and broken faster than anyone would."""
import struct

import fields
import frames
from attack import attack
from attacker import streams, that

GET = fields.indexed(fields.METHOD_GET) + fields.indexed(fields.SCHEME_HTTPS) + fields.literal(fields.PATH_ROOT, "/3/device/00")
POST = fields.indexed(fields.METHOD_POST) + fields.indexed(fields.SCHEME_HTTPS) + fields.literal(fields.PATH_ROOT, "/3/device/00")
# A burst of a thousand, then what some seconds refill; what comes beside them is refused, and is at most what is read at once.
RESETS, RESETS_PER_SECOND = 1000, 33
READ_AT_ONCE = 3 * (16_384 + 256)


def _ended(a, floods, piece, more=0):
    """The server said GOAWAY after a bounded number of streams, of `piece` bytes each."""
    that(any(each.closed for each in floods), "the server to hang up", floods[0])
    worst = max(each.goaway[0] // 2 for each in floods if each.goaway)
    bound = more + RESETS + RESETS_PER_SECOND * (a.seconds + 1) + READ_AT_ONCE / piece
    that(worst < bound, f"fewer than {bound:.0f} streams on one connection", f"{worst}; {floods[0]}")
    return f"{len(floods)} connections, at most {worst} streams on one, the first {floods[0]}"


@attack(exact=True, refused="rapid_reset")
def rapid_reset(a):
    """Requests that are reset as soon as they are sent (CVE-2023-44487)."""
    def pieces(made):
        return streams(made, lambda stream: frames.headers(stream, POST, end=False) + frames.rst_stream(stream))
    return _ended(a, a.repeatedly(pieces), len(frames.headers(1, POST) + frames.rst_stream(1)))


BROKEN = {
    "no path": lambda stream: frames.headers(stream, fields.indexed(fields.METHOD_GET) + fields.indexed(fields.SCHEME_HTTPS)),
    "upper case": lambda stream: frames.headers(stream, GET + fields.literal("X-A", "b")),
    "window update of 0": lambda stream: frames.headers(stream, POST, end=False) + frames.window_update(stream, 0),
    "window too large": lambda stream: frames.headers(stream, POST, end=False) + frames.window_update(stream, frames.WINDOW_MAX),
    "too much content": lambda stream: (
        frames.headers(stream, POST + fields.literal("content-length", "1"), end=False) + frames.data(stream, b"12")),
    "depends on itself": lambda stream: (
        frames.headers(stream, POST, end=False) + frames.frame(frames.PRIORITY, 0, stream, struct.pack(">IB", stream, 1))),
    "data after the end": lambda stream: frames.headers(stream, GET) + frames.data(stream, b"1"),
}


BROKEN_KINDS = {name: "rapid_reset" for name in BROKEN} | {
    "window update of 0": "protocol_error", "depends on itself": "protocol_error", "data after the end": "stream_closed"}


@attack(each=BROKEN, refused=BROKEN_KINDS)
def made_you_reset(a, broken):
    """Streams that break a rule, so that the server resets them (CVE-2025-8671)."""
    return _ended(a, a.repeatedly(lambda made: streams(made, broken)), len(broken(1)))


# Of what brings nothing, ten thousand are allowed in a burst, and a refused stream counts as two.
REFUSED_MAX = 10_000 // 2


@attack(refused="flood")
def refused_streams(a):
    """Streams beyond the limit, which are refused, while none within it ends."""
    floods = a.repeatedly(lambda made: streams(made, lambda stream: frames.headers(stream, POST, end=False)))
    _ended(a, floods, len(frames.headers(1, POST)), more=REFUSED_MAX)
    return f"{len(floods)} connections, {sum(each.sent for each in floods) / len(frames.headers(1, POST)):.0f} streams"


@attack(peak=100)
def open_streams(a):
    """Fifty connections with a thousand open streams each, each with a part of its body."""
    count = 0
    for _ in range(50):
        made = a.connect(authenticated=True)
        opened = (frames.headers(stream, POST, end=False) + frames.data(stream, b"{") for stream in (made.next_stream() for _ in range(1000)))
        count += a.flood(made, opened, seconds=1).sent
    return f"{count / 1e6:.1f} MB taken"


@attack(may={"flood"})
def request_churn(a):
    """Whole requests as fast as they are taken, more at once than there may be."""
    floods = a.repeatedly(lambda made: streams(made, lambda stream: frames.headers(stream, GET)))
    return f"{sum(each.sent for each in floods) / len(frames.headers(1, GET)) / a.seconds:.0f} requests a second"
