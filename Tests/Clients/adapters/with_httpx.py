"""httpx with HTTP/2, as a backend uses it that talks to APNs without a library."""

import asyncio
import pathlib
import time

import httpx
import jwt
from pushes import ACCEPTED, Answer, Provider, Push

# One connection, and patience for the last of a burst.
LIMITS = httpx.Limits(max_connections=1)
TIMEOUT = httpx.Timeout(60)


class Client:
    signs_here = True

    def __init__(self, provider: Provider, issued: int | None = None):
        key = pathlib.Path(provider.key_file).read_text()
        claims = {"iss": provider.team_id, "iat": issued or int(time.time())}
        token = jwt.encode(claims, key, algorithm="ES256", headers={"kid": provider.key_id})
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(
            base_url=f"https://{provider.host}:{provider.port}",
            http2=True,
            headers={"authorization": f"bearer {token}"},
            limits=LIMITS,
            timeout=TIMEOUT,
        )

    def push(self, push: Push) -> Answer:
        return self._runner.run(self._send(push))

    def burst(self, first: Push, pushes: list[Push]) -> list[Answer]:
        async def all_of_them() -> list[Answer]:
            return [await self._send(first), *await asyncio.gather(*map(self._send, pushes))]

        return self._runner.run(all_of_them())

    async def _send(self, push: Push) -> Answer:
        headers = {"apns-topic": push.topic, "apns-push-type": push.type}
        response = await self._client.post(f"/3/device/{push.token}", headers=headers, json=push.payload)
        connection = str(response.extensions["network_stream"].get_extra_info("client_addr"))
        try:
            response.raise_for_status()
        except httpx.HTTPStatusError as error:
            told = error.response.json()
            return Answer(self.refusal(error.response.status_code, told["reason"]), told.get("timestamp"), connection)
        return Answer(ACCEPTED if response.http_version == "HTTP/2" else response.http_version, connection=connection)

    def refusal(self, status: int, reason: str) -> str:
        return f"httpx.HTTPStatusError {status} {reason}"

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()
