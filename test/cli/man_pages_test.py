#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each command has a manual page that contains its help and renders.

usage: man_pages_test.py MAN_PAGES_PY PROGRAM FOLDER

The exit status is 77 (skipped) if neither groff nor mandoc is installed.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def rendered(page: Path) -> tuple[str, str]:
    """Returns the text of a page, and the renderer's warnings."""
    if shutil.which("groff"):
        command = ["groff", "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u"]
    else:
        command = ["mandoc", "-Tascii", "-Werror"]
    done = subprocess.run([*command, str(page)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = re.sub(r".\x08", "", done.stdout)
    warnings = done.stderr if done.returncode == 0 else f"failed {done.stderr}"
    return text, warnings


def letters(text: str) -> str:
    """Returns the text without the spaces and hyphens of line breaks."""
    return re.sub(r"[\s\-]", "", text)


def faults_of(page: Path, help_text: str) -> list[str]:
    text, warnings = rendered(page)
    faults = [f"{page.name}: {warnings}"] if warnings else []
    found = letters(text)
    for heading in ("SYNOPSIS", "EXAMPLES", "EXIT STATUS"):
        if letters(heading) not in found:
            faults.append(f"{page.name}: no {heading}")
    body = help_text.split("\n", 1)[1]
    for line in body.splitlines():
        for part in re.split(r"\s{2,}", line.strip()):
            if part and not part.endswith(":") \
                    and letters(part.removeprefix("Usage: ")) not in found:
                faults.append(f"{page.name}: without '{part}'")
    return faults


def main() -> int:
    script, program, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, script, program, str(folder)], check=True)
    if not shutil.which("groff") and not shutil.which("mandoc"):
        print("skipped: neither groff nor mandoc is installed")
        return SKIPPED
    top = subprocess.run([program, "--help"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    listed = top.split("Subcommands:\n")[1].split("\n\n")[0]
    commands = [x.split()[0] for x in listed.splitlines()]
    if len(commands) < 15:
        print(f"only {len(commands)} commands found")
        return 1
    faults = []
    for command in ["", *commands]:
        arguments = [command] if command else []
        help_text = subprocess.run([program, *arguments, "--help"], check=True,
                                   text=True, stdout=subprocess.PIPE).stdout
        page = folder / ("-".join(["atelier", *arguments]) + ".1")
        faults += faults_of(page, help_text) if page.exists() \
            else [f"{page.name}: missing"]
    print("\n".join(faults) if faults else f"{len(commands) + 1} pages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
