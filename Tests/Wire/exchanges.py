"""The captured exchanges: each is held with the gateway, and all that it says is compared with the reference."""
import concurrent.futures
import contextlib
import pathlib
import re

import runner
import transcript
from case import Case
from conversation import Conversation
from situation import Deployment, Situation

THREADS = 4
FOLDER = pathlib.Path(__file__).parent / "exchanges"


def all_exchanges():
    """The files of `exchanges` by name."""
    return [transcript.parse(each.stem, each.read_text()) for each in sorted(FOLDER.glob("*.txt"))]


def run_all(exchanges, binary):
    """An outcome for each exchange, and one for whether its comparison can fail."""
    with contextlib.closing(Deployment(binary)) as shared, concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        pairs = pool.map(lambda each: _run(each, binary, shared), exchanges)
        return [outcome for pair in pairs for outcome in pair]


def _run(exchange, binary, shared):
    about = Case(f"exchange: {exchange.name}", "exchange", exchange.title, "nothing", _run)
    situation = Situation(binary, shared)
    try:
        conversation = Conversation(exchange, situation)
        conversation.play()
    except Exception as error:
        return [runner.Outcome(about, f"expected an exchange | came {type(error).__name__} {error}")]
    finally:
        situation.end()
    differs = transcript.difference(conversation.expected, conversation.came, situation.values)
    if differs:
        return [runner.Outcome(about, "\n" + "\n".join("      " + line for line in differs) + "\n")]
    return [runner.Outcome(about), _check(exchange, conversation, situation.values)]


def _check(exchange, conversation, values):
    """The comparison notices every line that is wrong, missing or one too many."""
    about = Case(f"self-check: exchange {exchange.name}", "exchange", "each change of the file is noticed", "nothing", _check)
    lines = conversation.expected
    for index, line in enumerate(lines):
        for wrong in ([], [line, line], *([each] for each in _changed(line))):
            if not transcript.difference(lines[:index] + wrong + lines[index + 1:], conversation.came, values):
                return runner.Outcome(about, f"expected a report | came none, with {wrong} instead of {line!r}")
    return runner.Outcome(about)


def _changed(line):
    """The line with one thing wrong in it, in several ways."""
    for found in re.finditer(r"\d+|[A-Za-z]+", re.sub(r"\{[^{}]*\}", lambda each: "." * len(each[0]), line)):
        word = found[0]
        other = str(int(word) + 1) if word.isdigit() else word.swapcase()
        yield line[:found.start()] + other + line[found.end():]
    for form in transcript.FORMS:
        if form in line:
            yield line.replace(form, next(each for each in transcript.FORMS if each != form))
    yield line + " "
