#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds functions and classes of the product that are too large to be read.

usage: sizes.py ROOT

Prints each function of more than LONGEST lines and each class of more than MOST
functions, on one line each. The exit status is 1 if it finds any. It relies on the
tree's format: a block ends with a brace that is indented like its first line.
"""
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree

LONGEST = 100
MOST = 60
LEFT_OUT = ("test/", "bench/", "examples/")
CLASS = re.compile(r"^(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?([\w:]+)[^;]*$")
NO_FUNCTION = re.compile(
    r"((namespace|class|struct|enum|union|using|typedef|static_assert|friend|"
    r"return|template|public|private|protected)\b|[A-Z]+_[A-Z_]+\()")
# These lines stand within a block or beside one, whatever their indent.
BESIDE = ("#", "//")
MEMBER = re.compile(r"^  (?=[\w~\[:])(.*)$")


def without_angles(line: str) -> str:
    """Returns a line without template arguments, whose parentheses declare nothing."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", line)
        if shorter == line:
            return line
        line = shorter


def blocks(lines: list[str], indent: str) -> Iterator[tuple[int, int]]:
    """Yields the first and the last line of each function with this indent."""
    first = None
    for i, line in enumerate(lines):
        bare = line[len(indent):]
        at_indent = line.startswith(indent) and bare[:1] not in ("", " ", "}")
        if bare.startswith(BESIDE):
            continue
        if at_indent and not line.endswith(";"):
            first = None if NO_FUNCTION.match(bare) else i
        elif line == indent + "}" and first is not None:
            yield first, i
            first = None


def long_functions(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yields the length and the first line of each function that is too long."""
    for indent in ("", "  "):
        for first, last in blocks(lines, indent):
            if last - first + 1 > LONGEST:
                yield last - first + 1, lines[first].strip()


def large_classes(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yields the number of functions and the name of each class with too many."""
    name, count = None, 0
    for line in lines:
        if found := CLASS.match(line):
            name, count = found[1], 0
        elif line == "};":
            if name is not None and count > MOST:
                yield count, name
            name = None
        elif name is not None and (member := MEMBER.match(line)):
            declared = without_angles(member[1])
            if "(" in declared and not NO_FUNCTION.match(declared):
                count += 1


def find_faults(root: Path) -> list[str]:
    faults = []
    for file in tree.files_of(root, ".hpp", ".cpp", ".cu"):
        if file.startswith(LEFT_OUT):
            continue
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        faults += [f"{file}: {length} lines, at most {LONGEST}: {what}"
                   for length, what in long_functions(lines)]
        faults += [f"{file}: {count} functions, at most {MOST}: {what}"
                   for count, what in large_classes(lines)]
    return faults


def main() -> int:
    faults = find_faults(Path(sys.argv[1]))
    print("\n".join(faults) if faults else "no function or class is too large")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
