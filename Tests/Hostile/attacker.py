"""What attacks are made with: connections that send as fast as the server takes it, read or not, and are made anew."""
import dataclasses
import itertools
import select
import ssl
import struct
import time

import expect
import fields
import frames
import runner
from connection import Connection, Departure, Silence

RECORD = 16_384
CASE_SECONDS = 60


@dataclasses.dataclass
class Flood:
    """How a flood over one connection ended."""
    # Bytes that the server took.
    sent: int = 0
    # Bytes that came, and the last of them.
    came: int = 0
    tail: bytes = b""
    # Whether the server hung up.
    closed: bool = False

    @property
    def goaway(self):
        """The last stream and the error code of the GOAWAY that came last, or None."""
        place = self.tail.rfind(b"\x07\x00\x00\x00\x00\x00")
        return struct.unpack(">II", self.tail[place + 6:place + 14]) if place >= 3 and len(self.tail) >= place + 14 else None

    def __str__(self):
        if not self.closed:
            return f"{self.sent / 1e6:.1f} MB taken"
        return f"hung up after {self.sent} bytes" + (f" with {frames.error_name(self.goaway[1])}" if self.goaway else "")


class Attacker:
    """An attack under way on `server`; `seconds` is how long one that could go on for ever does."""

    def __init__(self, server, seconds, long):
        self.server, self.seconds, self.long = server, seconds, long
        self._connections = []

    def close(self):
        while self._connections:
            self._connections.pop().close()

    # Connections

    def connect(self, *entries, authenticated=False):
        """A connection after both prefaces, ours with the SETTINGS `entries`; with a verified provider token besides if asked."""
        made = Connection(self.server, CASE_SECONDS)
        self._connections.append(made)
        made.handshake(*entries)
        if authenticated:
            self.authenticate(made)
        return made

    def authenticate(self, made):
        """Shows a valid provider token, with which the server allows more than one stream."""
        made.target = dataclasses.replace(_Known(self.server.port, self.server.ca, self.server.token))
        runner.authenticate(made)

    def tls(self):
        """A connection after the TLS handshake, nothing sent."""
        made = Connection(self.server, CASE_SECONDS)
        self._connections.append(made)
        return made

    def drop(self, made):
        made.close()
        self._connections.remove(made)

    # Floods

    def flood(self, connection, pieces, reads=True, seconds=None, full=None):
        """Sends `pieces`, which may have no end, until the time is over, the server has taken nothing for `full` seconds, or it hangs up."""
        found, end = Flood(), time.monotonic() + (seconds or self.seconds)
        took = time.monotonic()
        secure = connection.socket
        secure.setblocking(False)
        records = _records(pieces)
        record, refused = next(records, None), 0
        try:
            while record is not None and time.monotonic() < (end if full is None else min(end, took + full)):
                ready, room, _ = select.select([secure] if reads else [], [secure], [], 0.05)
                if reads and (ready or secure.pending()):
                    _read(secure, found)
                if not room:
                    refused += 1
                    continue
                try:
                    found.sent += secure.send(record)
                    record, took = next(records, None), time.monotonic()
                except ssl.SSLWantWriteError:
                    continue
                except ssl.SSLWantReadError:
                    _read(secure, found)
            if reads:
                self._drain(secure, found, min(end, time.monotonic() + 0.3))
        except (ssl.SSLError, OSError):
            found.closed = True
            self._rest(secure, found)
        return found

    def repeatedly(self, pieces, authenticated=True, reads=True):
        """Floods again on a new connection whenever the server hangs up, until the time is over; all floods."""
        end, floods = time.monotonic() + self.seconds, []
        while (left := end - time.monotonic()) > 0.02:
            made = self.connect(authenticated=authenticated)
            floods.append(self.flood(made, pieces(made), reads=reads, seconds=left))
            self.drop(made)
        return floods

    def _drain(self, secure, found, end):
        """Reads what still comes, until nothing has for a moment."""
        while time.monotonic() < end and (secure.pending() or select.select([secure], [], [], 0.1)[0]):
            _read(secure, found)

    def _rest(self, secure, found):
        """What the server had sent before it hung up."""
        try:
            self._drain(secure, found, time.monotonic() + 0.2)
        except (ssl.SSLError, OSError):
            pass

    # Requests

    def push(self, *more, body=b'{"aps":{"alert":"hello"}}', token=None, path="/3/device/" + "22" * 32, connection=None):
        """A push on a connection of its own or the given one: its status and the body's reason."""
        made = connection or self.connect()
        stream = made.next_stream()
        authorization = [("authorization", "bearer " + (token or self.server.token))]
        block = fields.block(*fields.request(*authorization, ("apns-topic", "com.example.app"), *more, method="POST", path=path))
        pieces = [block[at:at + RECORD] for at in range(0, len(block), RECORD)]
        made.send(frames.headers(stream, pieces[0], end=False, flags=frames.END_HEADERS if len(pieces) == 1 else 0),
                  *(frames.continuation(stream, each, flags=frames.END_HEADERS if each is pieces[-1] else 0) for each in pieces[1:]),
                  *(frames.data(stream, body[at:at + RECORD]) for at in range(0, len(body), RECORD)), frames.data(stream, end=True))
        seen = expect.accepted(made, stream)
        if connection is None:
            self.drop(made)
        return seen.status, bytes(seen.body).decode()


@dataclasses.dataclass(frozen=True)
class _Known:
    """What `runner.authenticate` asks of a target."""
    port: int
    ca: str
    token: str
    unknown_status: int = 400
    get_status: int = 405


def _records(pieces):
    """Pieces joined to as much as a TLS record carries; what is left of a piece begins the next."""
    buffer = bytearray()
    for each in pieces:
        buffer += each
        while len(buffer) >= RECORD:
            yield bytes(buffer[:RECORD])
            del buffer[:RECORD]
    if buffer:
        yield bytes(buffer)


def _read(secure, found):
    try:
        octets = secure.recv(65_536)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return
    if not octets:
        raise OSError("the end of the connection")
    found.came += len(octets)
    found.tail = (found.tail + octets)[-4096:]


def streams(connection, make):
    """What `make` gives for one unused stream of `connection` after the other, without end."""
    return (make(connection.next_stream()) for _ in itertools.count())


def that(condition, expected, came):
    """A fact about what the server did."""
    if not condition:
        raise Departure(expected, came)


__all__ = ["Attacker", "Departure", "Flood", "Silence", "streams", "that"]
