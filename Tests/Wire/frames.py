"""HTTP/2 frames as bytes, well formed or not: nothing here checks what it builds."""
import dataclasses
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
TYPES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
         "CONTINUATION"]

ACK = END_STREAM = 0x1
END_HEADERS = 0x4
PADDED = 0x8
WITH_PRIORITY = 0x20

(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR,
 REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM) = range(12)
ERRORS = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
          "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"]

(HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE,
 MAX_HEADER_LIST_SIZE) = range(1, 7)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_BYTES_MAX = 16_384
WINDOW_MAX = 2**31 - 1
RESERVED_BIT = 1 << 31


def error_name(code):
    return ERRORS[code] if code < len(ERRORS) else f"error {code:#x}"


def frame(kind, flags, stream, payload=b"", length=None):
    """Any frame; `stream` may carry the reserved bit, and `length` may lie."""
    return struct.pack(">I", len(payload) if length is None else length)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def padded(payload, padding):
    """`payload` between its Pad Length field and `padding` bytes of zero."""
    return bytes([padding]) + payload + bytes(padding)


def data(stream, payload=b"", end=False, flags=0):
    return frame(DATA, flags | (END_STREAM if end else 0), stream, payload)


def headers(stream, block, end=True, flags=END_HEADERS):
    return frame(HEADERS, flags | (END_STREAM if end else 0), stream, block)


def continuation(stream, block, flags=END_HEADERS):
    return frame(CONTINUATION, flags, stream, block)


def priority(stream, depends_on=0, weight=15):
    return frame(PRIORITY, 0, stream, struct.pack(">IB", depends_on, weight))


def rst_stream(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def settings(*entries, flags=0, stream=0):
    """SETTINGS of (identifier, value) pairs in their order."""
    return frame(SETTINGS, flags, stream, b"".join(struct.pack(">HI", *entry) for entry in entries))


def ping(payload=b"12345678", flags=0, stream=0):
    return frame(PING, flags, stream, payload)


def goaway(last=0, code=NO_ERROR, debug=b"", stream=0):
    return frame(GOAWAY, 0, stream, struct.pack(">II", last, code) + debug)


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


@dataclasses.dataclass
class Frame:
    """A frame that came, or was sent."""
    kind: int
    flags: int
    stream: int
    payload: bytes

    @property
    def name(self):
        return TYPES[self.kind] if self.kind < len(TYPES) else f"frame of type {self.kind:#x}"

    def has(self, flag):
        return bool(self.flags & flag)

    def __str__(self):
        words = [self.name]
        if self.stream:
            words.append(f"on {self.stream & WINDOW_MAX}")
        if self.kind in (SETTINGS, PING) and self.has(ACK):
            words.append("ACK")
        if self.kind in (DATA, HEADERS) and self.has(END_STREAM):
            words.append("END_STREAM")
        if self.kind == RST_STREAM and len(self.payload) == 4:
            words.append(error_name(struct.unpack(">I", self.payload)[0]))
        elif self.kind == GOAWAY and len(self.payload) >= 8:
            last, code = struct.unpack(">II", self.payload[:8])
            words.append(f"{error_name(code)} last {last} {self.payload[8:].decode('latin-1')!r}")
        elif self.payload:
            words.append(f"({len(self.payload)} bytes: {self.payload[:16].hex()}{'…' if len(self.payload) > 16 else ''})")
        return " ".join(words)


def parse(buffer):
    """The first whole frame of `buffer`, taken out of it, or None."""
    if len(buffer) < 9 or len(buffer) < 9 + (length := int.from_bytes(buffer[:3], "big")):
        return None
    kind, flags, stream = struct.unpack(">BBI", buffer[3:9])
    found = Frame(kind, flags, stream, bytes(buffer[9:9 + length]))
    del buffer[:9 + length]
    return found
