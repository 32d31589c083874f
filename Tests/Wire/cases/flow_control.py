"""RFC 9113 sections 5.2 and 6.9: the server keeps to the client's windows, and opens its own again."""
import expect
import frames
from case import AUTHENTICATED, case

WINDOW = frames.INITIAL_WINDOW_SIZE


def _limited(c, window):
    """A GET whose answer may have `window` bytes of DATA."""
    c.send(frames.settings((WINDOW, window)))
    return c.get()


@case("RFC 9113 6.9")
def headers_need_no_window(c):
    """Only DATA is subject to flow control: with a window of zero the response's HEADERS come, and no DATA."""
    stream = _limited(c, 0)
    c.until(lambda: c.stream(stream).lists, f"HEADERS on stream {stream}")
    expect.body(c, stream, 0)


@case("RFC 9113 6.9")
def ping_needs_no_window(c):
    """PING is answered while DATA waits for a window."""
    stream = _limited(c, 0)
    c.send(frames.ping(b"no room."))
    c.until(lambda: b"no room." in c.pongs, "PING ACK")
    expect.body(c, stream, 0)


@case("RFC 9113 6.9", each={"1": 1, "5": 5, "28": 28})
def data_keeps_to_the_initial_window(c, window):
    """No more DATA comes than the stream's window allows, and no less."""
    stream = _limited(c, window)
    expect.body(c, stream, window)
    c.send(frames.window_update(stream, 1000))
    expect.answered(c, stream)


@case("RFC 9113 6.9")
def window_in_single_bytes(c):
    """Each WINDOW_UPDATE releases as much as it says."""
    stream = _limited(c, 0)
    for count in range(1, 9):
        c.send(frames.window_update(stream, 1))
        expect.body(c, stream, count)
    c.send(frames.window_update(stream, 1000))
    expect.answered(c, stream)


@case("RFC 9113 6.9")
def window_update_before_the_answer(c):
    """A window that was opened while the request is still under way counts for the answer."""
    c.send(frames.settings((WINDOW, 0)))
    stream = c.open()
    c.send(frames.window_update(stream, 7), frames.data(stream, b"{}", end=True))
    expect.body(c, stream, 7)


@case("RFC 9113 6.9", AUTHENTICATED)
def each_stream_has_its_window(c):
    """A stream without room does not stop another that has some."""
    c.send(frames.settings((WINDOW, 0)))
    first, second = c.get(), c.get()
    c.send(frames.window_update(second, 1000))
    expect.answered(c, second)
    expect.body(c, first, 0)


@case("RFC 9113 6.9.1", AUTHENTICATED)
def connection_window_is_kept(c):
    """Not a byte more than 65,535 comes on all streams together before a WINDOW_UPDATE of the connection."""
    total = 0
    while total < 60_000:
        streams = [c.stream(c.get()) for _ in range(50)]
        c.until(lambda: all(each.ended for each in streams), "END_STREAM on each stream")
        total = sum(len(each.body) for each in c.streams.values())
    while total < 65_535:
        stream = c.get()
        seen = c.stream(stream)
        c.until(lambda: seen.lists, f"HEADERS on stream {stream}")
        c.settle() if total > 65_000 else c.until(lambda: seen.ended, f"END_STREAM on stream {stream}")
        expect.that(seen.body, f"DATA on stream {stream}, for which {65_535 - total} bytes are left", c)
        total = sum(len(each.body) for each in c.streams.values())
    expect.that(total == 65_535, "65535 bytes of DATA in all", c)
    if seen.ended:
        stream = c.get()
        expect.body(c, stream, 0)
    c.send(frames.window_update(0, 1000))
    expect.answered(c, stream)


