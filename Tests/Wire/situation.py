"""The servers that exchanges are held with, and what is there before one begins."""
import base64
import contextlib
import http.client
import json
import os
import re
import resource
import secrets
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

import certificate
import expect
import fields
import frames
from connection import Connection
from target import Target

APP = "com.example.app"
# Its pushes wait, since nothing listens where they go to.
WAITING_APP = "com.example.waiting"
# It has no broadcasts.
PLAIN_APP = "com.example.plain"
APPS = f"""
apps:
  - {{bundleID: {APP}, upstream: UPSTREAM}}
  - {{bundleID: {WAITING_APP}, upstream: nowhere}}
  - {{bundleID: {PLAIN_APP}, upstream: nowhere, broadcast: false}}
"""
NOWHERE = "https://127.0.0.1:9"
PATIENCE = 10


class Deployment:
    """A gateway, and a mock device unless its pushes are to go nowhere; both end with `close`."""

    def __init__(self, binary, has_device=True):
        self._ends = contextlib.ExitStack()
        self._binary = binary
        self.folder = self._ends.enter_context(tempfile.TemporaryDirectory(prefix="exchange-"))
        try:
            self._start(has_device)
        except BaseException:
            self.close()
            raise

    def close(self):
        self._ends.close()

    def _start(self, has_device):
        upstreams = f"upstreams:\n  nowhere: {{url: {NOWHERE}}}\n"
        if has_device:
            self._run("device", "--device-port", "0")
            upstreams += f"  device: {{url: {self._credentials['device']}}}\n"
        os.mkdir(f"{self.folder}/office")
        self.office = certificate.Office(f"{self.folder}/office")
        with open(f"{self.folder}/gateway.yaml", "w") as file:
            file.write(f"provider: {{clientCertificates: {{ca: {{file: {self.office.authority}}}}}}}\n" + upstreams)
            file.write(APPS.replace("UPSTREAM", "device" if has_device else "nowhere"))
        self.process = self._run("gateway", "--config", f"{self.folder}/gateway.yaml", "--provider-port", "0", "--control-port", "0")
        credentials = self._credentials
        self.target = Target(port=int(credentials["provider"].rsplit(":", 1)[1]), ca=f"{self.folder}/ca.pem", process=self.process)
        # One for all: Apple's servers count new ones.
        self.jwt = self.provider_token()

    @property
    def _credentials(self):
        with open(f"{self.folder}/credentials.json") as file:
            return json.load(file)

    def _run(self, command, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WIDGETPUSH_")}
        log = self._ends.enter_context(open(f"{self.folder}/{command}.log", "w+"))
        # Signals as Python has them: SIGXFSZ is ignored, so that a file that may not grow is an error of its writer.
        process = subprocess.Popen([self._binary, command, "--state-dir", self.folder, *arguments], stdout=subprocess.PIPE, stderr=log,
                                   text=True, env=environment, start_new_session=True, restore_signals=False)
        self._ends.callback(_end, process)
        if not any(line.startswith("ready ") for line in process.stdout):
            log.seek(0)
            raise SystemExit(f"wire: the {command} did not start: {log.read().strip()}")
        return process

    def ask(self, face, method, path, body=None):
        """An answer of the JSON API of `control` or `device`."""
        credentials = self._credentials
        host, port = urllib.parse.urlsplit(credentials[face]).netloc.split(":")
        connection = http.client.HTTPSConnection(host, int(port), context=ssl.create_default_context(cafile=f"{self.folder}/ca.pem"))
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), {"authorization": f"Bearer {credentials['admin']}"})
            answer = connection.getresponse()
            text = answer.read().decode()
        assert answer.status < 400, f"{method} {path}: {answer.status} {text}"
        return json.loads(text or "{}")

    def provider_token(self, age=0):
        """A provider token that was made `age` seconds ago."""
        credentials = self._credentials
        with open(credentials["keyFile"], "rb") as file:
            key = serialization.load_pem_private_key(file.read(), None)
        parts = [{"alg": "ES256", "kid": credentials["keyID"]}, {"iss": credentials["teamID"], "iat": int(time.time()) - age}]
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in parts)
        r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def _base64url(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


class Situation:
    """What one exchange finds: `values` by their names, and the server, which is shared unless it has one of its own."""

    def __init__(self, binary, shared):
        self._binary, self._own = binary, None
        self._use(shared)

    def _use(self, deployment):
        self._deployment, self.target = deployment, deployment.target
        self.values, self.papers = {"jwt": deployment.jwt}, {}

    def end(self):
        if self._own:
            self._own.close()

    def meet(self, sentence):
        """Sees to it that `sentence` is so."""
        for form, act in _SENTENCES:
            if found := re.fullmatch(form, sentence):
                return act(self, *found.groups())
        raise AssertionError(f"what is \"{sentence}\"?")

    def _begin_own(self):
        self._own = Deployment(self._binary, has_device=False)
        self._use(self._own)

    def _register(self, name, kind, app, environment):
        self.values[name] = token = secrets.token_hex(32)
        self.values[name.upper()] = token.upper()
        body = {"type": kind, "bundleID": app, "environment": environment}
        self._deployment.ask("control", "PUT", f"/v1/registrations/{token}", body)

    def _make_unknown(self, name):
        self.values[name] = secrets.token_hex(32)

    def _remove_app(self, name):
        device = secrets.token_hex(4)
        self._deployment.ask("device", "PUT", f"/v1/devices/{device}")
        installed = self._deployment.ask("device", "POST", f"/v1/devices/{device}/apps", {"bundleID": APP})
        self.values[name] = token = installed["app"]["token"]
        self._deployment.ask("control", "PUT", f"/v1/registrations/{token}", {"type": "app", "bundleID": APP, "environment": "development"})
        self._deployment.ask("device", "DELETE", f"/v1/devices/{device}/apps/{APP}")
        # The device tells the gateway only when the next push comes.
        self._push(1, token, APP)
        newest = self._deployment.ask("control", "GET", f"/v1/pushes?token={token}&limit=1")["pushes"][0]
        told = self._deployment.ask("control", "GET", f"/v1/pushes/{newest['id']}?wait={PATIENCE}s")
        assert told["disposition"] == "failed", told

    def _push(self, count, token, app):
        """Sends so many pushes, which are accepted."""
        self._send(["/3/device/" + self.values.get(token, token)] * int(count), [("apns-topic", app)], b'{"aps":{"alert":"Hello"}}', 200)

    def _send(self, paths, more, body, status, method="POST"):
        connection = Connection(self.target, PATIENCE)
        with contextlib.closing(connection):
            connection.handshake()
            for path in paths:
                stream = connection.next_stream()
                request = fields.request(("authorization", "bearer " + self.values["jwt"]), *more, method=method, path=path)
                connection.send(frames.headers(stream, fields.block(*request), end=not body))
                if body:
                    connection.send(frames.data(stream, body, end=True))
                answer = expect.answered(connection, stream, status)
            return dict(answer.lists[0])

    def _create_channel(self, name, policy):
        body = json.dumps({"message-storage-policy": int(policy), "push-type": "LiveActivity"}).encode()
        self.values[name] = self._send([f"/1/apps/{APP}/channels"], [], body, 201)["apns-channel-id"]

    def _delete_channel(self, name):
        self._create_channel(name, 0)
        self._send([f"/1/apps/{APP}/channels"], [("apns-channel-id", self.values[name])], b"", 204, method="DELETE")

    def _make_tokens(self, name, age):
        self.values[name] = self._deployment.provider_token(int(age))

    def _make_paper(self, name, subject, *extensions, days=1):
        self.papers[name] = self._deployment.office.make(secrets.token_hex(4), subject, *extensions, days=days)

    def _fill_disk(self):
        resource.prlimit(self.target.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def _stop(self):
        self.target.process.send_signal(signal.SIGTERM)


_SENTENCES = [
    (r"a gateway of its own", Situation._begin_own),
    (r"(\w+), a token of the type (\w+) of (\S+) in (\w+)", Situation._register),
    (r"(\w+), a token that nobody registered", Situation._make_unknown),
    (r"(\w+), the token of an app that was removed", Situation._remove_app),
    (r"(\d+) pushes that wait for (\w+) of (\S+)", Situation._push),
    (r"(\w+), a channel with the storage policy (\d)", Situation._create_channel),
    (r"(\w+), a channel that was deleted", Situation._delete_channel),
    (r"(\w+), a provider token of (\d+) s ago", Situation._make_tokens),
    (r"(\w+), a certificate of (\S+) for (\w+)", lambda self, name, app, environment: self._make_paper(
        name, f"/UID={app}", certificate.DEVELOPMENT if environment == "development" else certificate.PRODUCTION)),
    (r"(\w+), a certificate of (\S+) that is over", lambda self, name, app: self._make_paper(name, f"/UID={app}", days=-1)),
    (r"(\w+), a certificate that names no topic", lambda self, name: self._make_paper(name, "/CN=nobody")),
    (r"the disk is full", Situation._fill_disk),
    (r"the server is told to stop", Situation._stop),
]
