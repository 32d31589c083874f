"""curl, with the provider token and the options of Apple's recipe for the command line."""

import json
import os
import pathlib
import subprocess
import time

from pushes import ACCEPTED, Answer, Provider, Push

RECIPE = pathlib.Path(__file__).with_name("recipe.sh")
# After the body of each answer: its status, the connection's local port, and the protocol.
REPORT = r"\n%{http_code} %{local_port} %{http_version}\n"
# The exit status of --fail-with-body for an answer of 400 or more.
HTTP_ERROR = 22


class Client:
    signs_here = True

    def __init__(self, provider: Provider, issued: int | None = None):
        told = {"TEAM_ID": provider.team_id, "AUTH_KEY_ID": provider.key_id, "TOKEN_KEY_FILE_NAME": provider.key_file}
        environment = {**os.environ, **told, "JWT_ISSUE_TIME": str(issued or int(time.time()))}
        token = subprocess.run([RECIPE], env=environment, check=True, capture_output=True, text=True).stdout
        self._authorization = f"authorization: bearer {token}"
        self._url = f"https://{provider.host}:{provider.port}/3/device/"

    def push(self, push: Push) -> Answer:
        return self._send([push])[0]

    def burst(self, first: Push, pushes: list[Push]) -> list[Answer]:
        # One curl sends them one after the other, on the connection of the first.
        return self._send([first, *pushes])

    def _send(self, pushes: list[Push]) -> list[Answer]:
        topic, kind = f"apns-topic: {pushes[0].topic}", f"apns-push-type: {pushes[0].type}"
        command = ["curl", "--silent", "--show-error", "--fail-with-body", "--config", "-", "--write-out", REPORT]
        command += ["--header", topic, "--header", kind, "--header", self._authorization, "--data", pushes[0].body, "--http2"]
        urls = "".join(f'url = "{self._url}{push.token}"\n' for push in pushes)
        done = subprocess.run(command, input=urls, capture_output=True, text=True)
        if done.returncode not in (0, HTTP_ERROR):
            raise RuntimeError(f"curl ended with {done.returncode}: {done.stderr}")
        # Two lines an answer: the body, which is empty for a 200, and the report.
        lines = done.stdout.splitlines()
        answers = [self._answer(body, *report.split()) for body, report in zip(lines[::2], lines[1::2])]
        # Its exit status speaks of the last one.
        if (done.returncode == HTTP_ERROR) != (answers[-1].meaning != ACCEPTED):
            raise RuntimeError(f"curl ended with {done.returncode} after {done.stdout[-500:]}")
        return answers

    def _answer(self, body: str, status: str, port: str, version: str) -> Answer:
        if version != "2":
            return Answer(f"HTTP/{version} {status}")
        if status == "200":
            return Answer(ACCEPTED if not body else f"200 with a body: {body}", connection=port)
        told = json.loads(body)
        return Answer(self.refusal(int(status), told["reason"]), told.get("timestamp"), port)

    def refusal(self, status: int, reason: str) -> str:
        return f"curl: (22) {status} {reason}"

    def close(self) -> None:
        pass
