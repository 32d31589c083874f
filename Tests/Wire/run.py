#!/usr/bin/env python3
"""Checks the gateway's HTTP/2 (RFC 9113) and HPACK (RFC 7541) frame by frame over raw TLS sockets.

  python3 Tests/Wire/run.py                    every case, every exchange, and the self-check of the suite
  python3 Tests/Wire/run.py --only ping        the cases whose name or section has "ping" in it
  python3 Tests/Wire/run.py --only exchange    the captured exchanges of Tests/Wire/exchanges
  python3 Tests/Wire/run.py --list             names, sections and requirements
  python3 Tests/Wire/run.py --nghttpd nghttpd  against nghttp2's server, to compare
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

if pathlib.Path(sys.prefix).resolve() != ROOT / ".build/venv":
    # The packages, in the versions that are meant, are in an environment of the tests' own.
    python = subprocess.run([ROOT / "scripts/venv"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    os.execv(python, [python, *sys.argv])

import case
import exchanges
import known
import runner
import selfcheck
import target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/widgetpush"))
    parser.add_argument("--nghttpd", metavar="PROGRAM")
    parser.add_argument("--only", default="", metavar="NAME-PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--long", action="store_true", help="every case five times")
    options = parser.parse_args()
    # Ends like any other failure, so that what was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("wire: stopped"))

    cases = [each for each in case.all_cases() if options.only in each.name or options.only in each.section]
    talks = [each for each in exchanges.all_exchanges() if options.only in f"exchange: {each.name}"]
    if options.list:
        for each in cases:
            print(f"{each.name} ({each.section}): {each.requirement}")
        for each in talks:
            print(f"exchange: {each.name}: {each.title}")
        return 0
    if not cases and not talks:
        sys.exit(f"wire: no case has {options.only!r} in its name or section")
    if options.nghttpd is None and not os.access(options.binary, os.X_OK):
        sys.exit(f"wire: {options.binary} is not there; scripts/build makes it, --binary names another")

    with target.nghttpd(options.nghttpd) if options.nghttpd else target.gateway(options.binary) as server:
        outcomes = runner.run_all(cases * (5 if options.long else 1), server)
    if talks and not options.nghttpd:
        outcomes += exchanges.run_all(talks, options.binary)
    table = {} if options.nghttpd else known.KNOWN
    return report(outcomes if options.only else outcomes + selfcheck.run(), table)


def report(outcomes, table):
    """Prints a line for each failure, and the count; returns the exit status."""
    failures, departures = [], []
    for each in outcomes:
        name = f"{each.case.name} ({each.case.section})"
        if each.case.name not in table:
            failures += [] if each.passed else [f"FAIL {name}: {each.departure} | {each.case.requirement}"]
        elif each.passed:
            failures.append(f"FAIL {name}: passes, although it is among the known departures")
        else:
            departures.append(f"  {name}: {table[each.case.name]}")
    print(*failures, sep="\n", end="\n" if failures else "")
    if departures:
        print("known departures:", *dict.fromkeys(departures), sep="\n")
    passed = len(outcomes) - len(failures) - len(departures)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
