"""The list of cases, and the decorator that adds one."""
import dataclasses
import importlib
import pathlib
import pkgutil
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Case:
    """One requirement: `run` gets a connection in the state `start`, and raises when the server departs from it."""
    name: str
    section: str
    requirement: str
    start: str
    run: Callable


# What a case begins with: a connection after both prefaces; one with a verified provider token besides, which may have
# many streams open; one after the TLS handshake; or nothing but the server's address.
READY, AUTHENTICATED, TLS, NOTHING = "ready", "authenticated", "tls", "nothing"

_cases: list[Case] = []


def case(section, start=READY, each=None):
    """Adds the function as a case that proves `section`; with `each`, one for every value of that dictionary."""
    def add(function):
        name, requirement = function.__name__, " ".join(function.__doc__.split())
        if each is None:
            _cases.append(Case(name, section, requirement, start, function))
        for key, value in (each or {}).items():
            _cases.append(Case(f"{name}[{key}]", section, requirement, start, lambda c, value=value: function(c, value)))
        return function
    return add


def all_cases():
    """Every case of the folder `cases`, in the order of the sections."""
    folder = pathlib.Path(__file__).parent / "cases"
    if not _cases:
        for module in sorted(each.name for each in pkgutil.iter_modules([str(folder)])):
            importlib.import_module(f"cases.{module}")
    names = [each.name for each in _cases]
    assert len(names) == len(set(names)), "two cases have the same name"
    return sorted(_cases, key=lambda each: _order(each.section))


def _order(section):
    book, number, *_ = section.removeprefix("RFC ").split()
    return -int(book), [int(part) for part in number.split(".")]
