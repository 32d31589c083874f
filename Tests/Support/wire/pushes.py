#!/usr/bin/env python3
"""A sender of many pushes, each to a token of its own and in a write of its own, at a steady rate over several connections.

Reads one JSON object from standard input:
  {"port", "ca", "headers": [[name, value]...] beside :path, "body", "connections", "rate": pushes a second, 0 for as fast as can be, "count"}
Writes one JSON object: {"statuses": {status: count}, "reset": streams that were reset, "lost": pushes without an answer,
  "slowest": seconds that the slowest answer took, "seconds"}
"""
import json, os, selectors, socket, ssl, struct, sys, time
from http2 import *

spec = json.load(sys.stdin)
context = ssl.create_default_context(cafile=spec["ca"])
context.set_alpn_protocols(["h2"])
STREAMS = 1000
fixed, body = encode(spec["headers"]), frame("DATA", END_STREAM, 0, spec["body"].encode())

class Sender:
    def __init__(self):
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", spec["port"])), server_hostname="localhost")
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.frames, self.decoder, self.stream, self.open, self.limit, self.unsent = Frames(), Decoder(), 1, {}, 1, b""
        self.socket.sendall(PREFACE + frame("SETTINGS", 0, 0) + frame("WINDOW_UPDATE", 0, 0, struct.pack(">I", 1 << 30)))
        self.socket.setblocking(False)

    def may_send(self): return not self.unsent and len(self.open) < self.limit

    def push(self):
        block = encode([(":path", "/3/device/" + os.urandom(32).hex())]) + fixed
        data = body[:5] + struct.pack(">I", self.stream) + body[9:]
        self.open[self.stream] = time.monotonic()
        self.unsent = frame("HEADERS", END_HEADERS, self.stream, block) + data
        self.stream += 2
        self.flush()

    def flush(self):
        try:
            while self.unsent: self.unsent = self.unsent[self.socket.send(self.unsent):]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError): pass

    def read(self):
        try:
            data = self.socket.recv(1 << 16)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError): return
        if not data: sys.exit("the server closed a connection")
        for kind, flags, stream, payload in self.frames.feed(data):
            if kind == "HEADERS":
                status = dict(self.decoder.decode(payload))[":status"]
                result["statuses"][status] = result["statuses"].get(status, 0) + 1
            elif kind == "RST_STREAM": result["reset"] += 1
            elif kind == "GOAWAY": sys.exit(f"the server said GOAWAY: {payload!r}")
            elif kind == "SETTINGS" and not flags & ACK:
                for place in range(0, len(payload), 6):
                    name, value = struct.unpack(">HI", payload[place:place + 6])
                    if name == 3: self.limit = min(value, STREAMS)
                self.unsent += frame("SETTINGS", ACK, 0)
                self.flush()
            if kind == "RST_STREAM" or kind in ("HEADERS", "DATA") and flags & END_STREAM:
                began = self.open.pop(stream, None)
                if began: result["slowest"] = max(result["slowest"], time.monotonic() - began)

result = {"statuses": {}, "reset": 0, "slowest": 0}
senders = [Sender() for _ in range(spec["connections"])]
selector = selectors.DefaultSelector()
for sender in senders: selector.register(sender.socket, selectors.EVENT_READ, sender)
start, sent, turn, quiet = time.monotonic(), 0, 0, 0
while sent < spec["count"] or any(sender.open for sender in senders):
    due = spec["count"] if not spec["rate"] else min(spec["count"], int((time.monotonic() - start) * spec["rate"]))
    for _ in range(200):
        if sent >= due: break
        sender = next((each for each in senders[turn:] + senders[:turn] if each.may_send()), None)
        if sender is None: break
        sender.push()
        sent, turn = sent + 1, (turn + 1) % len(senders)
    ready = selector.select(0 if sent < due and any(each.may_send() for each in senders) else 0.001)
    for key, _ in ready: key.data.read()
    for sender in senders:
        if sender.unsent: sender.flush()
    quiet = 0 if ready or sent < due else quiet + 1
    if quiet > 60_000: break
result["lost"] = sum(len(sender.open) for sender in senders)
result["seconds"] = time.monotonic() - start
print(json.dumps(result))
