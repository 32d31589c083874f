"""Takes whatever is sent over TLS, and does nothing about it: what an attack on nobody is made against.

  sink.py CA-FOLDER

Prints its port.
"""
import os
import pathlib
import selectors
import socket
import ssl
import subprocess
import sys


class Sink:
    """The process, as the suite sees it; it shows the certificate of the gateway whose folder it gets."""

    def __init__(self, folder, processors):
        self._process = subprocess.Popen([sys.executable, __file__, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())
        # In the server's place, and in nobody's way.
        os.sched_setaffinity(self._process.pid, processors)
        os.sched_setscheduler(self._process.pid, os.SCHED_IDLE, os.sched_param(0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def main(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(pathlib.Path(folder) / "server.pem", pathlib.Path(folder) / "server.key")
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                raw, _ = listener.accept()
                try:
                    secure = context.wrap_socket(raw, server_side=True)
                except OSError:
                    raw.close()
                    continue
                selector.register(secure, selectors.EVENT_READ)
                continue
            try:
                gone = not key.fileobj.recv(16_384)
            except OSError:
                gone = True
            if gone:
                selector.unregister(key.fileobj)
                key.fileobj.close()


if __name__ == "__main__":
    main(sys.argv[1])
