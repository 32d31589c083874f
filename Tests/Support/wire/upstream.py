#!/usr/bin/env python3
"""An upstream that misbehaves on command: HTTP/2 over TLS with the certificate and key it is given.

  upstream.py CERTIFICATE KEY PORT ANSWER...

Prints `port N` when it listens, then one JSON object for each request: {"connection", "fields", "body", "answer"}. The requests are
given the answers in order, all connections together; the last one serves for all that follow:
  200, 400, 410...[:BODY]   that status with the request's apns-id, with BODY as one DATA frame if there is one
  hang                      no answer
  reset, refuse             RST_STREAM with INTERNAL_ERROR, with REFUSED_STREAM
  goaway                    GOAWAY that has not processed the request, then the end of the connection
  close                     the end of the connection
Options before the answers: --streams N announces MAX_CONCURRENT_STREAMS.
"""
import json, socket, ssl, struct, sys, threading
from http2 import *

arguments = sys.argv[1:]
streams = int(arguments.pop(arguments.index("--streams") + 1)) if "--streams" in arguments else 1000
answers = [x for x in arguments[3:] if x != "--streams"]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(arguments[0], arguments[1]); context.set_alpn_protocols(["h2"])
lock, given = threading.Lock(), 0

def next_answer():
    global given
    with lock:
        answer = answers[min(given, len(answers) - 1)]; given += 1
        return answer

def say(value):
    with lock: print(value if isinstance(value, str) else json.dumps(value), flush=True)

def answer_to(connection, stream, fields, answer):
    """Returns False when the connection ends with it."""
    if answer == "hang": return True
    if answer == "close": return False
    if answer in ("reset", "refuse"):
        connection.sendall(frame("RST_STREAM", 0, stream, struct.pack(">I", 2 if answer == "reset" else 7))); return True
    if answer == "goaway":
        connection.sendall(frame("GOAWAY", 0, 0, struct.pack(">II", stream - 2 if stream > 1 else 0, 0))); return False
    status, _, body = answer.partition(":")
    echo = [(name, value) for name, value in fields if name == "apns-id"]
    head = frame("HEADERS", END_HEADERS | (0 if body else END_STREAM), stream, encode([(":status", status), *echo]))
    connection.sendall(head + (frame("DATA", END_STREAM, stream, body.encode()) if body else b"")); return True

def serve(plain, number):
    connection = plain
    try:
        connection = context.wrap_socket(plain, server_side=True)
        connection.sendall(frame("SETTINGS", 0, 0, struct.pack(">HI", 3, streams)))
        frames, decoder, requests, preface = Frames(), Decoder(), {}, b""
        while data := connection.recv(65536):
            if len(preface) < len(PREFACE):
                take = len(PREFACE) - len(preface); preface += data[:take]; data = data[take:]
            for kind, flags, stream, payload in frames.feed(data):
                if kind == "SETTINGS" and not flags & ACK: connection.sendall(frame("SETTINGS", ACK, 0))
                if kind == "PING" and not flags & ACK: connection.sendall(frame("PING", ACK, 0, payload))
                if kind == "HEADERS": requests[stream] = [decoder.decode(payload), b""]
                if kind == "DATA":
                    requests[stream][1] += payload
                    if payload: connection.sendall(frame("WINDOW_UPDATE", 0, 0, struct.pack(">I", len(payload))))
                if kind in ("HEADERS", "DATA") and flags & END_STREAM:
                    fields, body = requests.pop(stream)
                    answer = next_answer()
                    say({"connection": number, "fields": dict(fields), "body": body.decode("latin-1"), "answer": answer})
                    if not answer_to(connection, stream, fields, answer): return
    except OSError: pass
    finally:
        connection.close()

listener = socket.create_server(("127.0.0.1", int(arguments[2])))
say(f"port {listener.getsockname()[1]}")
number = 0
while True:
    accepted, _ = listener.accept()
    number += 1
    threading.Thread(target=serve, args=(accepted, number), daemon=True).start()
