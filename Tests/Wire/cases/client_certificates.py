"""Client certificates, as Apple's provider API takes them: RFC 8446 section 4.4.2, and what the first frames say."""
import contextlib
import ssl
import struct
import tempfile

import certificate
import expect
import fields
import frames
from case import NOTHING, case
from connection import Connection, Departure

FIRST = struct.pack(">HIHIHIHI", 1, 4096, 3, 1000, 5, 16_384, 6, 8000)
VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}


@contextlib.contextmanager
def _gateway(target):
    """A gateway that gives other clients one stream, and the office that it trusts."""
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        office = certificate.Office(folder)
        with target.another("--provider-client-certificates-ca", office.authority, streams=1) as server:
            yield server, office


@contextlib.contextmanager
def _connected(server, **options):
    c = Connection(server, 5, **options)
    try:
        yield c
    finally:
        c.close()


def _applies(target):
    """Whether the server is a gateway; another has no such option, and nothing to prove."""
    return target.token is not None


@case("RFC 9113 6.5.2", NOTHING, each=VERSIONS)
def all_streams_at_once_with_a_certificate(target, version):
    """A client that shows a certificate is told of 1000 streams in the first SETTINGS, which has Apple's four parameters, and before
    it has sent anything; one that shows none is told of one."""
    if not _applies(target):
        return
    with _gateway(target) as (server, office):
        paper = office.make("app", "/UID=com.example.app", certificate.DEVELOPMENT)
        with _connected(server, paper=paper, version=version) as c:
            c.acknowledges = False
            first = c.read()
            expect.that(first.kind == frames.SETTINGS and first.payload == FIRST, f"SETTINGS {FIRST.hex()}", c)
            c.send(frames.PREFACE, frames.settings(), *(frames.headers(stream, _push(), end=True) for stream in range(1, 200, 2)))
            for stream in range(1, 200, 2):
                expect.answered(c, stream, 400)
        with _connected(server, version=version) as c:
            c.acknowledges = False
            first = c.read()
            expect.that(first.payload == FIRST.replace(struct.pack(">HI", 3, 1000), struct.pack(">HI", 3, 1)), "SETTINGS with one stream", c)


@case("RFC 9113 6.8", NOTHING, each=VERSIONS)
def goaway_for_a_certificate(target, version):
    """A client whose certificate is not for the environment of its server name, or for nothing, gets SETTINGS and a GOAWAY with JSON
    that has processed nothing, byte for byte, and then the end."""
    if not _applies(target):
        return
    with _gateway(target) as (server, office):
        rows = [
            (office.make("development", "/UID=com.example.app", certificate.DEVELOPMENT), "api.push.apple.com", b"BadCertificateEnvironment"),
            (office.make("production", "/UID=com.example.app", certificate.PRODUCTION), "api.sandbox.push.apple.com", b"BadCertificateEnvironment"),
            (office.make("nobody", "/CN=nobody", certificate.DEVELOPMENT, certificate.PRODUCTION), "localhost", b"BadCertificate"),
        ]
        for paper, name, reason in rows:
            with _connected(server, paper=paper, version=version, server_name=name) as c:
                c.send(frames.PREFACE, frames.settings(), frames.headers(1, _push()))
                expect.closed(c)
                came = b"".join(bytes([each.kind]) + each.payload for each in c.came)
                debug = b'{"reason":"' + reason + b'"}'
                wanted = bytes([frames.SETTINGS]) + FIRST + bytes([frames.GOAWAY]) + bytes(8) + debug
                expect.that(came == wanted, f"SETTINGS and GOAWAY {debug!r}, {wanted.hex()}", c)


@case("RFC 8446 6.2", NOTHING, each=VERSIONS)
def alert_for_a_certificate(target, version):
    """A certificate that is over is told by the alert certificate_expired, one of an unknown authority by unknown_ca."""
    if not _applies(target):
        return
    with _gateway(target) as (server, office), tempfile.TemporaryDirectory(prefix="wire-") as folder:
        for paper, alert in [(office.make("expired", "/UID=com.example.app", days=-1), "CERTIFICATE_EXPIRED"),
                             (certificate.Office(folder).make("foreign", "/UID=com.example.app"), "UNKNOWN_CA")]:
            failure = None
            try:
                # With TLS 1.3 the client is done before its certificate is looked at.
                with _connected(server, paper=paper, version=version) as c:
                    expect.closed(c)
                    failure = c.failure
                    expect.that(not c.came, "no frame", c)
            except ssl.SSLError as error:
                failure = error
            if getattr(failure, "reason", "") != f"{'SSLV3' if alert == 'CERTIFICATE_EXPIRED' else 'TLSV1'}_ALERT_{alert}":
                raise Departure(f"the alert {alert}", failure)


def _push():
    """A push to a token that nobody has, without a provider token, a topic and a body."""
    return fields.block(*fields.request(method="POST", path="/3/device/" + "00" * 32))
