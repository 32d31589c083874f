"""One raw HTTP/2 connection over TLS: sends any bytes, and keeps what came."""
import dataclasses
import socket
import ssl
import struct
import time

import hpack

import fields
import frames
from frames import Frame


class Departure(Exception):
    """The server did not do what the case expects."""

    def __init__(self, expected, came):
        super().__init__(f"expected {expected}; came {came}")
        self.expected, self.came = expected, came


class Silence(Exception):
    """Nothing more came before the case's deadline."""


@dataclasses.dataclass
class Stream:
    """What came on one stream."""
    lists: list = dataclasses.field(default_factory=list)
    body: bytearray = dataclasses.field(default_factory=bytearray)
    chunks: list = dataclasses.field(default_factory=list)
    ended: bool = False
    reset: int | None = None

    @property
    def status(self):
        return int(dict(self.lists[0])[":status"]) if self.lists else None

    @property
    def is_untouched(self):
        return not self.lists and not self.chunks and not self.ended and self.reset is None


class Connection:
    """A TLS connection whose every wait ends at `deadline`, by the monotonic clock."""

    def __init__(self, target, seconds, protocols=("h2",), server_name="localhost", paper=None, version=None):
        self.target = target
        self.deadline = time.monotonic() + seconds
        context = ssl.create_default_context(cafile=target.ca)
        context.check_hostname = False
        if paper:
            context.load_cert_chain(*paper)
        if version:
            context.minimum_version = context.maximum_version = version
        if protocols:
            context.set_alpn_protocols(list(protocols))
        # Whether the server asks for a certificate, which nothing public of Python's tells.
        self.is_asked = False
        context._msg_callback = self._hear_handshake
        raw = socket.create_connection(("127.0.0.1", target.port), timeout=seconds)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket = context.wrap_socket(raw, server_hostname=server_name, suppress_ragged_eofs=False)
        except Exception:
            raw.close()
            raise
        self.protocol = self.socket.selected_alpn_protocol()
        self.sent, self.came = [], []
        self.closed, self.failure = False, None
        # Whether it ended without close_notify.
        self.is_abrupt = False
        self.settings, self.settings_acks, self.pongs, self.window_updates = None, 0, [], {}
        self.goaway = None
        self.streams = {}
        self.decoder = hpack.Decoder()
        self.acknowledges = True
        self._buffer, self._block, self._next = bytearray(), None, 1

    def _hear_handshake(self, _, direction, __, ___, message, ____):
        self.is_asked |= direction == "read" and getattr(message, "name", "") == "CERTIFICATE_REQUEST"

    def close(self):
        self.socket.close()

    # Sending

    def send(self, *pieces, name=None):
        """Sends frames, or other bytes that `name` describes; a server that has hung up is noticed when reading."""
        octets = b"".join(pieces)
        self.sent.append(name or ", ".join(self._described(bytearray(octets))))
        self._wait()
        try:
            self.socket.sendall(octets)
        except TimeoutError:
            raise Silence from None
        except OSError:
            pass

    def _described(self, octets):
        while found := frames.parse(octets):
            yield str(found)
        if octets:
            yield f"{len(octets)} bytes ({octets[:24].hex()})"

    def next_stream(self):
        """The next unused id for a stream of ours."""
        self._next += 2
        return self._next - 2

    def skip_past(self, stream):
        """Leaves out all ids up to `stream`, which was used."""
        self._next = stream + 2

    def handshake(self, *entries):
        """Prefaces and acknowledgements of both sides; `entries` are our SETTINGS."""
        self.send(frames.PREFACE, frames.settings(*entries), name="preface")
        self.until(lambda: self.settings is not None and self.settings_acks, "SETTINGS and SETTINGS ACK")
        self.forget()

    def forget(self):
        """Leaves what went before out of the story."""
        self.sent.clear()
        self.came.clear()

    def get(self, *more):
        """Sends a GET, to which every target has an answer with a body; returns its stream."""
        stream = self.next_stream()
        self.send(frames.headers(stream, fields.get(*more)))
        return stream

    def open(self, *more):
        """Begins a POST whose body is still to come; returns its stream."""
        stream = self.next_stream()
        self.send(frames.headers(stream, fields.post(*more), end=False))
        return stream

    # Receiving

    def stream(self, number):
        return self.streams.setdefault(number, Stream())

    def read(self):
        """The next frame, or None at the end of the connection; Silence at the deadline."""
        while (found := frames.parse(self._buffer)) is None:
            if self.closed:
                return None
            self._wait()
            try:
                octets = self.socket.recv(65_536)
            except TimeoutError:
                raise Silence from None
            except OSError as error:
                octets, self.failure, self.is_abrupt = b"", error, True
            self.closed = not octets
            self._buffer += octets
        self.came.append(found)
        self._take(found)
        return found

    def until(self, condition, expected):
        """Reads until `condition` holds."""
        while not condition():
            try:
                if self.read() is None:
                    raise Departure(expected, self.story())
            except Silence:
                raise Departure(expected, self.story() + " and then silence") from None

    def settle(self):
        """Two rounds of PING: whatever the server had to say to what was sent before has come by then, or it has hung up.

        The first answer may overtake other frames of its turn, the second comes a turn later.
        """
        for mark in (b"settle 1", b"settle 2"):
            count = self.pongs.count(mark) + 1
            self.send(frames.ping(mark), name="PING")
            while self.pongs.count(mark) < count and self.read() is not None:
                pass

    def story(self, last=6):
        """What came, in words: the last frames."""
        words = [str(each) for each in self.came if not (each.kind == frames.PING and each.payload.startswith(b"settle"))][-last:]
        return ", ".join(words + (["the end of the connection"] if self.closed else [])) or "nothing"

    def _wait(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Silence
        self.socket.settimeout(left)

    def _take(self, found: Frame):
        if found.kind in (frames.HEADERS, frames.CONTINUATION):
            self._take_block(found)
        elif found.kind == frames.DATA:
            stream = self.stream(found.stream)
            stream.body += found.payload
            stream.chunks.append(len(found.payload))
            stream.ended |= found.has(frames.END_STREAM)
        elif found.kind == frames.RST_STREAM:
            self.stream(found.stream).reset = struct.unpack(">I", found.payload)[0]
        elif found.kind == frames.GOAWAY:
            self.goaway = (*struct.unpack(">II", found.payload[:8]), found.payload[8:])
        elif found.kind == frames.PING and found.has(frames.ACK):
            self.pongs.append(found.payload)
        elif found.kind == frames.WINDOW_UPDATE:
            increment = struct.unpack(">I", found.payload)[0]
            self.window_updates[found.stream] = self.window_updates.get(found.stream, 0) + increment
        elif found.kind == frames.SETTINGS and found.has(frames.ACK):
            self.settings_acks += 1
        elif found.kind == frames.SETTINGS:
            self.settings = (self.settings or {}) | dict(struct.iter_unpack(">HI", found.payload))
            if self.acknowledges:
                self.socket.sendall(frames.settings(flags=frames.ACK))

    def _take_block(self, found):
        if found.kind == frames.HEADERS:
            self._block = (found.stream, bytearray(), found.has(frames.END_STREAM))
        number, octets, ends = self._block
        octets += found.payload
        if found.has(frames.END_HEADERS):
            stream = self.stream(number)
            stream.lists.append(self.decoder.decode(bytes(octets)))
            stream.ended |= ends
