"""The list of attacks, the decorator that adds one, and what it may cost the server."""
import dataclasses
import importlib
import pathlib
import pkgutil
from collections.abc import Callable

MB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Attack:
    """One attack: `run` gets an `Attacker`, returns a few words about what the server did, and raises where that was wrong."""
    name: str
    what: str
    run: Callable
    # Bytes by which the server's memory may grow at the worst.
    peak: int
    # What the p99 of a well-behaved connection may be, as a multiple of its value when all is quiet; None where it is not measured.
    slowdown: float | None
    # That multiple holds however short the times are, and is measured longer, beside a control run that attacks nobody.
    exact: bool
    # The kinds of connections that the server must have counted as refused or ended, and those that it may have counted besides.
    refused: frozenset
    may: frozenset
    # The server's limit of open files.
    descriptors: int | None
    # Takes long because a timeout must pass; it runs beside the others, on a server of its own, and is not measured.
    waits: bool


_attacks: list[Attack] = []


def attack(peak=60, slowdown=3.0, exact=False, refused=(), may=(), descriptors=None, waits=False, each=None):
    """Adds the function as an attack that may cost `peak` MB; with `each`, one for every value of that dictionary.

    `refused` is a kind of refused connections, several, or a dictionary with the kind for each key of `each`; `may` are more kinds.
    """
    def kinds(key):
        found = refused.get(key, ()) if isinstance(refused, dict) else refused
        return frozenset([found] if isinstance(found, str) else found)

    def add(function):
        name, what = function.__name__, " ".join(function.__doc__.split())
        bounds = dict(peak=peak * MB, slowdown=None if waits else slowdown, exact=exact, may=frozenset(may), descriptors=descriptors, waits=waits)
        if each is None:
            _attacks.append(Attack(name, what, function, refused=kinds(None), **bounds))
        for key, value in (each or {}).items():
            run = lambda a, value=value: function(a, value)
            _attacks.append(Attack(f"{name}[{key}]", what, run, refused=kinds(key), **bounds))
        return function
    return add


def all_attacks():
    """Every attack of the folder `cases`."""
    folder = pathlib.Path(__file__).parent / "cases"
    if not _attacks:
        for module in sorted(each.name for each in pkgutil.iter_modules([str(folder)])):
            importlib.import_module(f"cases.{module}")
    names = [each.name for each in _attacks]
    assert len(names) == len(set(names)), "two attacks have the same name"
    return _attacks
