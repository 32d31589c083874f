"""The JSON APIs of the gateway and of the mock device, as far as these tests need them."""

import http.client
import json
import re
import ssl
import time
import urllib.parse


class API:
    """One kept connection to a JSON API; a status of 400 or more raises."""

    def __init__(self, url: str, ca_file: str, access_token: str):
        host, port = urllib.parse.urlsplit(url).netloc.split(":")
        self._connection = http.client.HTTPSConnection(host, int(port), context=ssl.create_default_context(cafile=ca_file))
        self._headers = {"authorization": f"Bearer {access_token}"}

    def text(self, method: str, path: str, body: dict | None = None) -> str:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text}")
        return text

    def json(self, method: str, path: str, body: dict | None = None) -> dict:
        return json.loads(self.text(method, path, body) or "{}")

    def close(self) -> None:
        self._connection.close()


class Control(API):
    """The gateway's control API."""

    def register(self, token: str, type: str, app: str) -> str:
        self.text("PUT", f"/v1/registrations/{token}", {"type": type, "bundleID": app, "environment": "development"})
        return token

    def disposition(self, token: str) -> str:
        """What became of the newest push to the token, once nothing more happens to it; or as it is after 10 s."""
        newest = self.json("GET", f"/v1/pushes?token={token}&limit=1")["pushes"]
        if not newest:
            return "no push known"
        return self.json("GET", f"/v1/pushes/{newest[0]['id']}?wait=10s")["disposition"]

    def applied(self, type: str) -> int:
        """How many pushes of a type a device has applied since the gateway's start."""
        name = f'widgetpush_pushes_total{{push_type="{type}",disposition="applied"}}'
        count = re.search(re.escape(name) + r" (\d+)", self.text("GET", "/metrics"))
        return int(count[1]) if count else 0

    def wait_for_applied(self, type: str, count: int, seconds: float) -> int:
        """How many are applied, as soon as they are `count`, or when the time is up."""
        end = time.monotonic() + seconds
        while (now := self.applied(type)) < count and time.monotonic() < end:
            time.sleep(0.02)
        return now


class Device(API):
    """The mock device's API."""

    def install(self, device: str, app: str) -> str:
        """Installs the app on a device; the app's push token."""
        self.text("PUT", f"/v1/devices/{device}")
        return self.json("POST", f"/v1/devices/{device}/apps", {"bundleID": app})["app"]["token"]

    def remove(self, device: str, app: str) -> None:
        self.text("DELETE", f"/v1/devices/{device}/apps/{app}")
