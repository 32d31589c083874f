"""A well-behaved connection, in a process of its own: pushes one after the other, and tells how long their answers took.

  bystander.py PORT CA PROVIDER-TOKEN

Prints a line once the first push is answered, and for every line on standard input what came since the one before, as JSON.
"""
import json
import os
import pathlib
import select
import subprocess
import sys
import time
import types

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Wire"))

# Seconds between an answer and the next push.
PAUSE = 0.002
# Seconds after which a push counts as not served.
PATIENCE = 5.0
UNKNOWN_TOKEN = "11" * 32


class Bystander:
    """The process, as the suite sees it."""

    def __init__(self, server):
        command = [sys.executable, __file__, str(server.port), server.ca, server.token]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(2 * PATIENCE)
        self._process.stdout.close()

    def stay_on(self, processors):
        """Has it run on these processors alone."""
        os.sched_setaffinity(self._process.pid, processors)

    def told(self):
        """What came since the last call: count, p50, p99 and worst in milliseconds, and the first failure, or None."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return types.SimpleNamespace(**json.loads(self._line()))

    def _line(self):
        if not select.select([self._process.stdout], [], [], 2 * PATIENCE)[0] or not (line := self._process.stdout.readline()):
            raise RuntimeError("the well-behaved connection does not get through")
        return line


def main(port, ca, token):
    import expect
    import fields
    import frames
    from connection import Connection

    connection = Connection(types.SimpleNamespace(port=port, ca=ca), PATIENCE)
    connection.handshake()
    push = fields.block(*fields.request(("authorization", "bearer " + token), ("apns-topic", "com.example.app"), method="POST",
                                        path="/3/device/" + UNKNOWN_TOKEN))

    def serve():
        connection.deadline = time.monotonic() + PATIENCE
        stream = connection.next_stream()
        began = time.monotonic()
        connection.send(frames.headers(stream, push, end=False), frames.data(stream, b'{"aps":{"alert":"hello"}}', end=True), name="push")
        expect.answered(connection, stream, 400)
        took = time.monotonic() - began
        connection.send(frames.window_update(0, len(connection.stream(stream).body)), name="WINDOW_UPDATE")
        connection.forget()
        connection.streams.clear()
        return took * 1000

    serve()
    print("served", flush=True)
    times, failure = [], None
    while True:
        if select.select([sys.stdin], [], [], PAUSE if failure is None else None)[0]:
            if not sys.stdin.readline():
                return
            times.sort()
            print(json.dumps({"count": len(times), "p50": _quantile(times, 0.5), "p99": _quantile(times, 0.99),
                              "worst": _quantile(times, 1), "failure": failure}), flush=True)
            times = []
        if failure is None:
            try:
                times.append(serve())
            except Exception as error:  # whatever it is, it was not served
                failure = f"{type(error).__name__} {error}"


def _quantile(ordered, part):
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
