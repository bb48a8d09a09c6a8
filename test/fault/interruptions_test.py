# SPDX-License-Identifier: Apache-2.0
"""Interrupts a loaded server: pauses, deaths of its workers, changed states, lost files
of models.

Usage: interruptions_test.py --program ATELIER --report FILE [--only PART]
           [--only-models]
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "cli"))

from process_test import expect, main, needs_models  # noqa: E402


def interrupt(program, *more):
    full = float(os.environ.get("ATELIER_TEST_SCALE") or 0.01) >= 1
    log = program.folder / "log"
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "interruptions.py"), program.path,
         "--count", "300" if full else "5", "--longest", "60" if full else "8",
         "--seed", os.environ.get("ATELIER_TEST_SEED", "1"), "--log", str(log), *more],
        env=program.environment, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stdout, done.stderr,
           log.read_text(errors="replace")[-4000:])


def case_an_interrupted_server_answers_every_call(program):
    interrupt(program)


@needs_models
def case_a_server_that_loses_files_answers_every_call(program):
    code, _, err = program.run(["train", "text", "--minutes", ".01", "--dir", "d"])
    if code == 3 and "not built in" in err:
        return "skipped"
    interrupt(program, "--model", str(ROOT / "models" / "tiny"))
    return "passed"


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("interruptions_fault", all_cases()))
