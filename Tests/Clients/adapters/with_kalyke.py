"""kalyke-apns. It has no setting for the server; a subclass gives another base URL. It makes a connection, and a provider token, for each push."""

import asyncio
import enum

from kalyke import ApnsClient, ApnsConfig, ApnsPushType, LiveActivityApnsConfig
from kalyke.exceptions import ApnsProviderException
from pushes import ACCEPTED, Answer, Provider, Push

# Connections that a burst has open at a time.
CONCURRENT = 16


class MissingPushType(enum.Enum):
    """The push type that the library's own enumeration lacks, in its form."""

    WIDGETS = "widgets"


class Client:
    signs_here = False

    def __init__(self, provider: Provider):
        class ToServer(ApnsClient):
            @property
            def _base_url(self) -> str:
                return f"https://{provider.host}:{provider.port}"

        self._client = ToServer(
            use_sandbox=True, team_id=provider.team_id, auth_key_id=provider.key_id, auth_key_filepath=provider.key_file
        )
        self._runner = asyncio.Runner()

    def push(self, push: Push) -> Answer:
        return self._runner.run(self._send(push))

    def burst(self, first: Push, pushes: list[Push]) -> list[Answer]:
        async def all_of_them() -> list[Answer]:
            gate = asyncio.Semaphore(CONCURRENT)

            async def in_turn(push: Push) -> Answer:
                async with gate:
                    return await self._send(push)

            return [await self._send(first), *await asyncio.gather(*map(in_turn, pushes))]

        return self._runner.run(all_of_them())

    async def _send(self, push: Push) -> Answer:
        try:
            identifier = await self._client.send_message(push.token, push.payload, self._configuration(push))
        except ApnsProviderException as error:
            return Answer(self.refusal(0, type(error).__name__), error.error.get("timestamp"))
        return Answer(ACCEPTED if identifier else "accepted without apns-id")

    def refusal(self, status: int, reason: str) -> str:
        return f"kalyke.exceptions.{reason}"

    def close(self) -> None:
        self._runner.close()

    @staticmethod
    def _configuration(push: Push) -> ApnsConfig:
        if push.type == "liveactivity":
            return LiveActivityApnsConfig(topic=push.topic)
        return ApnsConfig(topic=push.topic, push_type=MissingPushType.WIDGETS if push.type == "widgets" else ApnsPushType.ALERT)
