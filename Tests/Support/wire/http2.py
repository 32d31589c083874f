"""HTTP/2 frames and HPACK, just enough to play a client or a server that behaves as no library would.

Frames: RFC 9113 section 4. HPACK: RFC 7541; the encoder uses literals without indexing alone, the decoder knows everything.
"""
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TYPES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"]
END_STREAM = ACK = 1
END_HEADERS = 4

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([TYPES.index(kind), flags]) + struct.pack(">I", stream) + payload

class Frames:
    """Cuts a byte stream into (type, flags, stream, payload)."""
    def __init__(self): self.buffer = b""

    def feed(self, data):
        self.buffer += data
        while len(self.buffer) >= 9:
            length = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + length: return
            head, payload = self.buffer[:9], self.buffer[9:9 + length]
            self.buffer = self.buffer[9 + length:]
            kind = TYPES[head[3]] if head[3] < len(TYPES) else str(head[3])
            yield kind, head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload

def integer(value, prefix, first=0):
    limit = (1 << prefix) - 1
    if value < limit: return bytes([first | value])
    out, value = [first | limit], value - limit
    while value >= 128: out.append(value & 127 | 128); value >>= 7
    return bytes([*out, value])

def encode(fields):
    out = b""
    for name, value in fields:
        name, value = name.encode(), value.encode("latin-1")
        out += b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value
    return out

STATIC = [None] + [tuple(x.split("|")) for x in """:authority|
:method|GET
:method|POST
:path|/
:path|/index.html
:scheme|http
:scheme|https
:status|200
:status|204
:status|206
:status|304
:status|400
:status|404
:status|500
accept-charset|
accept-encoding|gzip, deflate
accept-language|
accept-ranges|
accept|
access-control-allow-origin|
age|
allow|
authorization|
cache-control|
content-disposition|
content-encoding|
content-language|
content-length|
content-location|
content-range|
content-type|
cookie|
date|
etag|
expect|
expires|
from|
host|
if-match|
if-modified-since|
if-none-match|
if-range|
if-unmodified-since|
last-modified|
link|
location|
max-forwards|
proxy-authenticate|
proxy-authorization|
range|
referer|
refresh|
retry-after|
server|
set-cookie|
strict-transport-security|
transfer-encoding|
user-agent|
vary|
via|
www-authenticate|""".split("\n")]

# Code lengths of the symbols 0 to 256 (RFC 7541 appendix B); the code is canonical, so these are all of it.
LENGTHS = [13, 23, *[28] * 7, 24, 30, 28, 28, 30, *[28] * 8, 30, *[28] * 9,
           6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, *[6] * 7, 7, 8, 15, 6, 12, 10,
           13, 6, *[7] * 22, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
           6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
           24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
           21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
           19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
           26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30]
assert len(LENGTHS) == 257 and sum(2 ** (30 - n) for n in LENGTHS) == 2 ** 30
CODES, code, last = {}, 0, 0
for length, symbol in sorted((n, s) for s, n in enumerate(LENGTHS)):
    code <<= length - last
    CODES[length, code] = symbol
    code, last = code + 1, length

def unhuffman(data):
    out, code, length = bytearray(), 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code, length = code << 1 | byte >> bit & 1, length + 1
            if (length, code) in CODES: out.append(CODES[length, code]); code = length = 0
    return bytes(out)

class Decoder:
    """One direction of one connection."""
    def __init__(self): self.dynamic = []

    def entry(self, index): return STATIC[index] if index < len(STATIC) else self.dynamic[index - len(STATIC)]

    def decode(self, data):
        self.data, self.at, fields = data, 0, []
        while self.at < len(data):
            first = data[self.at]
            if first & 0x80: fields.append(self.entry(self.number(7))); continue
            if first & 0xE0 == 0x20: self.number(5); continue                      # table size update
            index = self.number(6 if first & 0x40 else 4)
            name = self.entry(index)[0] if index else self.text()
            fields.append((name, self.text()))
            if first & 0x40: self.dynamic.insert(0, fields[-1]); self.evict()
        return fields

    def evict(self):
        while sum(len(n) + len(v) + 32 for n, v in self.dynamic) > 4096: self.dynamic.pop()

    def number(self, prefix):
        limit = (1 << prefix) - 1
        value = self.data[self.at] & limit; self.at += 1
        if value < limit: return value
        shift = 0
        while True:
            byte = self.data[self.at]; self.at += 1
            value += (byte & 127) << shift; shift += 7
            if not byte & 128: return value

    def text(self):
        huffman = self.data[self.at] & 0x80
        length = self.number(7)
        raw = self.data[self.at:self.at + length]; self.at += length
        return (unhuffman(raw) if huffman else raw).decode("latin-1")
