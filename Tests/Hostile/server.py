"""A gateway of our own as the target of an attack, and what it costs: its memory, read from /proc."""
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import ssl
import subprocess
import tempfile


@dataclasses.dataclass(frozen=True)
class Server:
    """A running gateway; the first fields are those that `connection.Connection` of Tests/Wire asks for."""
    port: int
    ca: str
    control: str
    token: str
    folder: str
    process: subprocess.Popen

    def memory(self, name="VmRSS"):
        """Resident bytes at present; with "VmHWM", at the worst since `forget_peak`."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("the gateway has ended")

    def forget_peak(self):
        """The peak counts from here."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def stay_on(self, processors):
        """Has it run on these processors alone."""
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(task), processors)

    def processor_seconds(self):
        """Seconds that its threads have computed so far."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def refusals(self):
        """Connections that were refused or ended below HTTP so far, by kind."""
        host, port = re.fullmatch(r".*?([^/]+):(\d+)", self.control).groups()
        access = json.loads(pathlib.Path(f"{self.folder}/credentials.json").read_text())["read"]
        connection = http.client.HTTPSConnection(host, int(port), context=ssl.create_default_context(cafile=self.ca), timeout=10)
        connection.request("GET", "/metrics", headers={"authorization": f"Bearer {access}"})
        text = connection.getresponse().read().decode()
        connection.close()
        return {kind: int(count) for kind, count in re.findall(r'widgetpush_connections_refused_total\{kind="(\w+)"\} (\d+)', text)}

    @property
    def has_ended(self):
        return self.process.poll() is not None


@contextlib.contextmanager
def running(binary, descriptors=None):
    """A gateway on free ports whose state goes with it; `descriptors` is its limit of open files."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as state, open(f"{state}/gateway.log", "w+") as log:
        command = [binary, "gateway", "--state-dir", state, "--provider-port", "0", "--control-port", "0", "--store-path", "memory",
                   # Each forged token is to be judged by itself, and not refused as one too many.
                   "--provider-token-updates", "off"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WIDGETPUSH_")}

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, start_new_session=True,
                                   preexec_fn=limit if descriptors else None)
        try:
            ready = next((line for line in process.stdout if line.startswith("ready ")), None)
            if ready is None:
                log.seek(0)
                raise SystemExit(f"hostile: the gateway did not start: {log.read().strip()}")
            faces = dict(word.split("=", 1) for word in ready.split()[1:])
            token = subprocess.run([binary, "token", "--state-dir", state], check=True, capture_output=True, text=True, env=environment)
            yield Server(port=int(faces["provider"].rsplit(":", 1)[1]), ca=f"{state}/ca.pem", control=faces["control"],
                         token=token.stdout.strip(), folder=state, process=process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
