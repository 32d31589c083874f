"""The control face: answers that nobody reads, and connections that show no credential."""
import contextlib
import http.client
import json
import pathlib
import re
import resource
import socket
import ssl
import statistics
import time

from attack import MB, attack
from attacker import that

APP = "com.example.app"
# Milliseconds within which health is told.
HEALTH_MS = 100


def _address(a):
    host, port = re.fullmatch(r".*?([^/]+):(\d+)", a.server.control).groups()
    return host, int(port)


def _token(a, name):
    return json.loads(pathlib.Path(f"{a.server.folder}/credentials.json").read_text())[name]


def _call(connection, method, path, token, body=None):
    connection.request(method, path, body and json.dumps(body), {"authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    return answer.status, answer.read()


@contextlib.contextmanager
def _client(a, timeout=30):
    """A connection of a client that is in earnest."""
    connection = http.client.HTTPSConnection(*_address(a), context=ssl.create_default_context(cafile=a.server.ca), timeout=timeout)
    try:
        yield connection
    finally:
        connection.close()


def _health(a):
    """Milliseconds that `/livez` takes on a connection of its own."""
    began = time.monotonic()
    with _client(a, 5) as connection:
        connection.request("GET", "/livez")
        that(connection.getresponse().status == 200, "health that is told", "another status")
    return (time.monotonic() - began) * 1000


def _all_descriptors(count):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    that(hard > count + 200, f"{count + 200} descriptors of our own (ulimit -Hn)", hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _largest(number):
    """A registration that is as large as one may be."""
    name = "n" * 253
    widgets = [{"id": f"{index:03}{name}", "kind": f"{index:03}{name}", "family": "systemExtraLarge"} for index in range(64)]
    return {"type": "widgets", "bundleID": APP, "environment": "development", "user": name, "device": f"{number:03}{name}",
            "widgets": widgets}


@attack(peak=120, slowdown=10)
def unread_lists(a):
    """Four hundred lists of the largest registrations that nobody reads: memory stays bounded, health is told, pushes go."""
    _all_descriptors(400)
    count = 400 if a.long else 100
    admin, read = _token(a, "admin"), _token(a, "read")
    paths = [f"/v1/registrations/{'ab' * 31}{number // 256:02x}{number % 256:02x}" for number in range(count)]
    context = ssl.create_default_context(cafile=a.server.ca)
    open_, times = [], []
    with _client(a) as client:
        # A try that missed a bound has left its own.
        for path in paths:
            _call(client, "DELETE", path, admin)
        for number, path in enumerate(paths):
            that((came := _call(client, "PUT", path, admin, _largest(number)))[0] == 201, "a registration", came)
        try:
            for _ in range(400):
                raw = socket.socket()
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.settimeout(30)
                raw.connect(_address(a))
                open_.append(context.wrap_socket(raw, server_hostname="localhost"))
                open_[-1].sendall(f"GET /v1/registrations?limit=1000 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {read}\r\n\r\n".encode())
                if len(open_) % 20 == 0:
                    times.append(_health(a))
            statuses = [each.recv(12)[9:] for each in open_]
            times += [_health(a) for _ in range(20)]
            that(a.push()[0] == 400, "a push that is judged", "another answer")
            peak = a.server.memory("VmHWM")
        finally:
            for each in open_:
                each.close()
        kinds = {status: statuses.count(status) for status in set(statuses)}
        that(kinds.get(b"200", 0) > 0 and not kinds.keys() - {b"200", b"429", b"503"}, "some lists, and errors for the others", kinds)
        that(statistics.median(times) < HEALTH_MS, f"health within {HEALTH_MS} ms", f"{statistics.median(times):.0f} ms")
        that(peak < 200 * MB, "less than 200 MB", f"{peak // MB} MB")
        # There is room again, and each row is found, page by page.
        found, after = 0, ""
        while after is not None:
            status, body = _call(client, "GET", f"/v1/registrations?limit=1000{after}", read)
            that(status == 200 and len(body) < 3 * MB, "a page that is bounded", f"{status}, {len(body)} bytes")
            page = json.loads(body)
            found += len(page["registrations"])
            after = f"&after={page['next']}" if "next" in page else None
        that(found == count, f"{count} registrations", found)
        for path in paths:
            _call(client, "DELETE", path, admin)
    return f"{kinds}, health within {max(times):.0f} ms"


@attack(peak=120, slowdown=10)
def strangers(a):
    """Two hundred connections a second that show no credential, beyond all places there are: health is told, and who has one is served."""
    _all_descriptors(6000)
    read = _token(a, "read")
    context = ssl.create_default_context(cafile=a.server.ca)
    seconds, rate, held = 20 if a.long else 1, 200, []

    def stranger(kind):
        raw = socket.create_connection(_address(a), timeout=30)
        held.append(raw)
        if kind == 1:
            raw.sendall(b"\x16\x03\x01")
        elif kind == 2:
            held[-1] = context.wrap_socket(raw, server_hostname="localhost")
            held[-1].sendall(b"GET /v1/pushes HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer guessed\r\n\r\n")
    times, served = [], 0
    with _client(a) as client:
        that(_call(client, "GET", "/metrics", read)[0] == 200, "an admitted client", "another answer")
        try:
            # All places are taken to begin with.
            for _ in range(1100):
                stranger(0)
            began = time.monotonic()
            for number in range(rate * seconds):
                # A stranger who came late may be closed before he has said anything; whoever comes next takes his place.
                with contextlib.suppress(OSError):
                    stranger(number % 3)
                if number % 25 == 0:
                    times.append(_health(a))
                    that(_call(client, "GET", "/v1/pushes", read)[0] == 200, "an admitted client that is served on", "another answer")
                    served += 1
                time.sleep(max(0, began + number / rate - time.monotonic()))
            with _client(a, 10) as late:
                that(_call(late, "GET", "/v1/pushes", read)[0] == 200, "an admitted client that comes late", "another answer")
        finally:
            for each in held:
                each.close()
    that(statistics.median(times) < HEALTH_MS, f"health within {HEALTH_MS} ms", f"{statistics.median(times):.0f} ms")
    return f"{len(held)} strangers, {served} calls and as many looks at health served, within {max(times):.0f} ms"
