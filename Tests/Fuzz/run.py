#!/usr/bin/env python3
"""Fuzzes every entry with scripts/fuzz: thirty seconds in all, or ten minutes each with --long."""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    seconds = 600 if parser.parse_args().long else 5
    return subprocess.run([ROOT / "scripts/fuzz", str(seconds)]).returncode


if __name__ == "__main__":
    sys.exit(main())
