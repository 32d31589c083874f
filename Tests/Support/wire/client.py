#!/usr/bin/env python3
"""A client that says exactly what it is told over TLS, and reports every frame that came back.

Reads one JSON object from standard input:
  {"port", "ca", "certificate": path | null, "key": path | null, "alpn": ["h2"] | null, "tls": "1.2" | "1.3" | null, "serverName", "receiveBuffer": bytes | null, "steps": [...]}
Steps:
  {"preface": {}}                                    connection preface and SETTINGS (an object of id: value)
  {"headers": [[name, value]...], "stream", "end"}   a request's HEADERS
  {"data": text, "stream", "end"}                    DATA
  {"raw": text}                                      bytes as they are
  {"flood": {"headers", "data", "count", "seconds"}} so many requests without ever reading; ends early when sending makes no progress
  {"ping": text}, {"reset": stream}
  {"mark": path}                                     makes an empty file, for whoever wants to know how far this is
  {"receive": {"ends": n, "frames": n, "seconds": s}} reads until so many streams have ended, so many frames came, or the server closed
Writes one JSON object: {"alpn", "version", "frames": [{"type", "flags", "stream", "fields"?, "text"?, "hex"}], "closed", "abrupt"?: without close_notify,
  "bytes", "sent", "error"?}
"""
import json, socket, ssl, struct, sys, time
from http2 import *

spec = json.load(sys.stdin)
context = ssl.create_default_context(cafile=spec["ca"])
if spec.get("certificate"): context.load_cert_chain(spec["certificate"], spec["key"])
if spec.get("alpn") is not None: context.set_alpn_protocols(spec["alpn"])
if spec.get("tls"):
    context.minimum_version = context.maximum_version = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[spec["tls"]]
# SSL_OP_IGNORE_UNEXPECTED_EOF, which Python sets: whether close_notify came is to be seen.
context.options &= ~0x80
plain = socket.socket()
if spec.get("receiveBuffer"): plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, spec["receiveBuffer"])
plain.settimeout(20)
plain.connect(("127.0.0.1", spec["port"]))
result = {"frames": [], "closed": False, "bytes": "", "sent": 0}
frames, decoder, received = Frames(), Decoder(), b""

def note(kind, flags, stream, payload):
    entry = {"type": kind, "flags": flags, "stream": stream, "hex": payload.hex()}
    if kind == "HEADERS": entry["fields"] = decoder.decode(payload)
    if kind == "DATA": entry["text"] = payload.decode("latin-1")
    if kind == "GOAWAY":
        entry["last"], entry["error"] = struct.unpack(">II", payload[:8]); entry["text"] = payload[8:].decode("latin-1")
    result["frames"].append(entry)

def receive(ends=None, frames_wanted=None, seconds=10):
    global received
    start, deadline = len(result["frames"]), time.monotonic() + seconds
    while True:
        fresh = result["frames"][start:]
        if ends and sum(f["flags"] & END_STREAM for f in fresh if f["type"] in ("HEADERS", "DATA")) + sum(f["type"] == "RST_STREAM" for f in fresh) >= ends: return
        if frames_wanted and len(fresh) >= frames_wanted: return
        left = deadline - time.monotonic()
        if left <= 0: return
        connection.settimeout(left)
        try: data = connection.recv(65536)
        except (socket.timeout, TimeoutError): return
        except (ConnectionResetError, ssl.SSLError, OSError) as error:
            # How an end without close_notify is told depends on Python's version.
            if "EOF" in str(error): result["abrupt"] = True
            else: result["error"] = str(error)
            data = b""
        if not data: result["closed"] = True; return
        received += data
        for item in frames.feed(data):
            note(*item)
            if item[0] == "SETTINGS" and not item[1] & ACK: connection.sendall(frame("SETTINGS", ACK, 0))

def flood(headers, data, count, seconds):
    block, body, stream = encode(headers), data.encode(), 1
    pending, deadline = b"", time.monotonic() + seconds
    connection.setblocking(False)
    while time.monotonic() < deadline and (result["sent"] < count or pending):
        if not pending:
            pending = frame("HEADERS", END_HEADERS, stream, block) + frame("DATA", END_STREAM, stream, body)
            stream += 2; result["sent"] += 1
        try: pending = pending[connection.send(pending):]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError): time.sleep(0.01)
        except OSError as error: result["error"] = str(error); result["closed"] = True; return
    connection.setblocking(True)

try:
    connection = context.wrap_socket(plain, server_hostname=spec.get("serverName", "localhost"), suppress_ragged_eofs=False)
    result["alpn"], result["version"] = connection.selected_alpn_protocol(), connection.version()
    for step in spec["steps"]:
        if "preface" in step:
            settings = b"".join(struct.pack(">HI", int(k), v) for k, v in step["preface"].items())
            connection.sendall(PREFACE + frame("SETTINGS", 0, 0, settings))
        elif "headers" in step:
            connection.sendall(frame("HEADERS", END_HEADERS | (END_STREAM if step.get("end") else 0), step["stream"], encode(step["headers"])))
        elif "data" in step:
            connection.sendall(frame("DATA", END_STREAM if step.get("end") else 0, step["stream"], step["data"].encode()))
        elif "raw" in step: connection.sendall(step["raw"].encode("latin-1"))
        elif "ping" in step: connection.sendall(frame("PING", 0, 0, step["ping"].encode().ljust(8)[:8]))
        elif "reset" in step: connection.sendall(frame("RST_STREAM", 0, step["reset"], struct.pack(">I", 8)))
        elif "mark" in step: open(step["mark"], "w").close()
        elif "flood" in step: flood(**step["flood"])
        elif "receive" in step:
            wanted = dict(step["receive"]); wanted["frames_wanted"] = wanted.pop("frames", None); receive(**wanted)
        else: sys.exit(f"unknown step {step}")
except (ssl.SSLError, OSError) as error:
    result["error"], result["closed"] = str(error), True
result["bytes"] = received.hex()
print(json.dumps(result))
