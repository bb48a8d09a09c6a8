#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that documents, and edited comments, helps and errors, have none of the habits
in prose_patterns.txt.

usage: prose_test.py ROOT [FILE...]

Without FILE, it reads every Markdown file except those in LATER, and every C++ and
Python source except those in prose_exceptions.txt, a list that only shrinks. It reads the comments of headers, and
the comments and texts of other sources. In Markdown it leaves out code and generated
text.

Why not proselint: version 0.16 was tried on the README and docs/serving.md as they were
before. Every finding was about straight quotes, "x" for a multiplication sign, a
hyphen, or a repeated word in a command. It found none of the habits here, and set-up
would have to download it.
"""
import re
import sys
from pathlib import Path

import tree

HERE = Path(__file__).resolve().parent

# Documents that are not edited yet, or that programs write.
LATER = (
    "bench/RESULTS.md",
    "docs/reproduction.md", "models/",
)

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
SPAN = re.compile(r"`[^`\n]+(?:\n[^`\n]+)?`")
TARGET = re.compile(r"\]\([^)\s]*\)")
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Habit:
    """One entry of prose_patterns.txt."""

    def __init__(self, text: str):
        pattern, *rest = text.splitlines()
        self.docs_only = pattern.startswith("docs ")
        self.pattern = re.compile(pattern.removeprefix("docs "), re.IGNORECASE)
        fields = dict(x.strip().split(": ", 1) for x in rest)
        self.why, self.bad, self.good = (fields[x] for x in ("why", "bad", "good"))


def read_habits() -> list[Habit]:
    text = (HERE / "prose_patterns.txt").read_text()
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return [Habit(x) for x in text.strip().split("\n\n")]


def blanked(match: re.Match) -> str:
    """Keeps the lines, drops the text."""
    return "x" + "\n" * match.group().count("\n")


def prose_of_markdown(text: str) -> str:
    for what in (FENCE, COMMENT, SPAN, TARGET):
        text = what.sub(blanked, text)
    return text


def prose_of_source(text: str, with_strings: bool) -> str:
    """Returns the comments of C++, and the texts that have several words."""
    lines = []
    for line in text.split("\n"):
        kept = []
        if with_strings:
            strings = [x[1:-1] for x in QUOTED.findall(line)]
            kept += [x for x in strings if x.count(" ") > 1]
        comment = re.search(r"(?:^|\s)//[/<!]*\s?(.*)", QUOTED.sub('""', line))
        if comment:
            kept.append(comment[1])
        lines.append(" | ".join(kept))
    return "\n".join(lines)


def prose_of(path: Path) -> str:
    text = path.read_text()
    if path.suffix == ".md":
        return prose_of_markdown(text)
    return prose_of_source(text, with_strings=path.suffix != ".hpp")


def faults_in(name: str, prose: str, habits: list[Habit]) -> list[str]:
    """Returns the faults, including sentences broken over two lines."""
    found = []
    is_document = name.endswith(".md")
    joined = re.sub(r"\n(?!\n)", " ", prose)
    for habit in habits:
        if habit.docs_only and not is_document:
            continue
        for match in habit.pattern.finditer(joined):
            line = prose.count("\n", 0, match.start()) + 1
            found.append(f"{name}:{line}: '{match.group().strip()}': {habit.why}; "
                         f"for example: {habit.good}")
    return found


def faults_of_habits(habits: list[Habit]) -> list[str]:
    """Checks that each pattern finds its example, and no pattern finds a better
    sentence."""
    found = []
    for habit in habits:
        name = "x.md" if habit.docs_only else "x.hpp"
        if not faults_in(name, habit.bad, [habit]):
            found.append(f"{habit.pattern.pattern} does not find: {habit.bad}")
        for fault in faults_in("x.md", habit.good, habits):
            found.append(f"{habit.pattern.pattern}: its better sentence: {fault}")
    return found


def files_of(root: Path) -> list[str]:
    later = {x for x in (HERE / "prose_exceptions.txt").read_text().splitlines()
             if x and not x.startswith("#")}
    sources = [x for suffix in (".cpp", ".hpp", ".py")
               for x in tree.files_of(root, suffix)]
    unknown = sorted(later - set(sources))
    return [x for x in tree.files_of(root, ".md") if not x.startswith(LATER)] \
        + [x for x in sources if x not in later] + unknown


def main() -> int:
    root, *files = sys.argv[1:]
    habits = read_habits()
    faults = faults_of_habits(habits)
    files = files or files_of(Path(root))
    for name in files:
        path = Path(root, name)
        if path.exists():
            faults += faults_in(name, prose_of(path), habits)
        else:
            faults.append(f"{name}: listed, and missing")
    print("\n".join(faults) if faults
          else f"{len(files)} files, {len(habits)} patterns")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
