"""Frames that are cheap to send and ask for an answer or for work."""
import itertools
import select
import ssl
import time

import fields
import frames
from attack import attack
from attacker import that

STALLED_SECONDS = 30
SWEEP_SECONDS = 3
POST = fields.post()
ENDLESS = {
    "SETTINGS": frames.settings((frames.INITIAL_WINDOW_SIZE, 65_535)),
    "empty SETTINGS": frames.settings(),
    "SETTINGS ACK": frames.settings(flags=frames.ACK),
    "PING": frames.ping(),
    "PING ACK": frames.ping(flags=frames.ACK),
    "PRIORITY": frames.priority(99_999),
    "WINDOW_UPDATE": frames.window_update(0, 1),
    "unknown frames": frames.frame(0xEE, 0, 0),
    "large unknown frames": frames.frame(0xEE, 0, 0, bytes(16_384)),
}


FLOODS = {f"{name}, {how}": (octets, how == "read") for name, octets in ENDLESS.items() for how in ("read", "never read")}
# An acknowledgement of nothing breaks a rule; everything else is only too much.
KINDS = {name: "protocol_error" if name.startswith("SETTINGS ACK") else "flood" for name in FLOODS}


def _ended(result, code=frames.ENHANCE_YOUR_CALM):
    """The server has hung up, and said why to one who reads."""
    that(result.closed and result.goaway, "a GOAWAY and the end", result)
    that(result.goaway[1] == code, frames.error_name(code), result)
    return str(result)


@attack(each=FLOODS, refused=KINDS)
def flood(a, kind):
    """One frame over and over, the answers read or not."""
    octets, reads = kind
    made = a.connect()
    result = a.flood(made, itertools.repeat(octets * 100), reads=reads)
    if reads:
        _ended(result, frames.PROTOCOL_ERROR if octets == ENDLESS["SETTINGS ACK"] else frames.ENHANCE_YOUR_CALM)
    return str(result)


@attack(refused="flood", each={"empty DATA": frames.data(1), "padded DATA": frames.data(1, frames.padded(b"", 255), flags=frames.PADDED),
              "DATA of a byte": frames.data(1, b"1"), "WINDOW_UPDATE": frames.window_update(1, 1)})
def flood_of_stream(a, octets):
    """Frames on an open stream that bring nothing."""
    made = a.connect()
    pieces = itertools.chain([frames.headers(made.next_stream(), POST, end=False)], itertools.repeat(octets * 50))
    return _ended(a.flood(made, pieces))


@attack(refused="flood")
def settings_of_many_entries(a):
    """SETTINGS with as many entries as a frame carries, each another window."""
    entries = [(frames.INITIAL_WINDOW_SIZE, size) for size in range(2000)]
    made = a.connect(authenticated=True)
    opened = [frames.headers(made.next_stream(), POST, end=False) for _ in range(900)]
    result = a.flood(made, itertools.chain(opened, itertools.repeat(frames.settings(*entries))))
    return _ended(result)


def _ask_without_window(a, connections):
    """Connections that ask a thousand times each and allow no byte of any answer."""
    made = []
    for _ in range(connections):
        one = a.connect(authenticated=True)
        one.send(frames.settings((frames.INITIAL_WINDOW_SIZE, 0)))
        a.flood(one, (frames.headers(one.next_stream(), fields.get()) for _ in range(1000)), seconds=1)
        made.append(one)
    return made


@attack(peak=60)
def window_of_zero(a):
    """More answers without a window than there can be requests in flight: they give way to others."""
    _ask_without_window(a, 20)
    return "held"


@attack(waits=True, refused="stalled_write")
def window_of_zero_for_long(a):
    """Answers without a window for longer than a peer has to read them: the end of the connection."""
    began = time.monotonic()
    made = _ask_without_window(a, 1)[0]
    made.socket.settimeout(60)
    try:
        while made.socket.recv(65_536):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    took = time.monotonic() - began
    that(STALLED_SECONDS - 1 < took < STALLED_SECONDS + SWEEP_SECONDS, f"an end after {STALLED_SECONDS} seconds", f"{took:.1f}")
    return f"closed after {took:.1f} s"


def _ask_without_reading(a, seconds, full=None):
    """A connection that asks for so long, or until the server takes no more, with all windows open, and reads nothing; bytes taken."""
    made = a.connect((frames.INITIAL_WINDOW_SIZE, frames.WINDOW_MAX), authenticated=True)
    made.send(frames.window_update(0, frames.WINDOW_MAX - 65_535))
    asking = (frames.headers(made.next_stream(), fields.get()) for _ in itertools.count())
    return made, a.flood(made, asking, reads=False, seconds=seconds, full=full).sent


@attack(waits=True, refused="stalled_write")
def never_read_for_long(a):
    """Answers that stay in the socket for longer than a peer has to read them: the end of the connection."""
    made, _ = _ask_without_reading(a, 30, full=1)
    began = time.monotonic()
    # What the socket holds is not read: the end is told by the kernel.
    poller = select.poll()
    poller.register(made.socket, select.POLLRDHUP)
    that(poller.poll(1000 * (STALLED_SECONDS + SWEEP_SECONDS)), f"an end after {STALLED_SECONDS} seconds", "none")
    return f"closed after {time.monotonic() - began:.1f} s"


@attack(peak=60, may={"flood"})
def never_read(a):
    """Requests whose answers are never read, on twenty connections."""
    taken = 0
    for _ in range(20):
        taken += _ask_without_reading(a, a.seconds / 10)[1]
    return f"{taken / 1e6:.1f} MB taken"
