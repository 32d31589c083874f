"""Released APNs clients against a gateway: each sends pushes of every kind and a burst, and sees every refusal as its own error.

usage: run.py [--binary FILE] [--only CLIENT] [--long], with the python that scripts/venv prints. Prints a line for each failure, and
closes with `N passed, N failed`; --long repeats the bursts.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

import environment
from adapters import MODULES
from adapters.with_curl import Client as Curl
from control import Control, Device
from deployment import running
from scenario import Preparation, Scenario

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The pushes of a burst, and the one before it.
BURST = 2001
LONG_ROUNDS = 10
# What a client's process may take for one round of its burst, and the rest.
ROUND_SECONDS = 60
# Where scripts/venv lays clients that cannot share a folder with the others.
APART = {"mopyapns": pathlib.Path(sys.prefix) / "apart"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="run.py")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/widgetpush"))
    parser.add_argument("--only", choices=MODULES, metavar="CLIENT", help="one of " + ", ".join(MODULES))
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    names = [options.only] if options.only else list(MODULES)
    environment.clean()
    # A request to end unwinds the blocks that hold the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))

    passed = failed = 0
    try:
        with running(options.binary, [*names, "preparer"]) as deployment:
            for name, scenario in prepare(deployment, names, LONG_ROUNDS if options.long else 1):
                for result in run(name, scenario):
                    if result["expected"] == result["got"]:
                        passed += 1
                    else:
                        failed += 1
                        print(f"FAILED {name}, {result['case']}: expected {result['expected']}; got {result['got']}")
    except (RuntimeError, OSError) as error:
        failed += 1
        print(f"FAILED the servers: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def prepare(deployment, names: list[str], rounds: int) -> list[tuple[str, Scenario]]:
    """Registers and spends the tokens that the clients share; one scenario for each client."""
    environment.trust(deployment.ca_file)
    credentials = deployment.credentials
    control = Control(credentials["control"], deployment.ca_file, credentials["admin"])
    device = Device(credentials["device"], deployment.ca_file, credentials["admin"])
    preparation = Preparation(deployment, control, device, BURST, rounds)
    preparation.spend(Curl(deployment.provider("preparer", "preparer")), control)
    control.close()
    device.close()
    return [(name, preparation.scenario(name)) for name in names]


def run(name: str, scenario: Scenario) -> list[dict]:
    """The results of one client's process, and one more if it does not end well."""
    variables = {**os.environ, "PYTHONPATH": str(APART[name])} if name in APART else None
    command = [sys.executable, pathlib.Path(__file__).with_name("drive.py"), name]
    # A group of its own: what the client starts ends with it.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate(json.dumps(scenario.dictionary()), timeout=ROUND_SECONDS * (1 + scenario.rounds))
        end = f"exit status {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        end = "no end in time"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    results = [json.loads(line) for line in output.splitlines()]
    tail = "".join("\n    " + line for line in errors.splitlines()[-20:])
    return [*results, {"case": "the process", "expected": "exit status 0", "got": end if end == "exit status 0" else end + tail}]


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