@case("RFC 9113 6.9.2")
def larger_initial_window_frees_open_streams(c):
    """A change of SETTINGS_INITIAL_WINDOW_SIZE changes the windows of open streams by the difference."""
    stream = _limited(c, 3)
    expect.body(c, stream, 3)
    c.send(frames.settings((WINDOW, 10)))
    expect.body(c, stream, 10)
    c.send(frames.settings((WINDOW, 65_535)))
    expect.answered(c, stream)


@case("RFC 9113 6.9.2")
def window_becomes_negative(c):
    """A window may become negative, and DATA goes on only when it is above zero again."""
    stream = _limited(c, 10)
    expect.body(c, stream, 10)
    c.send(frames.settings((WINDOW, 0)))
    c.send(frames.window_update(stream, 10))
    expect.body(c, stream, 10)
    c.send(frames.window_update(stream, 5))
    expect.body(c, stream, 15)


@case("RFC 9113 6.9.2")
def negative_window_is_freed_by_settings(c):
    """A negative window, too, grows with SETTINGS_INITIAL_WINDOW_SIZE."""
    stream = _limited(c, 10)
    expect.body(c, stream, 10)
    c.send(frames.settings((WINDOW, 2)))
    expect.body(c, stream, 10)
    c.send(frames.settings((WINDOW, 12)))
    expect.body(c, stream, 12)


@case("RFC 9113 6.9.2")
def initial_window_counts_from_the_preface_on(c):
    """SETTINGS_INITIAL_WINDOW_SIZE holds for streams that are opened after it, until it is changed."""
    first = _limited(c, 4)
    expect.body(c, first, 4)
    c.send(frames.window_update(first, 1000))
    expect.answered(c, first)
    second = c.get()
    expect.body(c, second, 4)


@case("RFC 9113 6.9.2", AUTHENTICATED)
def settings_leave_the_connection_window(c):
    """SETTINGS_INITIAL_WINDOW_SIZE does not touch the connection's window: a large answer's worth of it is still there."""
    c.send(frames.settings((WINDOW, 0)))
    first = c.get()
    c.until(lambda: c.stream(first).lists, f"HEADERS on stream {first}")
    c.send(frames.settings((WINDOW, frames.WINDOW_MAX)))
    expect.answered(c, first)
    c.send(frames.window_update(0, frames.WINDOW_MAX - 65_535))
    expect.serves(c)


@case("RFC 9113 6.9.2")
def initial_window_overflows_a_stream(c):
    """A SETTINGS_INITIAL_WINDOW_SIZE that brings a stream's window above 2^31-1 is a connection error FLOW_CONTROL_ERROR."""
    stream = c.open()
    c.send(frames.window_update(stream, frames.WINDOW_MAX - 65_535), frames.settings((WINDOW, 65_536)))
    expect.connection_error(c, frames.FLOW_CONTROL_ERROR)


@case("RFC 9113 5.2.1")
def upload_above_the_windows(c):
    """The server gives the windows back as it reads: a body of 200,000 bytes gets through within them."""
    stream = c.open()
    _upload(c, stream, [bytes(8000)] * 25)
    expect.accepted(c, stream)
    expect.serves(c)


@case("RFC 9113 6.1")
def padding_is_credited(c):
    """The whole payload of DATA counts, padding too, and all of it is given back."""
    stream = c.open()
    _upload(c, stream, [frames.padded(b"x", 255)] * 400, frames.PADDED)
    expect.accepted(c, stream)
    expect.serves(c)


def _upload(c, stream, payloads, flags=0):
    """Sends a body without ever passing a window, and stops where the server has answered before."""
    used, seen = 0, c.stream(stream)
    for number, payload in enumerate(payloads, 1):
        room = lambda: 65_535 + min(c.window_updates.get(0, 0), c.window_updates.get(stream, 0)) - used
        c.until(lambda: room() >= len(payload) or seen.ended or seen.reset is not None, "WINDOW_UPDATE of stream and connection")
        if seen.ended or seen.reset is not None:
            return
        c.send(frames.data(stream, payload, end=number == len(payloads), flags=flags))
        used += len(payload)
