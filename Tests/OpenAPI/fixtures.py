"""A `widgetpush dev` with something of everything in it: tokens, pushes of many ends, a channel with a message, devices."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import httpx

APP = "com.example.app"
# Things that calls may delete; each call of a run meets another.
VICTIMS = 60


@dataclasses.dataclass(frozen=True)
class Dev:
    """The running servers."""

    binary: str
    folder: pathlib.Path
    credentials: dict

    def command(self, *words):
        """The output of a command of the binary."""
        variables = {**os.environ, "WIDGETPUSH_STATE_DIR": str(self.folder)}
        return subprocess.run([self.binary, *words], check=True, capture_output=True, text=True, env=variables).stdout

    def client(self, face, **headers):
        """A client of one of the faces."""
        context = httpx.create_ssl_context(verify=str(self.folder / "ca.pem"))
        return httpx.Client(base_url=self.credentials[face], verify=context, http2=face == "provider", headers=headers, timeout=30)


@contextlib.contextmanager
def running(binary):
    """Starts `dev` on free ports; it must end well."""
    with tempfile.TemporaryDirectory(prefix="widgetpush-openapi-") as name, open(f"{name}/dev.log", "w+") as log:
        folder = pathlib.Path(name) / "state"
        ports = [word for port in ("provider", "control", "device", "plain") for word in (f"--{port}-port", "0")]
        process = subprocess.Popen(
            [binary, "dev", "--any-app", "--state-dir", folder, *ports], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            ready = process.stdout.readline()
            if not ready.startswith("ready "):
                log.seek(0)
                raise RuntimeError(f"dev did not get ready: {ready}{log.read()}")
            # What it prints from now on is for people.
            drain = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
            yield Dev(binary, folder, json.loads((folder / "credentials.json").read_text()))
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(30)
            process.stdout.close()
            drain.wait()
            if status != 0:
                log.seek(0)
                # What a crash says begins with stars.
                said = [line for line in log.read().splitlines() if line.startswith(("***", "Thread", "0 ", "1 "))]
                raise RuntimeError("\n".join([f"dev ended with {status}", *said[:20]]))


def prepare(dev):
    """Fills the deployment; returns what is there, by operation and parameter."""
    with dev.client("control", authorization=f"Bearer {dev.credentials['admin']}") as control:
        tokens = [f"{number:064x}" for number in range(10, 14)]
        victims = [f"{number:064x}" for number in range(1000, 1000 + VICTIMS)]
        body = {"bundleID": APP, "environment": "development"}
        rows = [
            {**body, "type": "widgets", "widgets": [{"id": "a", "kind": "Steps", "family": "systemSmall"}]},
            {**body, "type": "controls", "control": {"kind": "Lamp"}, "user": "alice", "device": "phone"},
            {**body, "type": "liveactivity", "activity": {"id": "1", "attributesType": "Match"}, "frequentUpdates": True},
            {**body, "type": "app", "quietHours": {"from": "22:00", "to": "07:00"}, "budget": {"allowance": 3}, "platform": "iOS"},
        ]
        rows = [{**row, "token": token} for row, token in zip(rows, tokens)] + [{**body, "type": "widgets", "token": token} for token in victims]
        answer = control.post("/v1/registrations", content="\n".join(json.dumps(row) for row in rows)).raise_for_status()
        if f'"created":{len(rows)}' not in answer.text:
            raise RuntimeError(f"the tokens were not registered: {answer.text}")
        control.put(f"/v1/apps/{APP}", json={"budgetMode": "enforce"}).raise_for_status()
        channel = send(dev, tokens)
        reloads = [control.post("/v1/reloads", json={"bundleID": APP, "all": True}).raise_for_status().json()["id"] for _ in range(3)]
        # The outcome of the API's example, which may be told again.
        reloaded = lambda pushes: [push["id"] for push in pushes if (push["disposition"], push.get("cause")) == ("applied", "reloaded")]
        # Asked for by itself: of all pushes, the newest page may have none yet.
        applied = lambda: reloaded(control.get("/v1/pushes?disposition=applied").json()["pushes"])
        until(applied)
        told = applied()
        # A broadcast has its place after the pushes of its id.
        pushes = control.get("/v1/pushes").json()["pushes"]
        apps = [f"com.example.app{number}" for number in range(VICTIMS)]
        for app in apps:
            control.put(f"/v1/apps/{app}", json={"validation": "apple"}).raise_for_status()
        # An app of which a token is registered may be patched after it was reset.
        rows = [{**body, "bundleID": app, "type": "app", "token": f"{2000 + number:064x}"} for number, app in enumerate(apps)]
        answer = control.post("/v1/registrations", content="\n".join(json.dumps(row) for row in rows)).raise_for_status()
        if f'"created":{len(rows)}' not in answer.text:
            raise RuntimeError(f"the tokens of apps were not registered: {answer.text}")
    items = place(dev)
    return {
        "our app": APP,
        "any": {"token": tokens, "bundleID": [APP], "id": [push["id"] for push in pushes], "channelID": [channel], "device": ["phone"]},
        # Numbers of faults are given out from 1 on.
        "fault": {"id": [1, 2, 3]},
        "removeFault": {"id": list(range(4, VICTIMS))},
        "unregister": {"token": victims},
        "reload": {"id": reloads},
        "stopReload": {"id": reloads},
        "resetApp": {"bundleID": apps},
        "recordOutcome": {"id": told},
        "removeDevice": {"device": [f"device-{number}" for number in range(VICTIMS)]},
        "removeApp": {"bundleID": apps},
        "updateApp": {"bundleID": apps},
        "patchApp": {"bundleID": apps},
        "removeWidget": {"id": items["widgets"]},
        "removeControl": {"id": items["controls"]},
        "dismissActivity": {"id": items["activities"]},
    }


def send(dev, tokens):
    """Sends pushes that end in many ways, and a broadcast; returns its channel."""
    authorization = f"bearer {dev.command('token').strip()}"
    now = int(time.time())
    with dev.client("provider", authorization=authorization) as provider:
        reload = json.dumps({"aps": {"content-changed": True}})
        for suffix, kind, token, payload in [
            (".push-type.widgets", "widgets", tokens[0], reload),
            (".push-type.widgets", "widgets", tokens[0], reload),  # it waits
            (".push-type.widgets", "widgets", tokens[0], reload),  # it is merged
            (".push-type.controls", "controls", tokens[1], reload),
            (".push-type.widgets", "widgets", tokens[1], reload),  # it is refused
            (".push-type.widgets", "widgets", "abcdef", reload),  # this one, too
            (".push-type.liveactivity", "liveactivity", tokens[2], json.dumps({"aps": {"timestamp": now, "event": "update", "content-state": {}}})),
            ("", "alert", tokens[3], json.dumps({"aps": {"alert": "Hello"}, "more": 1})),
        ]:
            headers = {"apns-topic": APP + suffix, "apns-push-type": kind, "apns-priority": "10"}
            provider.post(f"/3/device/{token}", headers=headers, content=payload)
        answer = provider.post(f"/1/apps/{APP}/channels", json={"message-storage-policy": 1, "push-type": "LiveActivity"})
        channel = answer.raise_for_status().headers["apns-channel-id"]
        headers = {"apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-priority": "10", "apns-expiration": str(now + 3600)}
        payload = {"aps": {"event": "update", "timestamp": now, "content-state": {"goals": 1}}}
        provider.post(f"/4/broadcasts/apps/{APP}", headers=headers, json=payload).raise_for_status()
    return channel


def place(dev):
    """Devices, apps and items for the calls that delete them; returns the items' ids."""
    items = {"widgets": [], "controls": [], "activities": []}
    with dev.client("device", authorization=f"Bearer {dev.credentials['admin']}") as device:
        for number in range(VICTIMS):
            device.put(f"/v1/devices/device-{number}").raise_for_status()
            device.post("/v1/devices/phone/apps?wait=0s", json={"bundleID": f"com.example.app{number}"}).raise_for_status()
        for name, what in [("widgets", {"kind": "Steps"}), ("controls", {"kind": "Lamp"}), ("activities", {"attributesType": "Match"})]:
            for _ in range(VICTIMS // 2):
                answer = device.post(f"/v1/devices/phone/{name}?wait=0s", json={"bundleID": APP, **what}).raise_for_status()
                items[name].append(answer.json()["id"])
    return items


def until(holds):
    """Waits until it does."""
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError("the fixtures' pushes did not reach the device")
        time.sleep(0.05)
