#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that sources compile by themselves, as the preset `release` compiles them.

usage: sources_alone_test.py CMAKE COMPILER ROOT TORCH FOLDER

`./check` compiles the sources of a target in groups, in which one source may depend on
another's includes; `./atelier` compiles each source by itself. CMake writes into FOLDER
how it would do that, and the compiler reads the sources without generating code: a few
that the seed draws, or all of them at ATELIER_TEST_SCALE=1.
"""
import concurrent.futures
import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

# The share of all sources, before ATELIER_TEST_SCALE.
SHARE = 0.5


def commands(cmake: str, compiler: str, root: Path, torch: str,
             folder: Path) -> list[dict]:
    subprocess.run(
        [cmake, "--preset", "release", "-S", str(root), "-B", str(folder),
         f"-DCMAKE_CXX_COMPILER={compiler}", f"-DATELIER_TORCH={torch}",
         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DATELIER_WERROR=ON"],
        check=True, stdout=subprocess.DEVNULL, cwd=root)
    known = json.loads((folder / "compile_commands.json").read_text())
    return [x for x in known
            if x["file"].endswith(".cpp") and Path(x["file"]).is_relative_to(root)
            and not Path(x["file"]).is_relative_to(folder)]


def complaints(command: dict) -> str:
    """Returns the compiler's messages about one source; empty if it compiles."""
    words = shlex.split(command["command"])
    words = words[words.index(next(x for x in words if x.endswith("++"))):]
    out = words.index("-o")
    del words[out:out + 2]
    run = subprocess.run([*words, "-fsyntax-only"], cwd=command["directory"],
                         capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def main() -> int:
    cmake, compiler, root, torch, folder = sys.argv[1:]
    known = commands(cmake, compiler, Path(root), torch, Path(folder))
    known.sort(key=lambda x: x["file"])
    seed = int(os.environ.get("ATELIER_TEST_SEED") or random.getrandbits(48))
    scale = float(os.environ.get("ATELIER_TEST_SCALE") or 0.01)
    count = min(len(known), max(1, round(len(known) * scale * SHARE)))
    drawn = random.Random(seed).sample(known, count)
    print(f"ATELIER_TEST_SEED={seed}: {count} of {len(known)} sources")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for command, said in zip(drawn, workers.map(complaints, drawn)):
            if said:
                failed += 1
                print(f"{command['file']} does not compile by itself:\n{said}")
    return 1 if failed or not known else 0


if __name__ == "__main__":
    sys.exit(main())
