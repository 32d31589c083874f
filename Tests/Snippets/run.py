#!/usr/bin/env python3
"""Runs the programs of docs/testing-your-backend.md as it says, each with a `widgetpush dev` of its own.

usage: run.py [--binary FILE] [--only FILE-NAME] [--long], with the python that scripts/venv prints. A program is a block whose first line
names its file and, after `run by:`, its command. One whose language is not on this machine is told as skipped. Closes with
`N passed, N failed`; --long runs each five times.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/testing-your-backend.md"
SECONDS = 120
# Those without which the page would not be tested at all.
NEEDED = {"sh", "python"}


def main():
    parser = argparse.ArgumentParser(prog="run.py")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/widgetpush"))
    parser.add_argument("--only", default="")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("snippets: stopped"))

    passed = failed = 0
    for language, name, command, text in programs(PAGE.read_text()):
        if options.only not in name:
            continue
        for problem in judge(options.binary, language, name, command, text, 5 if options.long else 1):
            passed, failed = passed + (problem is None), failed + (problem is not None)
            if problem is not None:
                print(f"FAILED {name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def programs(page):
    """Every program of the page: its language, file name, command and text."""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        first = re.match(r"(?:#|//) (\S+); run by: widgetpush (dev .*) -- (.*)\n", text)
        if first:
            yield language, first[1], ([*shlex.split(first[2])], shlex.split(first[3])), text


def judge(binary, language, name, command, text, times):
    """What is wrong with each run, or with the program's syntax where it cannot run; None for what is right."""
    runtime = shutil.which(command[1][0]) if command[1][0] != "python" else sys.executable
    if runtime is None and language in NEEDED:
        yield f"there is no {command[1][0]} on this machine"
    elif runtime is None:
        print(f"skipped {name}: there is no {command[1][0]} on this machine; its syntax alone is checked")
        yield syntax(language, text)
    else:
        for _ in range(times):
            yield run(binary, name, command[0], [runtime, *command[1][1:]], text)


def run(binary, name, dev, command, text):
    with tempfile.TemporaryDirectory(prefix="widgetpush-snippet-") as folder:
        pathlib.Path(folder, name).write_text(text)
        # The name by which the programs call it.
        tools = pathlib.Path(folder, "bin")
        tools.mkdir()
        (tools / "widgetpush").symlink_to(binary)
        variables = {key: value for key, value in os.environ.items() if not key.startswith("WIDGETPUSH_") and not key.lower().endswith("_proxy")}
        variables |= {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        if name.endswith(".go"):
            pathlib.Path(folder, "go.mod").write_text("module reload\n\ngo 1.20\n")
        ports = [word for port in ("provider", "control", "device", "plain") for word in (f"--{port}-port", "0")]
        process = subprocess.Popen(
            [tools / "widgetpush", *dev, *ports, "--", *command], cwd=folder, env=variables, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                return f"no end within {SECONDS} s"
            raise
        return None if process.returncode == 0 else f"it ended with {process.returncode}:\n{output}"


def syntax(language, text):
    """What is wrong with a Go program's syntax; None where nothing is, or nobody can tell."""
    if language != "go":
        return None
    import tree_sitter
    import tree_sitter_go

    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_go.language())).parse(text.encode()).root_node
    return "it does not parse" if root.has_error else None


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
