"""Runs cases against a target, each on a connection of its own, and tells how each went."""
import concurrent.futures
import dataclasses

import case
import expect
import fields
import frames
from connection import Connection, Departure, Silence

CASE_SECONDS = 8
THREADS = 8
UNKNOWN_TOKEN = "00" * 32


@dataclasses.dataclass(frozen=True)
class Outcome:
    case: case.Case
    departure: str | None = None

    @property
    def passed(self):
        return self.departure is None


def run(one, target, seconds=CASE_SECONDS):
    """Runs one case; whatever goes wrong in it is a departure."""
    connection = None
    try:
        if one.start == case.NOTHING:
            one.run(target)
        else:
            connection = Connection(target, seconds)
            _begin(connection, one.start)
            one.run(connection)
        return Outcome(one)
    except Departure as departure:
        return Outcome(one, _line(connection, departure.expected, departure.came))
    except Silence:
        return Outcome(one, _line(connection, f"an end within {seconds} seconds", _story(connection)))
    except Exception as error:  # a field block that does not decode, a frame that cannot be, no connection at all
        came = f"{type(error).__name__} {error}, after {_story(connection)}"
        return Outcome(one, _line(connection, "an exchange that makes sense", came))
    finally:
        if connection:
            connection.close()


def _begin(connection, start):
    if start == case.TLS:
        return
    connection.handshake()
    if start == case.AUTHENTICATED:
        authenticate(connection)


def authenticate(connection):
    """Shows a valid provider token, with which a server may allow more than one stream."""
    if connection.target.token:
        stream = connection.next_stream()
        push = fields.request(("authorization", "bearer " + connection.target.token), ("apns-topic", "com.example.app"),
                              method="POST", path="/3/device/" + UNKNOWN_TOKEN)
        connection.send(frames.headers(stream, fields.block(*push), end=False), frames.data(stream, b'{"aps":{"alert":"hello"}}', end=True))
        expect.answered(connection, stream, connection.target.unknown_status)
    connection.forget()


def _story(connection):
    return connection.story() if connection else "nothing"


def _line(connection, expected, came):
    """What a report says: the last of what was sent, each cut to a length that can be read."""
    sent = connection.sent if connection else []
    sent = [each if len(each) < 240 else each[:240] + "…" for each in sent if each != "PING"][-4:]
    return f"sent {'; '.join(sent) or 'nothing'} | expected {expected} | came {came}"


def run_all(cases, target, seconds=CASE_SECONDS):
    """The outcomes in the order of the cases."""
    pool = concurrent.futures.ThreadPoolExecutor(THREADS)
    try:
        return list(pool.map(lambda one: run(one, target, seconds), cases))
    finally:
        pool.shutdown(cancel_futures=True)
