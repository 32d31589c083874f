"""RFC 9113 section 3: how a connection starts."""
import expect
import fields
import frames
from case import NOTHING, TLS, case
from connection import Connection

FIRST_REQUEST = frames.headers(1, fields.get())


@case("RFC 9113 3.2", NOTHING, each={
    "h2": ("h2",), "h2 before http/1.1": ("h2", "http/1.1"), "h2 after http/1.1": ("http/1.1", "h2")})
def alpn_selects_h2(target, protocols):
    """A TLS server that speaks HTTP/2 selects h2 where it is offered."""
    c = Connection(target, 5, protocols)
    try:
        expect.that(c.protocol == "h2", f"h2 selected from {protocols}", c)
        c.handshake()
        expect.serves(c)
    finally:
        c.close()


@case("RFC 9113 3.3", NOTHING)
def prior_knowledge_without_alpn(target):
    """A client that knows the server to speak HTTP/2 may send the preface at once."""
    c = Connection(target, 5, ())
    try:
        c.handshake()
        expect.serves(c)
    finally:
        c.close()


@case("RFC 9113 3.4", TLS)
def server_preface_comes_first(c):
    """The server's preface is a SETTINGS frame, the first frame it sends."""
    c.send(frames.PREFACE, frames.settings(), FIRST_REQUEST)
    first = c.read()
    expect.that(first and first.kind == frames.SETTINGS and not first.has(frames.ACK) and first.stream == 0,
                "SETTINGS without ACK on stream 0 as the first frame", c)
    expect.answered(c, 1)


@case("RFC 9113 3.4", TLS)
def server_preface_does_not_wait(c):
    """The server sends its preface without waiting for the client's, as Apple's does."""
    first = c.read()
    expect.that(first and first.kind == frames.SETTINGS, "SETTINGS before the client has sent anything", c)


@case("RFC 9113 3.4", TLS)
def request_right_after_preface(c):
    """A client may send frames right after its preface, without waiting for the server's SETTINGS."""
    c.send(frames.PREFACE, frames.settings(), FIRST_REQUEST)
    expect.answered(c, 1)


@case("RFC 9113 3.4", TLS)
def preface_in_single_bytes(c):
    """The preface may arrive in pieces of any size."""
    for octet in frames.PREFACE + frames.settings((frames.INITIAL_WINDOW_SIZE, 65_535)):
        c.send(bytes([octet]))
    c.send(FIRST_REQUEST)
    expect.answered(c, 1)


@case("RFC 9113 3.4", TLS, each={
    "wrong from the start": b"INVALID CONNECTION PREFACE\r\n\r\n",
    "wrong last byte": frames.PREFACE[:-1] + b"\t",
    "frames without it": frames.settings() + FIRST_REQUEST})
def wrong_preface(c, octets):
    """An invalid preface is a connection error PROTOCOL_ERROR."""
    c.send(octets)
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 3.4", TLS)
def http1_request(c):
    """A request of HTTP/1.1 is an invalid preface: no answer in HTTP/1.1 comes."""
    c.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 3.4", TLS, each={
    "PING": frames.ping(), "HEADERS": FIRST_REQUEST, "SETTINGS ACK": frames.settings(flags=frames.ACK),
    "WINDOW_UPDATE": frames.window_update(0, 1), "frame of unknown type": frames.frame(0xee, 0, 0)})
def first_frame_is_not_settings(c, octets):
    """The client's preface ends with a SETTINGS frame; another first frame is a connection error PROTOCOL_ERROR."""
    c.send(frames.PREFACE, octets)
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 3.4")
def second_preface(c):
    """The preface is sent once; later its bytes are a frame header with a length that is too large."""
    c.send(frames.PREFACE)
    expect.connection_error(c, frames.FRAME_SIZE_ERROR)


@case("RFC 9113 3.4", TLS)
def empty_settings_in_preface(c):
    """The SETTINGS of the client's preface may be empty, and are acknowledged."""
    c.handshake()
    expect.serves(c)
