"""Header lists that grow on their way in, and fields that are longer than anybody's."""
import itertools

import expect
import fields
import frames
from attack import attack
from attacker import that

BEGIN = fields.indexed(fields.METHOD_POST) + fields.indexed(fields.SCHEME_HTTPS) + fields.literal(fields.PATH_ROOT, "/3/device/00")
LITERAL = fields.literal("x-a", "b" * 4000)


@attack(exact=True, refused="flood", each={"empty": b"", "small": fields.literal("a", "b"), "full": LITERAL * 4})
def continuation_flood(a, piece):
    """A header list that never ends (CVE-2024-28182)."""
    def pieces(made):
        stream = made.next_stream()
        return itertools.chain([frames.headers(stream, BEGIN, flags=0)], itertools.repeat(frames.continuation(stream, piece, flags=0)))
    floods = a.repeatedly(pieces, authenticated=False)
    that(len(floods) > 1 and floods[0].closed, "the server to hang up", floods[0])
    return f"{len(floods)} connections, the first {floods[0]}"


def _bomb(made):
    """A field of 4,000 bytes put into the table once, then named by single bytes, 16,000 of them in each list."""
    yield frames.headers(made.next_stream(), BEGIN + fields.literal("x-a", "b" * 3900, fields.INCREMENTAL))
    bomb = BEGIN + fields.indexed(fields.FIRST_DYNAMIC) * 16_000
    while True:
        yield frames.headers(made.next_stream(), bomb)


@attack(exact=True, refused="flood")
def hpack_bomb(a):
    """Single bytes that stand for thousands, 64 MB a list (CVE-2016-6581)."""
    floods = a.repeatedly(_bomb)
    that(floods[0].closed, "the server to hang up", floods[0])
    return f"{len(floods)} connections, {sum(each.sent for each in floods) / 16_000:.0f} bombs"


@attack(exact=True, refused="flood")
def hpack_table_churn(a):
    """Table sizes that change in every list, and entries that drive each other out."""
    churn = fields.size_update(0) + fields.size_update(4096) + BEGIN + fields.literal("x-a", "b" * 3900, fields.INCREMENTAL) * 3

    def pieces(made):
        return (frames.headers(made.next_stream(), churn) for _ in itertools.count())
    floods = a.repeatedly(pieces)
    return f"{len(floods)} connections, {sum(each.sent for each in floods) / len(churn):.0f} lists"


@attack(slowdown=None)
def header_list_of_8000_bytes(a):
    """A list of at most 8,000 bytes is a request, a larger one is answered 431 and costs no more than that."""
    made = a.connect(authenticated=True)
    pseudo = sum(len(name) + len(value) + 32 for name, value in fields.request(method="POST"))
    authorization = len("authorization") + len("bearer ") + len(a.server.token) + 32 + len("apns-topic") + len("com.example.app") + 32
    room = 8000 - authorization - pseudo - len("/3/device/" + "22" * 32) + len(fields.PATH) - len("x-a") - 32
    fits = a.push(("x-a", "b" * room), connection=made)[0]
    over = [a.push(("x-a", "b" * count), connection=made)[0] for count in (room + 1, 2 * room, 60_000)]
    that(fits == 400 and over == [431] * 3, "400, then 431 three times", f"{fits}, {over}")
    return f"{fits}, then {over}"


@attack(exact=True, refused="flood")
def many_fields(a):
    """Two hundred tiny fields in each list."""
    block = BEGIN + fields.literal("a", "b") * 200
    floods = a.repeatedly(lambda made: (frames.headers(made.next_stream(), block) for _ in itertools.count()))
    that(floods[0].closed, "the server to hang up", floods[0])
    return f"{sum(each.sent for each in floods) / len(block):.0f} lists"


PLACES = ["/3/device/{}", "/4/broadcasts/apps/{}", "/1/apps/{}/channels", "/1/apps/{}/all-channels"]
NAMES = ["apns-topic", "apns-id", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id", "apns-channel-id", "apns-request-id"]
VALUES = {
    "255": "a" * 255, "256": "a" * 256, "5000": "a" * 5000, "a suffix": "a" * 300 + ".push-type.widgets", "digits": "9" * 400,
    "invalid UTF-8": b"\xff" * 200, "two bytes each": ("\u00e9" * 200).encode(), "nothing": "",
}


@attack(slowdown=None, each={"by nobody": False, "by a backend": True})
def fields_of_any_length(a, authenticated):
    """What is kept of a refused request is cut to what the log takes: no field and no path of one request ends the gateway."""
    requests = [[(place, (name, value)) for name in NAMES for value in VALUES.values()] for place in PLACES]
    requests.append([(place.format(value),) for place in PLACES for value in ("a" * 256, "ab" * 3000, "a." * 2000, "%C3%A9" * 400)])
    authorization = [("authorization", "bearer " + a.server.token)] if authenticated else []
    seen = {}
    for group in requests:
        made = a.connect(authenticated=authenticated)
        for path, *more in group:
            stream = made.next_stream()
            block = fields.block(*fields.request(*authorization, *more, method="POST", path=path.format("22" * 32)))
            made.send(frames.headers(stream, block, end=False), frames.data(stream, b'{"aps":{"alert":"hello"}}', end=True))
            status = expect.accepted(made, stream).status
            seen[status] = seen.get(status, 0) + 1
            made.forget()
        a.drop(made)
    that(all(400 <= status < 500 for status in seen), "a refusal of each", f"{seen}")
    return ", ".join(f"{count} times {status}" for status, count in sorted(seen.items()))
