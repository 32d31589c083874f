"""aioapns. It has no setting for the server: host and port are attributes of its protocol class, as the README shows."""

import asyncio
import logging
import pathlib

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol
from aioapns.logging import logger
from pushes import ACCEPTED, APP, Answer, Provider, Push

# It has no name for the type widgets; the topic tells it.
TYPES = {"alert": PushType.ALERT, "liveactivity": PushType.LIVEACTIVITY, "widgets": None}

# It logs every refusal as an error.
logger.setLevel(logging.CRITICAL)


class Client:
    signs_here = False

    def __init__(self, provider: Provider):
        APNsDevelopmentClientProtocol.APNS_SERVER, APNsDevelopmentClientProtocol.APNS_PORT = provider.host, provider.port
        self._runner = asyncio.Runner()
        self._apns = self._runner.run(self._make(provider))

    async def _make(self, provider: Provider) -> APNs:
        key = pathlib.Path(provider.key_file).read_text()
        return APNs(key=key, key_id=provider.key_id, team_id=provider.team_id, topic=APP, use_sandbox=True, max_connections=1)

    def push(self, push: Push) -> Answer:
        return self._runner.run(self._send(push))

    def burst(self, first: Push, pushes: list[Push]) -> list[Answer]:
        async def all_of_them() -> list[Answer]:
            return [await self._send(first), *await asyncio.gather(*map(self._send, pushes))]

        return self._runner.run(all_of_them())

    async def _send(self, push: Push) -> Answer:
        request = NotificationRequest(push.token, push.payload, push_type=TYPES[push.type], apns_topic=push.topic)
        result = await self._apns.send_notification(request)
        connection = str(self._apns.pool.connections[0].transport.get_extra_info("sockname"))
        if result.is_successful:
            return Answer(ACCEPTED, connection=connection)
        return Answer(self.refusal(result.status, result.description), result.timestamp, connection)

    def refusal(self, status: int | str, reason: str) -> str:
        return f"aioapns.NotificationResult {status} {reason}"

    def close(self) -> None:
        self._apns.pool.close()
        self._runner.close()
