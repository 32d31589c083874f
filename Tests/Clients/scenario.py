"""What is prepared at the gateway before the clients come, as one JSON document that each client's process reads."""

import dataclasses
import secrets

from control import Control, Device
from deployment import Deployment
from pushes import ACCEPTED, APP, THRIFTY_APP, Provider, alert, widgets


@dataclasses.dataclass
class Scenario:
    """The server for one client, and tokens in every state that a push can meet."""

    provider: Provider
    # The same, with a key that the gateway does not know.
    foreign: Provider
    control_url: str
    ca_file: str
    access_token: str
    # Tokens for a burst, one push each, and how many times over.
    burst: list[str]
    rounds: int
    # A token whose app is gone from the device, and one whose budget is spent.
    retired: str
    spent: str

    def dictionary(self) -> dict:
        return dataclasses.asdict(self)

    @classmethod
    def read(cls, values: dict) -> "Scenario":
        return cls(**{**values, "provider": Provider(**values["provider"]), "foreign": Provider(**values["foreign"])})


def new_token() -> str:
    return secrets.token_hex(32)


class Preparation:
    """Tokens that all clients share."""

    def __init__(self, deployment: Deployment, control: Control, device: Device, size: int, rounds: int):
        self._deployment = deployment
        self._rounds = rounds
        self._burst = [control.register(new_token(), "app", APP) for _ in range(size)]
        self._retired = control.register(device.install("phone", APP), "app", APP)
        device.remove("phone", APP)
        self._spent = control.register(new_token(), "widgets", THRIFTY_APP)

    def spend(self, client: object, control: Control) -> None:
        """Sends the last push that each of the two tokens takes: the gateway learns of the removal, and the budget is spent."""
        for push, end in [(alert(self._retired), "failed"), (widgets(self._spent, THRIFTY_APP), "applied")]:
            outcome = client.push(push).meaning, control.disposition(push.token)
            if outcome != (ACCEPTED, end):
                raise RuntimeError(f"the {push.type} push that prepares the tests was {outcome}, not {(ACCEPTED, end)}")

    def scenario(self, name: str) -> Scenario:
        """What the process of the client `name` is told."""
        return Scenario(
            provider=self._deployment.provider(name, name),
            foreign=self._deployment.provider(name, "foreign"),
            control_url=self._deployment.credentials["control"],
            ca_file=self._deployment.ca_file,
            access_token=self._deployment.credentials["admin"],
            burst=self._burst,
            rounds=self._rounds,
            retired=self._retired,
            spent=self._spent,
        )
