"""Runs the cases of one client in a process of its own: `drive.py CLIENT`, with the scenario on standard input.

Prints a line of JSON for each case: its name, what was expected, what came.
"""

import importlib
import json
import sys

from adapters import MODULES
from cases import Cases
from control import Control
from scenario import Scenario


def main() -> None:
    scenario = Scenario.read(json.load(sys.stdin))
    control = Control(scenario.control_url, scenario.ca_file, scenario.access_token)
    module = importlib.import_module(f"adapters.{MODULES[sys.argv[1]]}")
    cases = Cases(module.Client, scenario, control)
    for name, case in cases:
        try:
            expected, got = case()
        except Exception as error:  # whatever a library raises is a failed case, and the next one runs
            expected, got = "an answer or an error of the client's own", f"{type(error).__module__}.{type(error).__name__}: {error}"
        print(json.dumps({"case": name, "expected": expected, "got": got}), flush=True)
    cases.close()
    control.close()


main()
