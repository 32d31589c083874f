"""What every client must be able to do, and every refusal it must see as an error of its own.

A case returns what was expected and what came, as text; it passes when the two are equal.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator

from control import Control
from pushes import ACCEPTED, APP, THRIFTY_APP, Answer, Push, alert, live_activity, widgets
from scenario import Scenario, new_token

# How long the mock device may take to apply the last push of a burst.
APPLY_SECONDS = 20
# Provider tokens serve for an hour.
EXPIRED_SECONDS = 3700

Case = Callable[[], tuple[str, str]]


class Cases:
    """The cases for one client, in their order; each runs when it is called."""

    def __init__(self, make: type, scenario: Scenario, control: Control):
        self._make, self._scenario, self._control = make, scenario, control
        self._client = make(scenario.provider)

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        yield "alert", lambda: self._applied(alert, "app")
        yield "liveactivity", lambda: self._applied(live_activity, "liveactivity")
        yield "widgets", lambda: self._applied(widgets, "widgets")
        for number in range(self._scenario.rounds):
            yield f"burst {number + 1}", self._burst
        yield "400", lambda: self._refused(400, "BadDeviceToken", alert(new_token()))
        yield "403 foreign key", self._foreign_key
        if self._make.signs_here:
            yield "403 expired", self._expired
        yield "410", self._retired
        yield "413", lambda: self._refused(413, "PayloadTooLarge", alert(self._scenario.burst[0], "x" * 5000))
        yield "429", lambda: self._refused(429, "TooManyRequests", widgets(self._scenario.spent, THRIFTY_APP))
        yield "alert after refusals", lambda: self._applied(alert, "app")

    def close(self) -> None:
        self._client.close()

    def _applied(self, make_push: Callable[[str], Push], kind: str) -> tuple[str, str]:
        push = make_push(new_token())
        self._control.register(push.token, kind, APP)
        answer = self._client.push(push)
        return f"{ACCEPTED}, applied", f"{answer.meaning}, {self._control.disposition(push.token)}"

    def _burst(self) -> tuple[str, str]:
        first, *rest = map(alert, self._scenario.burst)
        before = self._control.applied("alert")
        answers = self._client.burst(first, rest)
        applied = self._control.wait_for_applied("alert", before + 1 + len(rest), APPLY_SECONDS) - before
        connections = len({answer.connection for answer in answers})
        expected = f"{{'{ACCEPTED}': {1 + len(rest)}}}, {1 + len(rest)} applied, connections: 1"
        return expected, f"{dict(Counter(answer.meaning for answer in answers))}, {applied} applied, connections: {connections}"

    def _refused(self, status: int, reason: str, push: Push) -> tuple[str, str]:
        return self._client.refusal(status, reason), self._client.push(push).meaning

    def _foreign_key(self) -> tuple[str, str]:
        return self._refused_token("InvalidProviderToken", self._make(self._scenario.foreign))

    def _expired(self) -> tuple[str, str]:
        client = self._make(self._scenario.provider, issued=int(time.time()) - EXPIRED_SECONDS)
        return self._refused_token("ExpiredProviderToken", client)

    def _refused_token(self, reason: str, client: object) -> tuple[str, str]:
        try:
            return client.refusal(403, reason), client.push(alert(self._scenario.burst[0])).meaning
        finally:
            client.close()

    def _retired(self) -> tuple[str, str]:
        answer: Answer = self._client.push(alert(self._scenario.retired))
        recent = answer.timestamp is not None and 0 <= time.time() * 1000 - answer.timestamp < 3_600_000
        return (
            f"{self._client.refusal(410, 'Unregistered')}, timestamp of this hour",
            f"{answer.meaning}, timestamp {'of this hour' if recent else answer.timestamp}",
        )
