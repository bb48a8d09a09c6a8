#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the targets of references in documents exist.

usage: links_test.py ROOT

It checks relative links and their anchors in every Markdown file, that docs/README.md
names every document, that test/docs follows each of them, and that sources or set-up
still contain each message that docs/troubleshooting.md quotes.
"""
import re
import sys
from pathlib import Path

import tree

# These documents show runs of hours.
NOT_FOLLOWED = {"README", "reproduction", "verification"}
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Fixed parts of a message that are shorter than this say too little.
LEAST = 9


def anchors_of(text: str) -> set[str]:
    """Returns the anchors of a file's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", bare).replace(" ", "-")
        number = 1
        while anchor in found:
            anchor = f"{anchor}-{number}"
            number += 1
        found.add(anchor)
    return found


def faults_of_links(root: Path, files: list[str]) -> list[str]:
    faults = []
    for name in files:
        text = FENCE.sub("", (root / name).read_text())
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (root / name).parent / path if path else root / name
            if not target.exists():
                faults.append(f"{name}: {link}: no such file")
            elif anchor and anchor not in anchors_of(target.read_text()):
                faults.append(f"{name}: {link}: no such heading")
    return faults


def faults_of_index(root: Path) -> list[str]:
    index = (root / "docs/README.md").read_text()
    followed = re.search(r"set\(documents\n(.*?)\)",
                         (root / "test/docs/CMakeLists.txt").read_text(),
                         re.DOTALL)[1].split()
    faults = []
    for path in sorted((root / "docs").glob("*.md")):
        if path.name != "README.md" and f"({path.name})" not in index:
            faults.append(f"docs/README.md does not name {path.name}")
        if path.stem not in NOT_FOLLOWED | set(followed):
            faults.append(f"test/docs/CMakeLists.txt does not follow {path.name}")
    return faults


def texts_of_sources(root: Path) -> str:
    """Returns the string literals of all sources, with adjacent ones joined."""
    texts = []
    for name in tree.files_of(root, ".cpp", ".hpp", ".sh"):
        if not name.startswith(("test/", "bench/")):
            text = re.sub(r'"\s*\\?\s*\n?\s*"', "", (root / name).read_text())
            texts.append(text.replace('\\"', '"'))
    return "\n".join(texts)


def faults_of_messages(root: Path) -> list[str]:
    """Checks only the cells that contain messages: code with a space."""
    sources = texts_of_sources(root)
    faults = []
    for line in (root / "docs/troubleshooting.md").read_text().splitlines():
        cells = [x.strip() for x in line.split(" | ")]
        message = next((x for x in cells[:2] if re.fullmatch(r"\|? ?`[^`]+ [^`]+`", x)),
                       None)
        if message is None:
            continue
        for part in message.strip("| `").split("…"):
            part = part.strip()
            if len(part) >= LEAST and part not in sources:
                faults.append(f"docs/troubleshooting.md: nothing says '{part}'")
    return faults


def main() -> int:
    root = Path(sys.argv[1])
    files = tree.files_of(root, ".md")
    faults = faults_of_links(root, files) + faults_of_index(root) \
        + faults_of_messages(root)
    print("\n".join(faults) if faults else f"{len(files)} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
