# SPDX-License-Identifier: Apache-2.0
"""Counts the files that name one sampler, one parameter, one stage, two policies and
two families of models, in any spelling: the files that adding another one would touch.
Counts wrong includes too (includes.py).

Usage: names.py [--report FILE]

A thing's own files, whose path contains its name, are not counted; documents, tests,
benchmarks and examples are not counted either. A count above the recorded one fails.
"""
import argparse
import os
import pathlib
import re
import sys

import includes
import places
import suite

THINGS = {
    "sampler dpmpp_2m": r"dpmpp|dpm\+\+|dpm[-_ ]?solver",
    "parameter guidance_rescale": r"(guidance|cfg)[-_ ]?rescale",
    "stage postprocess": r"post[-_ ]?process(?!or\b)",
    "policy modm": r"modm",
    "policy nirvana": r"nirvana",
    "family mmdit": r"mm[-_ ]?dit|sd[-_ ]?3|stable[-_ ]?diffusion[-_ ]?3|joint_blocks",
    "family sdxl": r"sd[-_ ]?xl|stable[-_ ]?diffusion[-_ ]?xl|xl_text|\b(is_)?xl\b",
}


def sources(root):
    """Yields (path, text) of every source file below `root`."""
    for folder, folders, files in os.walk(root):
        top = pathlib.Path(folder) == root
        folders[:] = sorted(x for x in folders
                            if not x.startswith(".") and x != "__pycache__"
                            and not (top and x in places.NOT_SOURCES))
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            if name.startswith(".") or path.suffix == ".md":
                continue
            try:
                yield path.relative_to(root).as_posix(), path.read_text("utf-8")
            except UnicodeDecodeError:
                pass  # not a source


def find(root):
    """Returns {thing: files that name it}, without its own files."""
    found = {name: [] for name in THINGS}
    for path, text in sources(root):
        for name, pattern in THINGS.items():
            if (re.search(pattern, text, re.IGNORECASE)
                    and not re.search(pattern, path, re.IGNORECASE)):
                found[name].append(path)
    return found


def read_counts(text):
    """Returns {thing: count} from lines KIND NAME COUNT; # begins a comment."""
    rows = [x.split() for x in text.splitlines() if x and not x.startswith("#")]
    return {f"{kind} {name}": int(count) for kind, name, count in rows}


def judge(files, recorded):
    """Returns sentences about the faults in the files that name a thing."""
    if recorded is None:
        return ["has no recorded count"]
    if len(files) > recorded:
        return [f"named in {len(files)} files, recorded {recorded}: the file "
                "that is new among those above should not know it"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    recorded = read_counts(places.COUNTS.read_text())
    out = suite.Suite("guards_names")
    for name, files in find(places.ROOT).items():
        known = recorded.get(name)
        print(f"{name}: {len(files)} files, recorded {known}")
        print("".join(f"  {x}\n" for x in files), end="")
        if known is not None and len(files) < known:
            print(f"{name}: fewer than recorded: record.py counts")
        out.add(name, judge(files, known))
    for name, found in includes.find(sources(places.ROOT)).items():
        known = recorded.get(name)
        print(f"{name}: {len(found)}, recorded {known}")
        print("".join(f"  {x}\n" for x in found), end="")
        if known is not None and len(found) < known:
            print(f"{name}: fewer than recorded: record.py counts")
        out.add(name, includes.judge(found, known))
    return out.end(options.report)


if __name__ == "__main__":
    sys.exit(main())
