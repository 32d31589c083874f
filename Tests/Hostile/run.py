#!/usr/bin/env python3
"""Attacks a gateway, and measures what it costs: the server's memory, how long a well-behaved connection waits meanwhile, and which
kinds of refused connections it counts.

Attackers are on machines of their own, but here share a processor with the client, and the server has another: their threads have the
lowest priority there is, and for attacks whose bound is exact, and after a failure, a control run does the same to a server that serves nothing.
What the well-behaved connection waits then is the scheduler's part.

  python3 Tests/Hostile/run.py                  every attack
  python3 Tests/Hostile/run.py --only reset     those whose name has "reset" in it
  python3 Tests/Hostile/run.py --list           names and what they do
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
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
from sink import Sink

# Bytes above its value at the start that the server's memory may have some seconds after the attack.
AFTER = 20 * MB
AFTER_SECONDS = 4
QUIET_SECONDS = 0.25
# Where the bound is exact: for how long all is quiet, the control run goes on, and the attack at least. A p99 takes that many answers:
# of 600 it was 0.7 to 1.0 ms, of 1,600 it is 0.7 to 0.8.
EXACT_SECONDS = 2.0
EXACT_ATTACK_SECONDS = 4.0
# Seconds in which what has ended is counted.
COUNTED_SECONDS = 3
# Counted beside an attack without being meant: it hung up while the server had something to say.
MEANWHILE = {"lost"}
# A p99 in milliseconds that is never too long: the server's processor may have others to serve, too.
GRAIN = 10.0
# An attack may go wrong by what else the machine does; it has that many tries to keep its bounds. On a quiet machine one in eight misses
# an exact bound, whose quiet value is then three tenths of a millisecond; beside busy processes that value grows, and none does.
TRIES = 6


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
            words, fault = future.result()
            if fault is None and not each.refused <= patient.refusals().keys():
                fault = f"not counted: {', '.join(each.refused - patient.refusals().keys())}"
            failed += _report(each, words, fault)
    print(f"{len(attacks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _report(one, words, fault):
    print(f"{'FAIL ' if fault else ''}{one.name}: {words}" + (f" | {fault}" if fault else ""), flush=True)
    return 1 if fault else 0


def _run(one, target, seconds, long):
    """What an attack says, and its fault or None; on a thread of its own."""
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


def _processors():
    """Processors for the server, and for everybody else: one for each, if there are two."""
    first, *others = sorted(os.sched_getaffinity(0))
    return ({first}, {others[0]}) if others else ({first}, {first})


def _aside(function, *arguments):
    """Calls the function on a thread that leaves the processor to all others, and so do the threads that it starts."""
    def run():
        os.sched_setaffinity(threading.get_native_id(), _processors()[1])
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        return function(*arguments)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class Scene:
    """A server, a well-behaved connection to it, and how they were before anything else."""

    def __init__(self, binary, descriptors):
        with contextlib.ExitStack() as stack:
            self._server = stack.enter_context(server.running(binary, descriptors))
            self._bystander = stack.enter_context(Bystander(self._server))
            self._stack = stack.pop_all()
        self._server.stay_on(_processors()[0])
        self._bystander.stay_on(_processors()[1])
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
            words, fault = self._measured_once(one, seconds, long, one.exact or attempt > 0)
            if fault is None or self._server.has_ended:
                break
        return words + (f" (attempt {attempt + 1})" if attempt else ""), fault

    def _measured_once(self, one, seconds, long, carefully):
        quiet = self._ask(EXACT_SECONDS if carefully else QUIET_SECONDS) if one.slowdown else None
        control = self._control() if quiet and carefully else None
        start, counted = self._server.memory(), self._server.refusals()
        self._server.forget_peak()
        self._bystander.told()
        spent, began = self._server.processor_seconds(), time.monotonic()
        words, fault = _aside(_run, one, self._server, max(seconds, EXACT_ATTACK_SECONDS) if one.exact else seconds, long)
        busy = self._bystander.told()
        if self._server.has_ended:
            return words, f"the gateway ended with {self._server.process.returncode}"
        share = (self._server.processor_seconds() - spent) / (time.monotonic() - began)
        peak, end = self._server.memory("VmHWM"), time.monotonic() + AFTER_SECONDS
        while (after := self._server.memory()) > self._before + AFTER and time.monotonic() < end:
            time.sleep(0.1)
        faults = [fault] if fault else []
        words += f" | {start // MB} → {peak // MB} → {after // MB} MB"
        if busy.failure:
            faults.append(f"the well-behaved connection: {busy.failure}")
        if quiet:
            words += (f" | p99 {quiet.p99:.1f}{f', {control.p99:.1f} beside an attack on nobody,' if control else ''} → {busy.p99:.1f} ms"
                      f" (p50 {busy.p50:.1f}, worst {busy.worst:.0f}, {busy.count} served), {share:.0%} of a processor")
            bound = max(one.slowdown * max(quiet.p99, control.p99 if control else 0), 0 if one.exact else GRAIN)
            if busy.p99 > bound:
                faults.append(f"p99 above {bound:.1f} ms")
        if peak > self._before + one.peak:
            faults.append(f"peak above {(self._before + one.peak) // MB} MB")
        if after > self._before + AFTER:
            faults.append(f"afterwards above {(self._before + AFTER) // MB} MB")
        counts = self._counts(one, counted)
        if counts:
            words += " | counted " + ", ".join(f"{kind} {count}" for kind, count in counts.items())
        if one.refused - counts.keys():
            faults.append(f"not counted: {', '.join(one.refused - counts.keys())}")
        if others := counts.keys() - one.refused - one.may - MEANWHILE:
            faults.append(f"counted without cause: {', '.join(others)}")
        return words, "; ".join(faults) or None

    def _control(self):
        """How the well-behaved connection is while an attacker sends to a server that serves nothing."""
        def send(port):
            attacker = Attacker(dataclasses.replace(self._server, port=port), EXACT_SECONDS, False)
            attacker.flood(attacker.tls(), itertools.repeat(bytes(16_384)))
            attacker.close()
        with Sink(self._server.folder, _processors()[0]) as sink:
            self._bystander.told()
            _aside(send, sink.port)
            return self._bystander.told()

    def _counts(self, one, before):
        """What was counted since `before`, once everything is there that should be."""
        end = time.monotonic() + COUNTED_SECONDS
        while True:
            now = self._server.refusals()
            counts = {kind: count - before.get(kind, 0) for kind, count in now.items() if count > before.get(kind, 0)}
            if one.refused <= counts.keys() or time.monotonic() > end:
                return counts
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
