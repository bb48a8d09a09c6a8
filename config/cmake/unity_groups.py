#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divide the sources of a target into groups that one compiler run can take.

usage: unity_groups.py FOLDER LINES OUT FILE...

Sources that declare all they have outside named namespaces, as most tests do, are
given a namespace each by a group's file that this program writes into the folder OUT:
so no name of one meets a name of another. Their headers are included before.

The groups of the others are CMake's. There two sources are kept apart if one uses a
name that the other declares for itself alone (in an anonymous namespace, as an alias, a
constant or a macro), or if they open different namespaces with `using namespace`.
Sources are read line by line: clang-format puts every such declaration at the beginning
of a line. A group holds at most LINES lines, unless one file alone is longer.

Each line of output is the name of a file and the number of its group in CMake, or the
name of the group's file in OUT. A file that is alone has the number 0.
"""
import re
import sys
from pathlib import Path

ALIAS = re.compile(r"using (\w+)\s*=\s*(.*)")
ONE_NAME = re.compile(r"using ([\w:]*::)?(\w+);")
NAMESPACE = re.compile(r"using namespace ([\w:]+);")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (?:\[\[.*?\]\] )?(\w+)\b(?!::)")
MACRO = re.compile(r"#\s*define (\w+)")
FUNCTION = re.compile(r"[\w:<>,*&\s\[\]]*?(?<![:\w])(\w+)\(")
VARIABLE = re.compile(r"(?:constexpr|const|static|inline|thread_local|volatile|std::|[a-z_]\w*)"
                      r"[\w:<>,*&\s\[\]]*?(?<![:\w])(\w+)(?:\[\w*\])*\s*(?:=|\{|;)")
# Lines at namespace scope that declare nothing.
NOTHING = re.compile(r"[\s#/}{)\]*]|namespace\b|template\b|extern\b|public:|private:|protected:"
                     r"|BOOST_|ATELIER_|CAF_|typedef\b|return\b|case\b|default\b")


WORD = re.compile(r"(?<![\w.:])(?<!->)([A-Za-z_]\w*)")
RAW = re.compile(r'\bR"(\w*)\(')
COMMENT = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"")

INCLUDE = re.compile(r'#include (?:<(.*)>|"(.*)")')
# What cannot stand in a namespace, or would end with the file.
OUTSIDE = re.compile(r"(?:inline )?namespace \w[\w:]* \{|template <>|extern\b|int main\(|CAF_"
                     r"|BOOST_TEST_(?:DONT_PRINT|SPECIALI)|#\s*(?!include\b)")


class Source:
    """What a source declares for itself, opens, and uses."""

    def __init__(self, path: Path):
        text = path.read_text(encoding="utf-8")
        self.lines = text.count("\n")
        self.own: dict[str, str] = {}
        self.opened: set[str] = set()
        self.words: set[str] = set()
        self.includes: list[str] = []
        self.can_be_inside = True
        hidden, end = False, ""
        for line in text.splitlines():
            if end:
                if end in line:
                    end = ""
                continue
            if (found := RAW.search(line)) and f'){found[1]}"' not in line:
                end = f'){found[1]}"'
            if OUTSIDE.match(line):
                self.can_be_inside = False
            if found := INCLUDE.match(line):
                here = path.parent / (found[2] or "")
                self.includes.append(f'#include "{here.resolve()}"'
                                     if found[2] and here.exists() else line)
            else:
                self.words.update(WORD.findall(COMMENT.sub(" ", line)))
            if line == "namespace {":
                hidden = True
            elif line == "} // namespace":
                hidden = False
            else:
                self.read(line, hidden)

    def read(self, line: str, hidden: bool) -> None:
        if found := MACRO.match(line):
            self.declare(found[1], "macro")
            return
        line = line.removeprefix("[[maybe_unused]] ")
        alone = hidden or line.startswith("static ")
        line = line.removeprefix("inline ").removeprefix("static ")
        if not line or NOTHING.match(line):
            return
        if found := NAMESPACE.match(line):
            self.opened.add(found[1])
        elif found := ALIAS.match(line):
            # The same alias twice is one alias.
            self.declare(found[1], f"alias {found[2]}")
        elif found := ONE_NAME.match(line):
            self.declare(found[2], f"using {found[1]}")
        elif found := TYPE.match(line):
            if alone:
                self.declare(found[1], "own")
        elif found := FUNCTION.match(line):
            if alone:
                self.declare(found[1], "own")
        elif found := VARIABLE.match(line):
            self.declare(found[1], "own")

    def declare(self, name: str, meaning: str) -> None:
        if name in ("auto", "bool", "void"):  # of a function's pointer or result
            return
        if self.own.setdefault(name, meaning) != meaning:
            self.own[name] = "own"

    def disturbs(self, other: "Source") -> bool:
        """Whether a name of this one alone would be seen by the other."""
        return any(name in other.words
                   and (meaning == "own" or other.own.get(name) != meaning)
                   for name, meaning in self.own.items())

    def goes_with(self, other: "Source") -> bool:
        if self.can_be_inside or other.can_be_inside:
            return self.can_be_inside and other.can_be_inside
        return (self.opened == other.opened
                and not self.disturbs(other) and not other.disturbs(self))


def fits(source: Source, group: list[Source], most: int) -> bool:
    return (sum(x.lines for x in group) + source.lines <= most
            and all(x.goes_with(source) for x in group))


def group_file(group: list[tuple[str, Source]], folder: Path) -> str:
    includes = dict.fromkeys(line for _, source in group for line in source.includes)
    parts = ["// Written by unity_groups.py.", *includes]
    for number, (file, _) in enumerate(group):
        name = re.sub(r"\W", "_", Path(file).stem)
        parts += ["", f"namespace inside_{number}_{name} {{", f'#include "{folder / file}"',
                  "}"]
    return "\n".join(parts) + "\n"


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    folder, most, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    sources = [(file, Source(folder / file)) for file in sys.argv[4:]]
    # Those that fit with the fewest come first: fewer groups remain.
    sources = sorted(sources, key=lambda one: -sum(
        not one[1].goes_with(other) for _, other in sources))
    groups: list[list[tuple[str, Source]]] = []
    for file, source in sources:
        for group in groups:
            if fits(source, [x for _, x in group], most):
                group.append((file, source))
                break
        else:
            groups.append([(file, source)])
    number = inside = 0
    for group in groups:
        name = "0"
        if len(group) > 1 and group[0][1].can_be_inside:
            inside += 1
            name = f"inside_{inside}.cpp"
            write_if_changed(out / name, group_file(group, folder))
        elif len(group) > 1:
            number += 1
            name = str(number)
        for file, _ in group:
            print(file, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
