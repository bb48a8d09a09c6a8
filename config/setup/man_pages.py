#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of a built program from its --help.

usage: man_pages.py PROGRAM FOLDER

The folder gets atelier.1 and an atelier-COMMAND.1 for each command. The exit
status is 1 if a help text lacks its usage, examples or exit statuses.

Why not help2man: it knows one layout of helps, which is not that of CLI11, and
it would be another package.
"""
import re
import subprocess
import sys
from pathlib import Path

HEADING = re.compile(r"^([A-Z][A-Za-z, ]*):$")
OPTION = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")
REQUIRED = ("Examples", "Exit status")


def output_of(program: str, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout


def escaped(text: str) -> str:
    """Return a line that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return r"\&" + text if text.startswith(".") else text


def sections_of(help_text: str) -> tuple[str, str, list[tuple[str, list[str]]]]:
    """Return the first line, the usage, and the headings with their lines.

    Text outside a heading has the heading "".
    """
    first, usage, *rest = help_text.splitlines()
    if not usage.startswith("Usage: "):
        raise ValueError(f"no usage in the help that begins with '{first}'")
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in rest:
        if heading := HEADING.match(line):
            sections.append((heading[1], []))
        elif line and not line.startswith(" ") and sections[-1][0]:
            sections.append(("", [line]))
        else:
            sections[-1][1].append(line)
    for name in REQUIRED:
        if name not in (x for x, _ in sections):
            raise ValueError(f"no '{name}' in the help of '{usage}'")
    return first, usage.removeprefix("Usage: "), sections


def options_in_roff(lines: list[str]) -> list[str]:
    roff: list[str] = []
    for line in lines:
        option = OPTION.match(line)
        if option:
            roff += [".TP", rf"\fB{escaped(option[1])}\fR"]
            roff += [escaped(option[2])] if option[2] else []
        elif line.strip():
            roff.append(escaped(line.strip()))
    return roff


def section_in_roff(name: str, lines: list[str]) -> list[str]:
    if not any(x.strip() for x in lines):
        return []
    roff = [f'.SH "{name.upper()}"']
    if name == "Examples":
        return roff + [".nf", *map(escaped, lines), ".fi"]
    if name == "Exit status":
        return roff + [escaped(x.strip()) for x in lines if x.strip()]
    return roff + options_in_roff(lines)


def page_of(name: str, version: str, help_text: str) -> str:
    first, usage, sections = sections_of(help_text)
    roff = [f'.TH "{name.upper()}" 1 "" "{version}" "Atelier"',
            ".SH NAME", rf"{escaped(name)} \- {escaped(first.rstrip('.'))}",
            ".SH SYNOPSIS", escaped(usage)]
    for heading, lines in sections:
        if heading:
            roff += section_in_roff(heading, lines)
    notes = [x for heading, lines in sections if not heading for x in lines]
    roff += [".SH NOTES", *(escaped(x) if x else ".PP" for x in notes)]
    return "\n".join(roff) + "\n"


def commands_of(program: str) -> list[str]:
    sections = dict(sections_of(output_of(program, "--help"))[2])
    return [x.split()[0] for x in sections["Subcommands"] if x.strip()]


def main() -> int:
    program, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # Without what the program says of its build.
    version = output_of(program, "--version").partition(" (")[0].strip()
    try:
        for command in ["", *commands_of(program)]:
            name = f"atelier-{command}" if command else "atelier"
            arguments = [command] if command else []
            text = output_of(program, *arguments, "--help")
            (folder / f"{name}.1").write_text(page_of(name, version, text))
    except (ValueError, OSError, subprocess.CalledProcessError) as why:
        print(f"man_pages.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
