# SPDX-License-Identifier: Apache-2.0
"""Prints the name of every test case that ctest runs, sorted, one on each line.

Usage: cases.py BUILD...

A case of Boost.Test is printed as `suite/case (executable)`, a case of a Python script
as `case (test)`, and a test without cases as `(test)`. The names of all build folders
are merged. The diff of two such lists shows the cases that a change lost:

    python3 test/guards/cases.py build/check build/asan > before.txt
"""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import places

LIST_CASES = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
found = runpy.run_path(sys.argv[2])
blocks = ([found["blocks_of"](open(sys.argv[3]).read())]
          if "blocks_of" in found else [])
for name, _ in found["all_cases"](*blocks):
    print(name)
"""


def tests_of(build):
    """Returns {name: command} of the tests that ctest would run."""
    told = subprocess.run(["ctest", "--test-dir", build,
                           "--show-only=json-v1"], capture_output=True,
                          text=True, check=True).stdout
    return {x["name"]: x.get("command", [])
            for x in json.loads(told)["tests"]}


def read_content(text):
    """Returns the full names of the tree that --list_content prints."""
    names, path = [], []
    lines = [x for x in text.splitlines() if x.strip()]
    for i, line in enumerate(lines):
        depth = (len(line) - len(line.lstrip(" "))) // 4
        name = re.split(r"\*|:", line.strip())[0]
        path[depth:] = [name]
        follows = lines[i + 1] if i + 1 < len(lines) else ""
        if (len(follows) - len(follows.lstrip(" "))) // 4 <= depth:
            names.append("/".join(path))
    return names


def boost_cases(program):
    # The number of generated cases depends on the scale.
    environment = {k: v for k, v in os.environ.items()
                   if k != "ATELIER_TEST_SCALE"}
    done = subprocess.run([program, "--list_content"], capture_output=True,
                          text=True, env=environment, check=True)
    return read_content(done.stderr)


def python_cases(script):
    """Returns the cases of a script: its functions, or the names from its all_cases()
    or from a list given to run(). An empty list means that the script is one case."""
    tree = ast.parse(script.read_text())
    functions = [x.name for x in tree.body if isinstance(x, ast.FunctionDef)]
    inner = {x.name for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)}
    if "all_cases" in functions:
        done = subprocess.run(
            [sys.executable, "-B", "-c", LIST_CASES, str(script.parent),
             str(script), str(places.README)],
            capture_output=True, text=True, check=True)
        # The line of a command in the README is not part of its name.
        return [re.sub(r"^line \d+: ", "", x)
                for x in done.stdout.splitlines()]
    lists = [x.args[0] for x in ast.walk(tree)
             if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute)
             and x.func.attr == "run" and x.args
             and isinstance(x.args[0], ast.List)]
    named = [x.id for made in lists for x in made.elts
             if isinstance(x, ast.Name) and x.id in inner]
    return (named or [x.removeprefix("case_") for x in functions
                      if x.startswith("case_")])


def cases_of(name, command):
    """Returns the lines for one of ctest's tests."""
    if not command:
        raise FileNotFoundError("not built")
    if any(x.startswith("--report_sink=") for x in command):
        program = next(x for x in command if pathlib.Path(x).name == name)
        if not pathlib.Path(program).exists():
            raise FileNotFoundError("not built")
        found = boost_cases(program)
    else:
        scripts = [pathlib.Path(x) for x in command if x.endswith(".py")]
        found = python_cases(scripts[0]) if scripts else []
    return [f"{x} ({name})" for x in found] or [f"({name})"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lines, missing = set(), []
    for build in sys.argv[1:]:
        for name, command in tests_of(build).items():
            try:
                lines.update(cases_of(name, command))
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                missing.append(f"{build}: {name}: {error}")
    print("\n".join(sorted(lines)))
    for x in missing:
        print(x, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
