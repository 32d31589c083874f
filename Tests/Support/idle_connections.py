#!/usr/bin/env python3
"""Connections that rest: opens many to an HTTP/2 server, and does on each what it is told to.

  idle_connections.py PORT CA COUNT [HEADERS] [BODY]

HEADERS is a file of request header fields, `name: value` a line; {index} in a value becomes the number of the connection. A line
on standard input is a command, answered by a line when it is done on every connection: `open` connects, with TLS, both prefaces
and acknowledged SETTINGS; `send` sends the request and awaits a 200; `ping` has a PING acknowledged. They end with the input.
"""
import resource
import socket
import ssl
import struct
import sys

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
ACK = END_STREAM = 1
END_HEADERS = 4
# How answers begin: their status is in the static table (RFC 7541 appendix A).
STATUS_200, STATUS_400 = b"\x88", b"\x8c"
# Seconds that an answer may take.
PATIENCE = 30
# Descriptors beside the connections.
SPARE = 50


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A field that the receiver keeps in its table, as clients send most of theirs (RFC 7541 section 6.2.1)."""
    def text(octets):
        length, prefix = len(octets), bytearray()
        if length < 127:
            return bytes([length]) + octets
        prefix.append(127)
        length -= 127
        while length >= 128:
            prefix.append(length % 128 + 128)
            length //= 128
        return bytes(prefix) + bytes([length]) + octets
    return b"\x40" + text(name.encode()) + text(value.encode())


class Idle:
    """One connection."""

    def __init__(self, context, port):
        raw = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        self.buffer = b""
        self.stream = 1
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
        settings = acknowledged = False
        while not (settings and acknowledged):
            kind, flags, _, _ = self.read()
            if kind == SETTINGS and flags & ACK:
                acknowledged = True
            elif kind == SETTINGS:
                settings = True
                self.socket.sendall(frame(SETTINGS, ACK, 0))

    def read(self):
        """The next frame: type, flags, stream, payload."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            octets = self.socket.recv(16_384)
            if not octets:
                raise OSError("the server has hung up")
            self.buffer += octets
        length = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
        payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
        if kind == GOAWAY:
            raise OSError(f"GOAWAY {payload}")
        if kind == SETTINGS and not flags & ACK and self.stream > 1:
            self.socket.sendall(frame(SETTINGS, ACK, 0))
        return kind, flags, stream, payload

    def send(self, block, body):
        """Sends a request and reads its answer; the byte that stands for the status, as `STATUS_200` does."""
        self.socket.sendall(frame(HEADERS, END_HEADERS, self.stream, block) + frame(DATA, END_STREAM, self.stream, body))
        flags, kind, status = 0, None, None
        # The first bytes of an answer may change the size of the table; then comes the status, which the static table has.
        while not (kind in (HEADERS, DATA) and flags & END_STREAM):
            kind, flags, _, payload = self.read()
            if kind == HEADERS:
                status = payload.lstrip(b"\x20")[:1]
        self.stream += 2
        return status

    def ping(self):
        self.socket.sendall(frame(PING, 0, 0, b"stillup?"))
        while self.read()[:2] != (PING, ACK):
            pass


def main(port, ca, count, headers=None, body=None):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + SPARE:
        sys.exit(f"idle_connections: {count} connections need {count + SPARE} open files, and the hard limit is {hard} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    context = ssl.create_default_context(cafile=ca)
    context.set_alpn_protocols(["h2"])
    fields = [line.rstrip("\n").rsplit(": ", 1) for line in open(headers)] if headers else []
    body = open(body, "rb").read() if body else b""
    connections = []
    for command in sys.stdin:
        for index in range(count):
            if command == "open\n":
                connections.append(Idle(context, port))
            elif command == "send\n":
                block = b"".join(literal(name, value.replace("{index}", f"{index:08x}")) for name, value in fields)
                if connections[index].send(block, body) != STATUS_200:
                    sys.exit(f"idle_connections: connection {index} was not answered with 200")
            elif command == "ping\n":
                connections[index].ping()
            else:
                sys.exit(f"idle_connections: no command {command!r}")
        print("done", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
