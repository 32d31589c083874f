"""The servers that the suite can run against."""
import contextlib
import dataclasses
import os
import pathlib
import signal
import socket
import subprocess
import tempfile

import certificate


@dataclasses.dataclass(frozen=True)
class Target:
    """A server that listens on loopback."""
    port: int
    ca: str
    process: subprocess.Popen | None = None
    # The status it answers a GET with, and a POST without a provider token.
    get_status: int = 405
    post_status: int = 403
    # A provider token that it takes, and the status of a push to a token that nobody registered.
    token: str | None = None
    unknown_status: int = 400
    # Starts another server of the kind, which a case may stop; of a gateway, with other options.
    another: object = None


@contextlib.contextmanager
def _running(command, environment=None):
    """A process with its standard output as text; it has ended when the block is left."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, start_new_session=True)
        try:
            yield process, log
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


@contextlib.contextmanager
def gateway(binary, *options, streams=1000):
    """A gateway of its own on free ports, with a state folder that goes with it; it has each client begin with that many streams."""
    with tempfile.TemporaryDirectory(prefix="wire-") as state:
        command = [binary, "gateway", "--state-dir", state, "--provider-port", "0", "--control-port", "0", "--store-path", "memory",
                   # The cases open streams at once, mostly without a provider token that would allow them.
                   "--provider-initial-concurrent-streams", str(streams), *options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WIDGETPUSH_")}
        with _running(command, environment) as (process, log):
            ready = next((line for line in process.stdout if line.startswith("ready ")), None)
            if ready is None:
                log.seek(0)
                raise SystemExit(f"wire: the gateway did not start: {log.read().strip()}")
            faces = dict(word.split("=", 1) for word in ready.split()[1:])
            token = subprocess.run([binary, "token", "--state-dir", state], check=True, capture_output=True, text=True, env=environment)
            yield Target(port=int(faces["provider"].rsplit(":", 1)[1]), ca=f"{state}/ca.pem", process=process,
                         token=token.stdout.strip(), another=lambda *options, **more: gateway(binary, *options, **more))


@contextlib.contextmanager
def nghttpd(program="nghttpd"):
    """nghttp2's own server, to compare with: it answers 404 to everything."""
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        key, made = certificate.make(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        pathlib.Path(f"{folder}/htdocs").mkdir()
        with _running([program, "-d", f"{folder}/htdocs", "-a", "127.0.0.1", str(port), key, made]) as (process, _):
            while process.poll() is None:
                with contextlib.suppress(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
            yield Target(port=port, ca=made, process=process, get_status=404, post_status=404, unknown_status=404)
