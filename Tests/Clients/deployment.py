"""A gateway and a mock device of our own, on free ports, which end with the block that uses them."""

import contextlib
import json
import pathlib
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator

from pushes import APP, THRIFTY_APP, Provider

READY_SECONDS = 30
END_SECONDS = 20
TEAM = "CLIENTTEAM"

# One of the clients signs each push anew, which Apple's servers would soon answer with 429.
CONFIGURATION = f"""
provider:
  tokenUpdates: off
apps:
  - bundleID: {APP}
  - bundleID: {THRIFTY_APP}
    budgetMode: reject
    budgets:
      widgets: {{allowance: 1, burst: 1, windowSeconds: 86400, minimumIntervalSeconds: 0}}
providers:
"""


class Deployment:
    """The running servers."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self.credentials = json.loads((folder / "credentials.json").read_text())
        self.ca_file = str(folder / "ca.pem")

    def provider(self, name: str, key: str) -> Provider:
        """The provider API for the client `name`, which signs with the key file `key`."""
        host, port = "localhost", int(self.credentials["provider"].rsplit(":", 1)[1])
        return Provider(host, port, str(self._folder / f"{key}.p8"), key_id(name), TEAM)


def key_id(name: str) -> str:
    """The id of a client's key: ten characters, as Apple's."""
    return name.replace("-", "").upper().ljust(10, "0")[:10]


def make_key(file: pathlib.Path) -> None:
    """Makes a key as Apple hands them out: P-256 in PKCS #8."""
    command = ["openssl", "genpkey", "-quiet", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", file]
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def running(binary: str, clients: list[str]) -> Iterator[Deployment]:
    """Starts the servers, with a provider key for each client by its name and the key `foreign` that nobody knows.

    At the end both must leave with status 0.
    """
    with tempfile.TemporaryDirectory(prefix="widgetpush-clients-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        configuration = CONFIGURATION
        for client in clients:
            make_key(folder / f"{client}.p8")
            configuration += f"  - {{keyID: {key_id(client)}, teamID: {TEAM}, keyFile: {client}.p8}}\n"
        make_key(folder / "foreign.p8")
        (folder / "gateway.yaml").write_text(configuration)

        # The device first: the gateway then finds its address in the folder.
        stack.enter_context(_server([binary, "device", "--state-dir", name, "--device-port", "0"], folder / "device.log"))
        gateway = [binary, "gateway", "--config", str(folder / "gateway.yaml"), "--state-dir", name]
        stack.enter_context(_server([*gateway, "--provider-port", "0", "--control-port", "0"], folder / "gateway.log"))
        yield Deployment(folder)


@contextlib.contextmanager
def _server(command: list[str], log: pathlib.Path) -> Iterator[None]:
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        _wait_until_ready(process, log)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = f"killed after {END_SECONDS} s"
        process.stdout.close()
        if status != 0:
            raise RuntimeError(f"{command[1]} ended with {status}:\n{_tail(log)}")


def _wait_until_ready(process: subprocess.Popen, log: pathlib.Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
        line = process.stdout.readline()
        if line.startswith("ready "):
            return
        if not line:
            break
    raise RuntimeError(f"{process.args[1]} did not get ready:\n{_tail(log)}")


def _tail(log: pathlib.Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])
