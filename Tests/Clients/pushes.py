"""What a client is asked to send, and what it makes of the answer."""

import dataclasses
import json
import time

APP = "com.example.app"
# The app whose budget is one reload a day, and which answers 429 beyond it.
THRIFTY_APP = "com.example.thrifty"


@dataclasses.dataclass(frozen=True)
class Push:
    """One push, without the headers that a client adds of its own."""

    type: str
    token: str
    topic: str
    payload: dict

    @property
    def body(self) -> str:
        """The payload as the clients without a type for payloads send it."""
        return json.dumps(self.payload, separators=(",", ":"))


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the client made of the gateway's answer."""

    # "accepted", or the client's own name for the error, as its `refusal` spells it.
    meaning: str
    # Milliseconds since 1970 of a 410, where the client tells them.
    timestamp: int | None = None
    # The local end of the connection, where the client tells it.
    connection: str | None = None


ACCEPTED = "accepted"


@dataclasses.dataclass(frozen=True)
class Provider:
    """What a client is configured with: a server, and a key to sign provider tokens with."""

    host: str
    port: int
    key_file: str
    key_id: str
    team_id: str


def alert(token: str, text: str = "Tea is ready") -> Push:
    return Push("alert", token, APP, {"aps": {"alert": text}})


def live_activity(token: str) -> Push:
    state = {"timestamp": int(time.time()), "event": "update", "content-state": {"stops": 3}}
    return Push("liveactivity", token, f"{APP}.push-type.liveactivity", {"aps": state})


def widgets(token: str, app: str = APP) -> Push:
    return Push("widgets", token, f"{app}.push-type.widgets", {"aps": {"content-changed": True}})
