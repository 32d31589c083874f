"""Connections: many, slow, half-open, and TLS that goes wrong."""
import concurrent.futures
import os
import resource
import socket
import ssl
import time

from OpenSSL import SSL

import fields
import frames
from attack import attack
from attacker import Silence, that
from idle_connections import STATUS_400, Idle

HANDSHAKE_SECONDS = 10
REQUEST_SECONDS = 30
SWEEP_SECONDS = 3


def _raw(a):
    raw = socket.create_connection(("127.0.0.1", a.server.port), timeout=60)
    return raw


def _until_closed(raw, began):
    """Seconds from `began` until the server hangs up."""
    raw.settimeout(60)
    try:
        while raw.recv(65_536):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    return time.monotonic() - began


def _client_hello():
    """What a TLS client says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    secure = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        secure.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


@attack(waits=True, refused={"half a ClientHello": "handshake_timeout", "a whole one": "handshake_timeout"}, each={"nothing": b"", "half a ClientHello": _client_hello()[:100], "a whole one": _client_hello()})
def half_open_tls(a, octets):
    """Handshakes that are never finished: closed after ten seconds."""
    began = time.monotonic()
    raws = [_raw(a) for _ in range(50)]
    for raw in raws:
        raw.sendall(octets)
    took = [_until_closed(raw, began) for raw in raws]
    for raw in raws:
        raw.close()
    that(HANDSHAKE_SECONDS - 1 < min(took) and max(took) < HANDSHAKE_SECONDS + SWEEP_SECONDS, "an end after 10 seconds",
         f"{min(took):.1f} to {max(took):.1f}")
    return f"closed after {max(took):.1f} s"


@attack(waits=True, refused="handshake_timeout")
def no_preface(a):
    """A TLS handshake and then nothing: closed after ten seconds."""
    began = time.monotonic()
    took = _until_closed(a.tls().socket, began)
    that(took < HANDSHAKE_SECONDS + SWEEP_SECONDS, "an end after 10 seconds", f"{took:.1f}")
    return f"closed after {took:.1f} s"


@attack(waits=True)
def slow_headers(a):
    """A header list of which a byte a second comes: answered after thirty seconds, and its stream is closed."""
    made = a.connect(authenticated=True)
    stream = made.next_stream()
    began = time.monotonic()
    made.socket.sendall(frames.headers(stream, fields.post(), flags=0))
    rest, sent = frames.continuation(stream, fields.literal("x-a", "b" * 100)), 0
    while not made.stream(stream).lists and made.stream(stream).reset is None:
        took = time.monotonic() - began
        that(took < REQUEST_SECONDS + SWEEP_SECONDS, "an answer after 30 seconds", made.story())
        if took > sent:
            made.socket.sendall(rest[sent:sent + 1])
            sent += 1
        made.deadline = time.monotonic() + 0.2
        try:
            that(made.read(), "an answer after 30 seconds", made.story())
        except Silence:
            pass
    that(took > REQUEST_SECONDS - 1, "time for a slow client", f"{took:.1f} s")
    return f"status {made.stream(stream).status} after {took:.1f} s"


@attack(waits=True)
def slow_body(a):
    """Bodies of which a byte a second comes: IdleTimeout after thirty seconds, and the connection serves on."""
    made = a.connect(authenticated=True)
    opened = [made.next_stream() for _ in range(20)]
    began = time.monotonic()
    made.send(*(frames.headers(stream, fields.block(*fields.request(("authorization", "bearer " + a.server.token), method="POST",
                                                                    path="/3/device/" + "22" * 32)), end=False) for stream in opened))
    made.deadline = began + REQUEST_SECONDS + SWEEP_SECONDS + 5
    beats = 0
    while not all(made.stream(each).ended or made.stream(each).reset is not None for each in opened):
        that(time.monotonic() < made.deadline - 2, "answers after 30 seconds", made.story())
        if time.monotonic() - began > beats:
            beats += 1
            made.send(*(frames.data(each, b" ") for each in opened if made.stream(each).is_untouched))
            made.send(frames.ping(), name="PING")
        made.read()
    took = time.monotonic() - began
    answers = {(made.stream(each).status, bytes(made.stream(each).body)) for each in opened}
    that(answers == {(400, b'{"reason":"IdleTimeout"}')}, "400 IdleTimeout on each", answers)
    that(a.push(connection=made)[0] == 400, "a connection that serves on", made.story())
    return f"IdleTimeout after {took:.1f} s"


@attack(slowdown=None, refused="handshake_failed")
def renegotiation(a):
    """Handshakes within a TLS 1.2 connection are refused."""
    context = SSL.Context(SSL.TLSv1_2_METHOD)
    context.set_alpn_protos([b"h2"])
    raw = _raw(a)
    raw.setblocking(True)
    secure = SSL.Connection(context, raw)
    secure.set_connect_state()
    secure.do_handshake()
    secure.sendall(frames.PREFACE + frames.settings())
    refused = None
    try:
        for _ in range(50):
            secure.renegotiate()
            secure.do_handshake()
            secure.sendall(frames.ping())
            secure.recv(65_536)
    except (SSL.Error, OSError) as error:
        refused = error
    raw.close()
    that(refused is not None, "a refusal", "fifty renegotiations")
    return f"refused: {refused}"


@attack()
def handshake_flood(a):
    """Handshakes as fast as four clients make them, each hung up at once."""
    context = ssl.create_default_context(cafile=a.server.ca)
    context.check_hostname = False
    end = time.monotonic() + a.seconds

    def shake():
        count = 0
        while time.monotonic() < end:
            with _raw(a) as raw, context.wrap_socket(raw, server_hostname="localhost"):
                count += 1
        return count
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        count = sum(each.result() for each in [pool.submit(shake) for _ in range(4)])
    return f"{count / a.seconds:.0f} handshakes a second"


SAID = {"nothing": b"", "a ClientHello": _client_hello(), "garbage": b"\x80" * 300, "HTTP/1.1": b"GET / HTTP/1.1\r\n\r\n"}


@attack(each=SAID, refused={said: "handshake_failed" for said in SAID if said != "nothing"})
def connection_flood(a, octets):
    """Connections as fast as they can be made, with a few bytes, and gone again."""
    count, end = 0, time.monotonic() + a.seconds
    while time.monotonic() < end:
        with _raw(a) as raw:
            raw.sendall(octets)
            count += 1
    return f"{count / a.seconds:.0f} connections a second"


@attack(descriptors=256, slowdown=10, refused="gave_way", may={"no_descriptors"})
def out_of_descriptors(a):
    """More connections than a process of 256 descriptors can have: the others are served, and so is what comes after."""
    raws = []
    for _ in range(400):
        raws.append(_raw(a))
    used = len(os.listdir(f"/proc/{a.server.process.pid}/fd"))
    that(used < 256, "fewer than 256 descriptors in use", used)
    with socket.create_connection(("127.0.0.1", int(a.server.control.rsplit(":", 1)[1])), timeout=5) as raw:
        context = ssl.create_default_context(cafile=a.server.ca)
        with context.wrap_socket(raw, server_hostname="localhost") as secure:
            secure.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
            that(secure.recv(100).startswith(b"HTTP/1.1 200"), "a control face that answers", "something else")
    that(a.push()[0] == 400, "a handshake for which the oldest gives way", "another answer")
    for raw in raws:
        raw.close()
    time.sleep(0.1)
    that(a.push()[0] == 400, "a server that serves again", "another answer")
    return f"{used} descriptors in use"


@attack(peak=700, slowdown=None, may={"gave_way"})
def half_open_beyond_all_places(a):
    """Half-open connections, in the long run more than there are places: handshakes of others go on, and who was there is served."""
    count = 10_400 if a.long else 1000
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    that(hard > count + 100, f"{count + 100} descriptors of our own (ulimit -Hn)", hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before, raws = a.connect(), []
    that(a.push(connection=before)[0] == 400, "a server that serves", "another answer")
    try:
        for _ in range(count):
            raws.append(_raw(a))
        for _ in range(10):
            that(a.push()[0] == 400, "a handshake beside them", "another answer")
        that(a.push(connection=before)[0] == 400, "a connection that serves on", "another answer")
    finally:
        for raw in raws:
            raw.close()
    return f"{count} half-open connections"


@attack(peak=450, slowdown=5)
def idle_connections(a):
    """A thousand connections that rest, ten thousand in the long run, from the start and after a request on each."""
    count = 10_000 if a.long else 1000
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    that(hard > count + 100, f"{count + 100} descriptors of our own (ulimit -Hn)", hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    context = ssl.create_default_context(cafile=a.server.ca)
    context.set_alpn_protocols(["h2"])
    block = fields.block(*fields.request(("authorization", "bearer " + a.server.token), ("apns-topic", "com.example.app"),
                                         method="POST", path="/3/device/" + "22" * 32))
    before, idle, each = a.server.memory(), [], []
    try:
        for _ in range(count):
            idle.append(Idle(context, a.server.port))
        time.sleep(1.5)
        each.append((a.server.memory() - before) / count)
        for one in idle:
            that(one.send(block, b'{"aps":{"alert":"hello"}}') == STATUS_400, "400 on each, for a token that nobody knows", "another answer")
        time.sleep(1.5)
        each.append((a.server.memory() - before) / count)
        for one in idle[::97]:
            one.ping()
    finally:
        for one in idle:
            one.socket.close()
    words = f"{each[0] / 1024:.1f} KB a connection, {each[1] / 1024:.1f} KB after a request on each"
    that(max(each) < 44 * 1024, "less than 44 KB a connection", words)
    return words


def _error(name, *octets, preface=True):
    """What breaks a rule of the connection, behind the preface or in its place, and the kind it counts as."""
    return b"".join(([frames.PREFACE, frames.settings()] if preface else []) + list(octets)), name


STRANGERS = {
    "HTTP/1.1": _error("http1", b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", preface=False),
    "garbage": _error("garbage", bytes(range(200, 250)) * 10, preface=False),
    "DATA on no stream": _error("protocol_error", frames.data(0, b"x")),
    "a window too large": _error("flow_control_error", frames.window_update(0, frames.WINDOW_MAX)),
    "a PING of seven bytes": _error("frame_size_error", frames.frame(frames.PING, 0, 0, b"7 bytes")),
    "an index of nothing": _error("compression_error", frames.headers(1, fields.indexed(120))),
}


@attack(each=STRANGERS, refused={name: kind for name, (_, kind) in STRANGERS.items()}, slowdown=None)
def stranger(a, said):
    """Who does not speak HTTP/2, or breaks a rule of its connections, is told GOAWAY and hung up on, and counted by kind."""
    secure = a.tls().socket
    secure.settimeout(10)
    secure.sendall(said[0])
    came = b""
    try:
        while more := secure.recv(65_536):
            came += more
    except (ConnectionError, ssl.SSLError):
        pass
    that(b"\x07\x00\x00\x00\x00\x00" in came, "a GOAWAY", came[-40:])
    return f"{len(came)} bytes of answer"
