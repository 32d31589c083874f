"""The text form of an exchange: what stands in the files of `exchanges`, and what a server's frames are rendered to.

A file has a title, the sections of the reference that it follows, and below a line of dashes the exchange itself:

  given …          what is there before; `situation` knows the sentences
  * …              something that happens meanwhile
  > FRAME …        a frame of the client's, with its fields, settings or bytes in the indented lines below
  < FRAME …        a frame of the server's, all of it: nothing else may come, and the last line says how it ends

`{name}` stands for a value that was given or came before. In what the server says, `{form}` stands for whatever has the form
of that name in FORMS, for that alone differs from time to time; `{name = form}` keeps it.
"""
import dataclasses
import difflib
import re
import struct
import time

import frames

RULE = "----"
FORMS = {
    "UUID in upper case": r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}",
    "UUID in lower case": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    # 16 bytes in base64.
    "channel id": r"[A-Za-z0-9+/]{21}[AQgw]==",
    "milliseconds": r"\d{13}",
}
FLAGS = [("END_STREAM", frames.END_STREAM), ("END_HEADERS", frames.END_HEADERS), ("PADDED", frames.PADDED), ("PRIORITY", frames.WITH_PRIORITY)]
SETTINGS = ["HEADER_TABLE_SIZE", "ENABLE_PUSH", "MAX_CONCURRENT_STREAMS", "INITIAL_WINDOW_SIZE", "MAX_FRAME_SIZE", "MAX_HEADER_LIST_SIZE"]
# The types of frames whose length the reference fixes; that of a field block depends on the representations.
FIXED_LENGTH = (frames.SETTINGS, frames.DATA, frames.GOAWAY)
_PLACEHOLDER = re.compile(r"\{([A-Za-z][\w -]*)(?: = ([\w -]+))?\}")


@dataclasses.dataclass
class Step:
    """One line of an exchange with its indented lines; `mark` is `given`, `*`, `>` or `<`."""
    mark: str
    text: str
    more: list[str] = dataclasses.field(default_factory=list)

    @property
    def lines(self):
        return [f"{self.mark} {self.text}", *("    " + each for each in self.more)]


@dataclasses.dataclass
class Exchange:
    """A file of `exchanges`."""
    name: str
    title: str
    sections: list[str]
    steps: list[Step]


def parse(name, text):
    head, body = re.split(rf"^{RULE}-*\n", text, maxsplit=1, flags=re.MULTILINE)
    title, *sections = [line for line in head.splitlines() if line]
    assert sections and all(each.startswith("apns.md ") for each in sections), f"{name} cites no section of the reference"
    steps = []
    for line in body.splitlines():
        if line.startswith("    "):
            steps[-1].more.append(line[4:])
        elif line:
            mark, _, rest = line.partition(" ")
            assert mark in ("given", "*", ">", "<"), f"{name}: {line}"
            steps.append(Step(mark, rest))
    assert steps[-1].mark == "<" and steps[-1].text.startswith(("end", "nothing more")), f"{name} does not say how it ends"
    return Exchange(name, title, sections, steps)


def render(found, fields):
    """A frame of the server's as a step; `fields` are those of a field block."""
    words = [found.name, f"stream {found.stream}"]
    if found.kind in FIXED_LENGTH and found.payload:
        words.append(f"length {len(found.payload)}")
    if found.kind in (frames.SETTINGS, frames.PING):
        words += ["ACK"] if found.has(frames.ACK) else []
    else:
        words += [name for name, flag in FLAGS if found.has(flag)]
    return Step("<", " ".join(words), _payload(found, fields))


def _payload(found, fields):
    payload = found.payload
    if found.kind == frames.HEADERS:
        return [f"{name}: {value}" for name, value in fields]
    if found.kind == frames.SETTINGS:
        return [f"{SETTINGS[key - 1] if 0 < key <= len(SETTINGS) else hex(key)} {value}" for key, value in struct.iter_unpack(">HI", payload)]
    if found.kind == frames.RST_STREAM:
        return [f"error: {frames.error_name(struct.unpack('>I', payload)[0])}"]
    if found.kind == frames.WINDOW_UPDATE:
        return [f"increment: {struct.unpack('>I', payload)[0]}"]
    if found.kind == frames.GOAWAY:
        last, code = struct.unpack(">II", payload[:8])
        debug = [f"debug: {_text(payload[8:])}"] if payload[8:] else []
        return [f"last stream: {last}", f"error: {frames.error_name(code)}", *debug]
    return [_text(payload)] if payload else []


def _text(octets):
    """Printable ASCII as it is, other bytes escaped; a last space is shown, since a file should have none."""
    text = octets.decode("ascii", "backslashreplace") if octets.isascii() else octets.hex()
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    return text[:-1] + "\\x20" if text.endswith(" ") else text


def octets(text):
    """The bytes that a line of a file stands for."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def substitute(text, values):
    """`text` with the values that are known by now; `{an alert of N bytes}` is a payload of that length."""
    def value(found):
        if size := re.fullmatch(r"an alert of (\d+) bytes", found[1]):
            empty = '{"aps":{"alert":""}}'
            return empty[:-3] + "x" * (int(size[1]) - len(empty)) + empty[-3:]
        return values.get(found[1], found[0])
    return _PLACEHOLDER.sub(value, text)


def pattern(text, values):
    """What a line of the server's has to match, and the names of the values that it gives."""
    out, place, names = "", 0, []
    for found in _PLACEHOLDER.finditer(text):
        out += re.escape(text[place:found.start()])
        place = found.end()
        name, form = (None, found[1]) if found[2] is None else (found[1], found[2])
        if name is None and form in values:
            out += re.escape(values[form])
            continue
        assert form in FORMS, f"{found[0]} is neither a value nor a form"
        names.append(name)
        out += f"(?P<v{len(names)}>{FORMS[form]})"
    return re.compile(out + re.escape(text[place:])), names


def matches(expected, came, values):
    """Whether the line `came` is as expected; keeps in `values` what it gives."""
    wanted, names = pattern(expected, values)
    found = wanted.fullmatch(came)
    if not found:
        return False
    if "{milliseconds}" in expected:
        told = next(int(found[f"v{index}"]) for index, name in enumerate(names, 1) if name is None)
        # The clock of this machine, and of this run.
        if not -600_000 < told - time.time() * 1000 < 60_000:
            return False
    values.update({name: found[f"v{index}"] for index, name in enumerate(names, 1) if name})
    return True


def difference(expected, came, values):
    """Lines of a unified difference, or none when all that came is as expected."""
    values = dict(values)
    shown = []
    for index, line in enumerate(came):
        # A line that matches is shown as it was expected, so that only what differs stands out.
        nearby = expected[index:index + 1] + expected[max(0, index - 8):index + 8]
        shown.append(next((each for each in nearby if matches(each, line, values)), line))
    return list(difflib.unified_diff(expected, shown, "expected", "came", lineterm="", n=3))
