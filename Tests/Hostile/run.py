#!/usr/bin/env python3
"""Attacks a gateway, and measures what it costs: the server's memory, and how long a well-behaved connection waits meanwhile.

  python3 Tests/Hostile/run.py                  every attack
  python3 Tests/Hostile/run.py --only reset     those whose name has "reset" in it
  python3 Tests/Hostile/run.py --list           names and what they do
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__" and pathlib.Path(sys.prefix).resolve() != ROOT / ".build/venv":
    # The packages, in the versions that are meant, are in an environment of the tests' own.
    python = subprocess.run([ROOT / "scripts/venv"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    os.execv(python, [python, *sys.argv])

# Frames, fields and connections are those of the conformance suite; what rests is shared with scripts/bench.
sys.path += [str(ROOT / "Tests/Wire"), str(ROOT / "Tests/Support")]

import attack
import server
from attack import MB
from attacker import Attacker, Departure, Silence
from bystander import Bystander

# Bytes above its value at the start that the server's memory may have some seconds after the attack.
AFTER = 20 * MB
AFTER_SECONDS = 4
QUIET_SECONDS = 0.25
# A p99 in milliseconds that is never too long: the server's processor may have others to serve, too.
GRAIN = 10.0
# An attack may go wrong by what else the machine does; it has that many tries to keep its bounds.
TRIES = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/widgetpush"))
    parser.add_argument("--only", default="", metavar="NAME-PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--long", action="store_true", help="each attack for ten seconds, 10,000 idle connections")
    options = parser.parse_args()
    # Ends like any other failure, so that what was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("hostile: stopped"))

    attacks = [each for each in attack.all_attacks() if options.only in each.name]
    if options.list:
        for each in attacks:
            print(f"{each.name}: {each.what}")
        return 0
    if not attacks:
        sys.exit(f"hostile: no attack has {options.only!r} in its name")
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"hostile: {options.binary} is not there; scripts/build makes it, --binary names another")
    seconds = 10.0 if options.long else 0.6
    failed = 0
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(16))
        patient = stack.enter_context(server.running(options.binary))
        waiting = [(each, pool.submit(_run, each, patient, seconds, options.long)) for each in attacks if each.waits]
        measured = [each for each in attacks if not each.waits]
        for descriptors, group in itertools.groupby(measured, key=lambda each: each.descriptors):
            group = list(group)
            while group:
                # After a failure the others have a server of their own: each fault counts once.
                with Scene(options.binary, descriptors) as scene:
                    while group:
                        words, fault = scene.measured(group[0], seconds, options.long)
                        failed += _report(group.pop(0), words, fault)
                        if fault:
                            break
        for each, future in waiting:
            failed += _report(each, *future.result())
    print(f"{len(attacks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _report(one, words, fault):
    print(f"{'FAIL ' if fault else ''}{one.name}: {words}" + (f" | {fault}" if fault else ""), flush=True)
    return 1 if fault else 0


def _run(one, target, seconds, long):
    """What an attack says, and its fault or None; on a thread of its own."""
    # Attackers are elsewhere: here they leave the processor to the server and its client where both want it.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
    attacker = Attacker(target, seconds, long)
    try:
        return one.run(attacker), None
    except Departure as departure:
        return "", str(departure)
    except Silence:
        return "", "nothing came for a minute"
    except Exception as error:  # whatever it is, it is not what the attack expects
        return "", f"{type(error).__name__} {error}"
    finally:
        attacker.close()


class Scene:
    """A server, a well-behaved connection to it, and how they were before anything else."""

    def __init__(self, binary, descriptors):
        with contextlib.ExitStack() as stack:
            self._server = stack.enter_context(server.running(binary, descriptors))
            self._bystander = stack.enter_context(Bystander(self._server))
            self._stack = stack.pop_all()
        self._ask(QUIET_SECONDS)
        self._before = self._server.memory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _ask(self, seconds):
        self._bystander.told()
        time.sleep(seconds)
        return self._bystander.told()

    def measured(self, one, seconds, long):
        """Runs an attack; what it says and costs, and its fault or None."""
        for attempt in range(TRIES):
            words, fault = self._measured_once(one, seconds, long)
            if fault is None or self._server.has_ended:
                break
        return words + (f" (attempt {attempt + 1})" if attempt else ""), fault

    def _measured_once(self, one, seconds, long):
        quiet = self._ask(QUIET_SECONDS)
        start = self._server.memory()
        self._server.forget_peak()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            words, fault = thread.submit(_run, one, self._server, seconds, long).result()
        busy = self._bystander.told()
        if self._server.has_ended:
            return words, f"the gateway ended with {self._server.process.returncode}"
        peak, end = self._server.memory("VmHWM"), time.monotonic() + AFTER_SECONDS
        while (after := self._server.memory()) > self._before + AFTER and time.monotonic() < end:
            time.sleep(0.1)
        bound = max(one.slowdown * quiet.p99, GRAIN)
        words += (f" | p99 {quiet.p99:.1f} → {busy.p99:.1f} ms (p50 {busy.p50:.1f}, worst {busy.worst:.0f}, {busy.count} served)"
                  f" | {start // MB} → {peak // MB} → {after // MB} MB")
        faults = [fault] if fault else []
        if busy.failure:
            faults.append(f"the well-behaved connection: {busy.failure}")
        if busy.p99 > bound:
            faults.append(f"p99 above {bound:.1f} ms")
        if peak > self._before + one.peak:
            faults.append(f"peak above {(self._before + one.peak) // MB} MB")
        if after > self._before + AFTER:
            faults.append(f"afterwards above {(self._before + AFTER) // MB} MB")
        return words, "; ".join(faults) or None


if __name__ == "__main__":
    sys.exit(main())
