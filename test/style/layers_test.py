#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which headers the compiler finds for the sources of each folder's target.

usage: layers_test.py COMPILER ROOT INCLUDE-ROOTS

INCLUDE-ROOTS has a line for each target: its folder, and where the compiler looks for
includes. The table below lists the folders that each folder may include. The compiler
must not find any other header of the project, or another folder's detail/.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

# The folders that have a target, and those directly below each of them.
BELOW = {
    "core": [],
    "core/image": ["core"],
    "config": ["core"],
    "ipc": ["core"],
    "planning": ["ipc"],
    "index": ["planning"],
    "gpu": ["core/image", "index", "planning"],
    "actors": ["config", "gpu"],
    "simulation": ["actors"],
    "runtime": ["actors"],
    "runtime/net": ["actors"],
    "runtime/http": ["runtime"],
    "runtime/cli": ["runtime/http", "runtime/net", "simulation"],
    "training": ["config", "gpu"],
    "training/program": ["runtime/cli", "training"],
    "bench/papers/policies": ["planning"],
    "bench/papers": ["bench/papers/policies", "simulation"],
    "bench/papers/program": ["bench/papers", "runtime/cli"],
}


def all_below(folder: str) -> set[str]:
    found = {folder}
    for x in BELOW[folder]:
        found |= all_below(x)
    return found


def folder_of(header: str) -> str | None:
    """Returns the folder of BELOW that a header belongs to."""
    fitting = [x for x in BELOW if header.startswith(x + "/")]
    return max(fitting, key=len, default=None)


def include_name(header: str) -> str:
    if header in ("runtime/atelier.hpp", "runtime/extensions.hpp",
                  "runtime/version.hpp"):
        header = header.removeprefix("runtime/")
    return f"atelier/{header}"


def compile_text(compiler: str, roots: list[str], text: str,
                 *more: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "planted.cpp")
        file.write_text(text)
        return subprocess.run(
            [compiler, "-std=c++20", *more, *(f"-I{x}" for x in roots), str(file)],
            capture_output=True, text=True, timeout=100)


def found_headers(compiler: str, roots: list[str], headers: list[str]) -> set[str]:
    """Returns the headers that an #include in a source finds."""
    text = "".join(f"#if __has_include(<{include_name(x)}>)\nfound {x}\n#endif\n"
                   for x in headers)
    done = compile_text(compiler, roots, text, "-E", "-P")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return {x.split(" ", 1)[1].replace(" ", "") for x in done.stdout.splitlines()
            if x.startswith("found ")}


def main() -> int:
    compiler, root, roots_file = sys.argv[1:]
    headers = sorted(x.relative_to(root).as_posix() for folder in
                     {x.split("/")[0] for x in BELOW}
                     for x in Path(root, folder).rglob("*.hpp"))
    headers = [x for x in headers if folder_of(x)]
    faults: list[str] = []
    targets = []
    for line in Path(roots_file).read_text().splitlines():
        folder, roots = line.split(" ")
        targets.append((folder, roots.split(":")))
        found = found_headers(compiler, targets[-1][1], headers)
        allowed = all_below(folder)
        for x in headers:
            of = folder_of(x)
            may = of in allowed and ("/detail/" not in x or of == folder)
            if x in found and not may:
                faults.append(f"{folder} may not include {x}, and finds it")
            if x not in found and of == folder:
                faults.append(f"{folder} does not find {x}, its own")
    missing = {x for x in BELOW if Path(root, x, "CMakeLists.txt").exists()} \
        - {x for x, _ in targets}
    if missing:
        faults.append(f"no target of {', '.join(sorted(missing))}")
    # The compiler itself is tried with an include of a higher folder, an include of
    # another folder's detail/, and, so that nothing fails for another reason, a
    # permitted include.
    roots = dict(targets)["actors"]
    for header, right in (("atelier/runtime/rundown.hpp", False),
                          ("atelier/atelier.hpp", False),
                          ("atelier/gpu/device/detail/row_engine.hpp", False),
                          ("atelier/gpu/device/executor.hpp", True),
                          ("atelier/actors/ports.hpp", True)):
        done = compile_text(compiler, roots, f"#include <{header}>\n", "-fsyntax-only")
        if right and done.returncode != 0:
            faults.append(f"<{header}> does not compile in actors: {done.stderr}")
        if not right and (done.returncode == 0
                          or "No such file or directory" not in done.stderr):
            faults.append(f"<{header}> compiles in actors: {done.stderr}")
    print("\n".join(faults) if faults else f"{len(targets)} targets, {len(headers)} headers")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
