#!/usr/bin/env python3
"""Holds the servers to docs/openapi, and docs/openapi to the servers, by requests that schemathesis makes from it.

usage: run.py [--binary FILE] [--only control|device] [--long] [--seed N], with the python that scripts/venv prints. Prints what
schemathesis found, and closes with `N passed, N failed`: one for each operation in each phase, and one for each operation that was
answered well at least once. --long makes a hundred times as many requests, of another seed each time.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import fixtures

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = 8
LONG_EXAMPLES = 400


def main():
    parser = argparse.ArgumentParser(prog="run.py")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/widgetpush"))
    parser.add_argument("--only", choices=["control", "device"])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    for name in list(os.environ):
        if name.startswith("WIDGETPUSH_") or name.lower().endswith("_proxy"):
            del os.environ[name]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("openapi: stopped"))
    seed = options.seed if options.seed is not None else random.randrange(1 << 31) if options.long else 4

    passed = failed = 0
    for api in [options.only] if options.only else ["control", "device"]:
        try:
            with fixtures.running(options.binary) as dev, tempfile.TemporaryDirectory() as folder:
                outcomes = check(api, dev, fixtures.prepare(dev), pathlib.Path(folder), seed, options.long)
        except (RuntimeError, OSError, subprocess.CalledProcessError, fixtures.httpx.HTTPError) as error:
            outcomes = {f"{api}: the servers": str(error)}
        for name, problem in outcomes.items():
            if problem:
                print(f"FAILED {name} (--seed {seed}): {problem}")
        failures = sum(1 for problem in outcomes.values() if problem)
        passed, failed = passed + len(outcomes) - failures, failed + failures
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def check(api, dev, known, folder, seed, long):
    """What became of each operation in each phase: nothing, or what was wrong."""
    # The plain port has the calls of dev, too; the device is asked over TLS.
    url = dev.credentials["plain" if api == "control" else "device"]
    report = folder / "events.ndjson"
    command = [
        sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "--config-file", HERE / "schemathesis.toml", "run",
        ROOT / f"docs/openapi/{api}.yaml", "--url", url, "--header", f"Authorization: Bearer {dev.credentials['admin']}",
        "--tls-verify", dev.folder / "ca.pem", "--seed", str(seed), "--max-examples", str(LONG_EXAMPLES if long else EXAMPLES),
        "--report-ndjson-path", report, "--no-color", "--warnings", "off",
    ]
    if not long:
        command += ["--no-shrink"]
    variables = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "OPENAPI_FIXTURES": json.dumps(known)}
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    run = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    outcomes, answered = read(api, report)
    if run.returncode != 0:
        print(run.stdout)
    if run.returncode != 0 and not any(outcomes.values()):
        outcomes[f"{api}: the run"] = f"schemathesis ended with {run.returncode}"
    for operation, statuses in answered.items():
        well = any(200 <= status < 300 for status in statuses)
        outcomes[f"{operation}: answered well"] = None if well else f"never; it was answered {sorted(statuses)}"
    return outcomes


def read(api, report):
    """The outcome of each operation in each phase, and the statuses that it was answered with."""
    outcomes, answered = {}, collections.defaultdict(set)
    for line in report.read_text().splitlines() if report.exists() else []:
        scenario = json.loads(line).get("ScenarioFinished")
        if not scenario:
            continue
        recorder = scenario["recorder"]
        wrong = {
            check["name"]
            for checks in recorder.get("checks", {}).values() for check in checks if check["status"] == "failure"
        }
        # A scenario of the stateful phase is a chain of operations and has a name of its own.
        if scenario["status"] != "skip":
            name = f"{api}: {scenario['phase']}: {recorder['label']}"
            outcomes[name] = outcomes.get(name) or (", ".join(sorted(wrong)) or ("an error" if scenario["status"] == "error" else None))
        for identifier, interaction in recorder.get("interactions", {}).items():
            case = recorder["cases"][identifier]["value"]
            if interaction["response"]:
                answered[f"{api}: {case['method']} {case['path']}"].add(interaction["response"]["status_code"])
    return outcomes, {name: statuses for name, statuses in answered.items() if known(name, outcomes)}


def known(name, outcomes):
    """Whether it is an operation of the file, and not a method that was tried."""
    _, operation = name.split(": ", 1)
    return any(each.endswith(f": {operation}") for each in outcomes)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
