"""Servers that are wrong on purpose, to see that the cases notice."""
import contextlib
import socketserver
import ssl
import tempfile
import threading

import certificate
import fields
import frames
from target import Target

ANSWER = (fields.literal(8, "405"), b'{"reason":"MethodNotAllowed"}')
END = object()


def lenient(found):
    """Answers whatever looks like a request, keeps to no window, and finds no error."""
    if found.kind == frames.PING:
        yield frames.ping(found.payload, frames.ACK)
    elif found.kind == frames.SETTINGS and not found.has(frames.ACK):
        yield frames.settings(flags=frames.ACK)
    elif found.kind in (frames.HEADERS, frames.DATA) and found.has(frames.END_STREAM):
        yield frames.headers(found.stream, ANSWER[0], end=False)
        yield frames.data(found.stream, ANSWER[1], end=True)


def harsh(found):
    """Ends the connection at every frame but SETTINGS and PING, with a code that says nothing."""
    if found.kind in (frames.PING, frames.SETTINGS) and not found.stream:
        yield from lenient(found)
    else:
        yield frames.goaway(found.stream, frames.INTERNAL_ERROR)
        yield END


def clinging(found):
    """Says GOAWAY with the right code for most errors, and neither hangs up nor answers anything."""
    if found.kind == frames.SETTINGS and not found.payload:
        yield from lenient(found)
    else:
        yield frames.goaway(0, frames.FRAME_SIZE_ERROR if found.kind == frames.PING else frames.PROTOCOL_ERROR)


def resetting(found):
    """Resets every stream with the right code for most errors, requests without fault too."""
    if found.kind == frames.HEADERS:
        yield frames.rst_stream(found.stream, frames.PROTOCOL_ERROR)
    else:
        yield from lenient(found)


def silent(found):
    """Sends its preface and nothing else."""
    yield from ()


@contextlib.contextmanager
def running(behaviour):
    """A server of that behaviour on a free port."""
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        key, made = certificate.make(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made, key)
        context.set_alpn_protocols(["h2"])

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError), context.wrap_socket(self.request, server_side=True) as connection:
                    connection.settimeout(10)
                    _serve(connection, behaviour)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        with Server(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                yield Target(port=server.server_address[1], ca=made, post_status=405)
            finally:
                server.shutdown()
                thread.join()


def _serve(connection, behaviour):
    connection.sendall(frames.settings())
    buffer = bytearray()
    while octets := connection.recv(65_536):
        buffer += octets
        if buffer.startswith(b"PRI"):
            if len(buffer) < len(frames.PREFACE):
                continue
            del buffer[:len(frames.PREFACE)]
        while found := frames.parse(buffer):
            for piece in behaviour(found):
                if piece is END:
                    return
                connection.sendall(piece)
