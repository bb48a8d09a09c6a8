# SPDX-License-Identifier: Apache-2.0
"""Counts what an include must not do: enter the detail/ of another folder, and close a
circle of folders.

A folder's detail/ is its own and that of the folders below it. Tests may enter every one.
"""
import re

INCLUDE = re.compile(r"^\s*#\s*include\s+<atelier/([^>]+)>", re.MULTILINE)

# The folder whose folders below must not lead to each other.
FREE = "gpu"
ENTRIES = "entries detail"
CIRCLE = f"circle {FREE}"
THINGS = (ENTRIES, CIRCLE)


def read_includes(sources):
    """Returns the headers of the tree that each source includes, of (path, text)s."""
    return {path: INCLUDE.findall(text) for path, text in sources
            if path.endswith((".hpp", ".cpp", ".cu"))}


def entries(includes):
    """Returns "FILE -> HEADER" for each header of another folder's detail/."""
    return [f"{file} -> {header}" for file, headers in includes.items()
            for header in headers if "/detail/" in header
            and not file.startswith(header.split("/detail/")[0] + "/")]


def folder_of(path):
    """Returns a file's folder; detail/ belongs to the folder that has it."""
    return path.rsplit("/", 1)[0].removesuffix("/detail")


def folders_in_circles(includes, below):
    """Returns the folders, `below` or one below it, that lead to each other."""
    arrows = {}
    for file, headers in includes.items():
        if file.startswith(below + "/"):
            arrows.setdefault(folder_of(file), set()).update(
                folder_of(x) for x in headers if x.startswith(below + "/"))

    def reached(begin):
        found, left = set(), [begin]
        while left:
            for x in arrows.get(left.pop(), ()):
                if x not in found:
                    found.add(x)
                    left.append(x)
        return found

    ways = {x: reached(x) for x in arrows}
    return sorted(x for x in arrows
                  if any(y != x and x in ways.get(y, ()) for y in ways[x]))


def find(sources):
    """Returns {thing: places} of the sources, which are (path, text)s."""
    includes = read_includes(sources)
    return {ENTRIES: entries(includes), CIRCLE: folders_in_circles(includes, FREE)}


def judge(found, recorded):
    """Returns sentences about the faults in the places of a thing."""
    if recorded is None:
        return ["has no recorded count"]
    if len(found) > recorded:
        return [f"{len(found)}, recorded {recorded}: move what is public in fact out "
                "of detail/, or the user to where it belongs"]
    return []
