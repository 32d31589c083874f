"""apns2-up and mopyapns, two descendants of the module apns2: the first on hyper-up, the second on httpx.

They have no setting for the server; host and port are attributes of the class, which a subclass sets. hyper-up needs a Python before 3.12,
which took ssl.match_hostname away.
"""

import enum

import httpx
from apns2 import errors
from apns2.client import APNsClient, Notification
from apns2.credentials import TokenCredentials
from apns2.payload import Payload
from pushes import ACCEPTED, Answer, Provider, Push


class PushType(enum.Enum):
    """The push types that the module's own enumeration lacks, in its form."""

    alert = "alert"
    liveactivity = "liveactivity"
    widgets = "widgets"


class Client:
    signs_here = False

    def __init__(self, provider: Provider):
        class ToServer(APNsClient):
            SANDBOX_SERVER = provider.host
            ALTERNATIVE_PORT = provider.port

        credentials = TokenCredentials(provider.key_file, provider.key_id, provider.team_id)
        self._client = ToServer(credentials, use_sandbox=True, use_alternative_port=True)

    def push(self, push: Push) -> Answer:
        connection = None
        try:
            if push.type == "alert":
                self._client.send_notification(push.token, self._payload(push), push.topic)
            else:
                # The call above takes no push type. What it does, with one:
                sent = self._client.send_notification_async(
                    push.token, self._payload(push), push.topic, push_type=PushType[push.type]
                )
                connection = self._connection(sent)
                result = self._client.get_notification_result(sent)
                if result != "Success":
                    reason, *timestamp = (result,) if isinstance(result, str) else result
                    raise errors.exception_class_for_reason(reason)(*timestamp)
        except errors.APNsException as error:
            return Answer(self.refusal(0, type(error).__name__), getattr(error, "timestamp", None), connection)
        return Answer(ACCEPTED, connection=connection)

    def burst(self, first: Push, pushes: list[Push]) -> list[Answer]:
        notifications = [Notification(push.token, self._payload(push)) for push in pushes]
        opening = self.push(first)
        results = self._client.send_notification_batch(notifications, first.topic, push_type=PushType[first.type])
        rest = [results.get(push.token, "no result") for push in pushes]
        return [opening, *(Answer(ACCEPTED if result == "Success" else str(result)) for result in rest)]

    def refusal(self, status: int, reason: str) -> str:
        return f"apns2.errors.{reason}"

    def close(self) -> None:
        self._client._connection.close()

    @staticmethod
    def _payload(push: Push) -> Payload:
        aps = push.payload["aps"]
        return Payload(alert=aps["alert"]) if push.type == "alert" else Payload(custom=push.payload)

    @staticmethod
    def _connection(sent: object) -> str | None:
        if not isinstance(sent, httpx.Response):
            return None
        return str(sent.extensions["network_stream"].get_extra_info("client_addr"))
