"""What a request says: payloads and provider tokens that are made to hurt, or to get in."""
import base64
import gzip
import hashlib
import hmac
import itertools
import json
import secrets
import socket
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa, utils
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

import fields
import frames
from attack import attack
from attacker import that

INVALID = (403, '{"reason":"InvalidProviderToken"}')

BODIES = {
    "deep array": b"[" * 4096,
    "deep object": b'{"a":' * 800,
    "deep and closed": b'{"aps":' + b"[" * 500 + b"]" * 500 + b"}",
    "invalid UTF-8": b'{"aps":{"alert":"\xff\xfe"}}',
    "overlong UTF-8": b'{"aps":{"alert":"\xc0\xaf"}}',
    "surrogate": b'{"aps":{"alert":"\\ud800"}}',
    "duplicate keys": b'{"aps":{"alert":"a"},"aps":{}}',
    "duplicate keys by escapes": b'{"aps":{"alert":"a"},"\\u0061ps":[]}',
    "endless number": b'{"aps":{"alert":"a"},"n":' + b"9" * 4000 + b"}",
    "huge exponent": b'{"aps":{"alert":"a","badge":1e999999999}}',
    "half a string": b'{"aps":{"alert":"' + b"\\" * 3999,
    "a zero byte": b'{"aps":\x00{"alert":"a"}}',
    "gzip": gzip.compress(b'{"aps":{"alert":"hello"}}'),
    "gzip of 4 MB": gzip.compress(bytes(4 << 20))[:4096],
    "white space": b" " * 4096,
    "many keys": b"{" + b",".join(b'"%x":0' % number for number in range(500)) + b"}",
}


@attack(each=BODIES, slowdown=None)
def body(a, octets):
    """A payload that is not what it should be: a 400."""
    status, answer = a.push(body=octets, connection=a.connect(authenticated=True))
    that(status == 400, "400", f"{status} {answer}")
    return answer[:100]


@attack(slowdown=None)
def compressed_body(a):
    """A body that says it is compressed is refused, and nothing is expanded."""
    status, answer = a.push(("content-encoding", "gzip"), body=BODIES["gzip"])
    that(status == 400 and "compressed" in answer, "400 that tells", f"{status} {answer}")
    return answer


@attack(may={"flood"})
def flood_of_bodies(a):
    """All of these at full speed."""
    block = fields.block(*fields.request(("authorization", "bearer " + a.server.token), ("apns-topic", "com.example.app"), method="POST",
                                         path="/3/device/" + "22" * 32))
    def pieces(made):
        for octets in itertools.cycle(BODIES.values()):
            stream = made.next_stream()
            yield frames.headers(stream, block, end=False) + frames.data(stream, octets, end=True)
    floods = a.repeatedly(pieces)
    return f"{len(floods)} connections, {sum(each.sent for each in floods) / 1e6:.1f} MB taken"


@attack(slowdown=None)
def oversized_body(a):
    """Fifty bodies as large as a stream's window are 413 each, and its bytes are not kept."""
    made = a.connect(authenticated=True)
    for _ in range(50):
        status, answer = a.push(body=bytes(60_000), connection=made)
        that((status, answer) == (413, '{"reason":"PayloadTooLarge"}'), "413 PayloadTooLarge", f"{status} {answer}")
    return answer


# Provider tokens

def _segment(value):
    octets = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


class _Forger:
    """Makes provider tokens that look like the gateway's own, signed with something else."""

    def __init__(self, server):
        header, claims, self.signature = server.token.split(".")
        self.header, self.claims = (json.loads(base64.urlsafe_b64decode(each + "==")) for each in (header, claims))
        self.key = ec.generate_private_key(ec.SECP256R1())
        with open(f"{server.folder}/credentials.json") as file:
            credentials = json.load(file)
        with open(f"{server.folder}/{credentials['keyFile'].rsplit('/', 1)[1]}", "rb") as file:
            self.genuine = serialization.load_pem_private_key(file.read(), None)
        self.public = self.genuine.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def signed(self, sign, claims=None, **header):
        text = _segment(self.header | header) + "." + _segment(claims or self.claims)
        return text + "." + _segment(sign(text.encode()))

    def ours(self, octets):
        return _raw_signature(self.key, octets, hashes.SHA256(), 32)

    def theirs(self, octets):
        return _raw_signature(self.genuine, octets, hashes.SHA256(), 32)


def _raw_signature(key, octets, hashing, half):
    r, s = utils.decode_dss_signature(key.sign(octets, ec.ECDSA(hashing)))
    return r.to_bytes(half) + s.to_bytes(half)


def _jwk(key):
    numbers = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "x": _segment(numbers.x.to_bytes(32)), "y": _segment(numbers.y.to_bytes(32))}


