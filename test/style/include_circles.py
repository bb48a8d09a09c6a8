#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds circles of includes in a tree.

usage: include_circles.py ROOT

Prints every circle between headers of one top-level folder, and between top-level
folders, on one line each. The exit status is 1 if there is a circle. It reads `#include
<atelier/folder/x.hpp>` in headers and sources, except in tests, which are above
everything, and in programs that a host compiles.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^\s*#\s*include\s+<atelier/([^>]+)>", re.MULTILINE)
HOST_HEADERS = ("atelier.hpp", "extensions.hpp", "version.hpp")
LEFT_OUT = ("build/", "test/", "config/cmake/")


def included(file: Path) -> list[str]:
    """Returns the files of the tree that `file` includes, by their paths below the
    root."""
    names = INCLUDE.findall(file.read_text(encoding="utf-8"))
    return [f"runtime/{x}" if x in HOST_HEADERS else x for x in names]


def read_includes(root: Path) -> dict[str, list[str]]:
    """Returns the includes of each header and source, by its path below the root."""
    files = [x for ending in ("hpp", "cpp", "cu", "cpp.in")
             for x in root.rglob(f"*.{ending}")]
    paths = {x.relative_to(root).as_posix(): x for x in files}
    return {name: included(path) for name, path in paths.items()
            if not name.startswith(LEFT_OUT)}


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Returns the groups of nodes that all lead to each other (Tarjan's algorithm)."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    for begin in sorted(arrows):
        if begin in number:
            continue
        # The nodes on the current path, each with its remaining arrows.
        way = [(begin, iter(sorted(arrows[begin])))]
        number[begin] = lowest[begin] = len(number)
        stack.append(begin)
        while way:
            node, left = way[-1]
            for to in left:
                if to not in arrows:
                    continue
                if to not in number:
                    number[to] = lowest[to] = len(number)
                    stack.append(to)
                    way.append((to, iter(sorted(arrows[to]))))
                    break
                if to in stack:
                    lowest[node] = min(lowest[node], number[to])
            else:
                way.pop()
                if way:
                    above = way[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    at = stack.index(node)
                    group = stack[at:]
                    del stack[at:]
                    if len(group) > 1 or node in arrows[node]:
                        found.append(sorted(group))
    return found


def top(path: str) -> str:
    return path.split("/", 1)[0]


def find_circles(root: Path) -> list[str]:
    includes = read_includes(root)
    headers = {name: {x for x in to if top(x) == top(name)}
               for name, to in includes.items() if name.endswith(".hpp")}
    folders: dict[str, set[str]] = {}
    for name, to in includes.items():
        folders.setdefault(top(name), set()).update(
            top(x) for x in to if top(x) != top(name))
    return ([f"headers: {', '.join(x)}" for x in circles(headers)]
            + [f"folders: {', '.join(x)}" for x in circles(folders)])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = find_circles(Path(sys.argv[1]))
    print("\n".join(found) if found else "no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
