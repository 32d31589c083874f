"""Plays the client of an exchange over a raw TLS socket, and tells what the server said to it."""

import ssl

import fields
import frames
import transcript
from connection import Connection, Silence

SECONDS = 20


class Conversation:
    """One exchange as it is played: `came` has all that the server said, in the lines of the text form."""

    def __init__(self, exchange, situation):
        self._exchange, self._situation = exchange, situation
        self._connection = None
        self.came = []

    def play(self):
        try:
            for step in self._exchange.steps:
                if step.mark == "<":
                    if not self._hear(step):
                        break
                elif step.mark == ">":
                    self._say(step)
                else:
                    self._situation.meet(transcript.substitute(step.text, self._situation.values))
        finally:
            if self._connection:
                self._connection.close()

    @property
    def expected(self):
        """All that the server is to say."""
        return [line for step in self._exchange.steps if step.mark == "<" for line in step.lines]

    # The client

    def _say(self, step):
        words = step.text.split()
        lines = [transcript.substitute(each, self._situation.values) for each in step.more]
        if words[0] == "TLS":
            self._connect(step.text)
        elif words[0] == "PREFACE":
            self._connection.send(frames.PREFACE, name="preface")
        elif words[0] == "BYTES":
            self._connection.send(b"".join(map(transcript.octets, lines)), name="bytes")
        else:
            self._connection.send(_frame(words, lines))

    def _connect(self, text):
        """`TLS server-name[, protocol][, with certificate]`."""
        name, *more = text.removeprefix("TLS ").split(", ")
        paper = next((self._situation.papers[each.removeprefix("with ")] for each in more if each.startswith("with ")), None)
        protocols = [each for each in more if not each.startswith("with ")]
        # In TLS 1.3 the client is done before its certificate is looked at.
        self._connection = Connection(self._situation.target, SECONDS, protocols, name, paper, ssl.TLSVersion.TLSv1_3)
        self._connection.acknowledges = False

    # The server

    def _hear(self, step):
        """Reads what the server says where the file has `step`; False when there is nothing more to come."""
        if step.text.startswith("TLS"):
            protocol, asks = self._connection.protocol, self._connection.is_asked
            self.came.append(f"< TLS, {'protocol ' + protocol if protocol else 'no protocol'}{', asks for a certificate' if asks else ''}")
            return True
        if step.text == "nothing more":
            return self._settle()
        try:
            found = self._connection.read()
        except Silence:
            self.came.append("< silence")
            return False
        if found is None:
            reason = getattr(self._connection.failure, "reason", "") or ""
            how = "without close_notify" if self._connection.is_abrupt else "with close_notify"
            self.came.append(f"< end of TCP, {reason.lower().replace('_', ' ') if 'ALERT' in reason else how}")
            return False
        self._add(found, step)
        return True

    def _settle(self):
        """Two PINGs one after the other: whatever was still to come has come before the second is answered."""
        connection = self._connection
        try:
            for mark in (b"settled?", b"settled!"):
                connection.send(frames.ping(mark), name="PING")
                while (found := connection.read()) is not None and not (found.kind == frames.PING and found.payload == mark):
                    self._add(found, None)
        except Silence:
            self.came.append("< silence")
        self.came.append("< end of TCP" if connection.closed else "< nothing more")
        return False

    def _add(self, found, step):
        said = found.kind == frames.HEADERS and self._connection.stream(found.stream).lists
        came = transcript.render(found, said[-1] if said else []).lines
        self.came += came
        # What this gives is sent later on.
        for expected, line in zip(step.lines if step else [], came):
            transcript.matches(expected, line, self._situation.values)


def _frame(words, lines):
    """A client's frame: its type, `stream N`, and flags."""
    kind, stream = words[0], int(words[2])
    assert words[1] == "stream", words
    flags = sum(value for name, value in transcript.FLAGS if name in words[3:])
    if kind == "HEADERS":
        return frames.frame(frames.HEADERS, flags, stream, fields.block(*(_field(each) for each in lines)))
    if kind == "DATA":
        return frames.frame(frames.DATA, flags, stream, b"".join(map(transcript.octets, lines)))
    if kind == "SETTINGS":
        entries = [(transcript.SETTINGS.index(name) + 1, int(value)) for name, value in map(str.split, lines)]
        return frames.settings(*entries, flags=frames.ACK if "ACK" in words else 0)
    if kind == "PING":
        return frames.ping(transcript.octets(lines[0]))
    raise AssertionError(f"no client sends {kind}")


def _field(line):
    """`name: value`; the colon of a pseudo-header field belongs to its name."""
    name, _, value = line[1:].partition(": ")
    return line[0] + name, value