def _tokens(f):
    """Forged tokens by name."""
    p384, rsa_key = ec.generate_private_key(ec.SECP384R1()), rsa.generate_private_key(65_537, 2048)
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    yield "alg none", f.signed(lambda _: b"", alg="none")
    yield "alg None with the genuine signature", f.signed(f.theirs, alg="None")
    yield "no signature", f.signed(lambda _: b"")
    yield "alg empty", f.signed(f.theirs, alg="")
    yield "alg null", f.signed(f.theirs, alg=None)
    yield "HS256 with the public key", f.signed(lambda octets: hmac.digest(f.public, octets, hashlib.sha256), alg="HS256")
    yield "HS256 with nothing", f.signed(lambda octets: hmac.digest(b"", octets, hashlib.sha256), alg="HS256")
    yield "ES384", f.signed(lambda octets: _raw_signature(p384, octets, hashes.SHA384(), 48), alg="ES384")
    yield "P-384 as ES256", f.signed(lambda octets: _raw_signature(p384, octets, hashes.SHA256(), 48))
    yield "RS256", f.signed(lambda octets: rsa_key.sign(octets, PKCS1v15(), hashes.SHA256()), alg="RS256")
    yield "foreign key", f.signed(f.ours)
    yield "embedded jwk", f.signed(f.ours, jwk=_jwk(f.key))
    yield "x5c", f.signed(f.ours, x5c=[base64.b64encode(f.key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)).decode()])
    yield "signature of zeros", f.signed(lambda _: bytes(64))
    yield "signature of the order", f.signed(lambda _: order.to_bytes(32) * 2)
    yield "signature of ones", f.signed(lambda _: b"\xff" * 64)
    yield "DER of zeros", f.signed(lambda _: bytes.fromhex("3006020100020100"))
    yield "DER without end", f.signed(lambda _: bytes.fromhex("3084ffffffff0284ffffffff"))
    yield "kid as a path", f.signed(f.ours, kid="../../../etc/passwd")
    yield "kid empty", f.signed(f.ours, kid="")
    yield "kid of 1500 bytes", f.signed(f.ours, kid="A" * 1500)
    yield "kid as a list", f.signed(f.theirs, kid=[f.header["kid"]])
    yield "kid twice", _twice(f)
    yield "other team", f.signed(f.theirs, f.claims | {"iss": "OTHERTEAM1"})
    yield "no team", f.signed(f.theirs, {"iat": f.claims["iat"]})
    yield "iat as text", f.signed(f.theirs, f.claims | {"iat": "now"})
    yield "iat far ahead", f.signed(f.theirs, f.claims | {"iat": int(time.time()) + 90_000})
    yield "iat beyond counting", f.signed(f.theirs, f.claims | {"iat": 10**30})
    yield "crit", f.signed(f.ours, crit=["exp"])
    yield "deep header", "e30." + "." .join([_segment(b'{"alg":' * 300), "AAAA"])
    yield "two segments", f.claims and ".".join(f.signed(f.theirs).split(".")[:2])
    yield "four segments", f.signed(f.theirs) + ".AAAA"
    yield "dots", "." * 1000
    yield "not base64", "!!!.???.###"
    yield "padding only", "====.====.===="


def _twice(f):
    text = _segment(b'{"alg":"ES256","kid":"%b","kid":"ABCDEFGHIJ"}' % f.header["kid"].encode()) + "." + _segment(f.claims)
    return text + "." + _segment(f.ours(text.encode()))


@attack(slowdown=None)
def forged_tokens(a):
    """Provider tokens that must not get in, whatever they claim about their own key."""
    count = 0
    for name, token in _tokens(_Forger(a.server)):
        status, answer = a.push(token=token)
        that((status, answer) == INVALID, f"403 InvalidProviderToken for {name}", f"{status} {answer}")
        count += 1
    return f"{count} forged tokens refused"


@attack(slowdown=None)
def key_by_reference(a):
    """A token that names where its key can be fetched: nobody fetches it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/keys.json"
        forger = _Forger(a.server)
        for header in ({"jku": url}, {"x5u": url}):
            answer = a.push(token=forger.signed(forger.ours, **header))
            that(answer == INVALID, "403 InvalidProviderToken", answer)
        listener.settimeout(0.3)
        try:
            listener.accept()
        except TimeoutError:
            return "not fetched"
        that(False, "no connection", "a connection to the address in the token")


@attack(slowdown=None)
def giant_authorization(a):
    """Authorization of thousands of bytes is refused without being read."""
    made = a.connect()
    for token in ("A" * 7000, "e30." * 1700, a.server.token + " " * 6000 + "x"):
        status, answer = a.push(token=token, connection=made)
        that(status == 403, "403", f"{status} {answer}")
    return answer


@attack(refused="invalid_provider_tokens", may={"flood"})
def unknown_tokens(a):
    """Provider tokens that are all different, each of which costs the check of a signature; a connection that the server closes for them
    is followed by another."""
    forger = _Forger(a.server)
    head = "bearer " + ".".join(forger.signed(forger.ours).split(".")[:2]) + "."

    def requests(connection):
        while True:
            stream, signature = connection.next_stream(), secrets.token_urlsafe(64)
            yield frames.headers(stream, fields.block(*fields.request(("authorization", head + signature), method="POST",
                                                                      path="/3/device/" + "22" * 32)))
    floods = a.repeatedly(requests)
    that(len(floods) > 1, "connections that end", "one that went on")
    return f"{len(floods)} connections closed"
