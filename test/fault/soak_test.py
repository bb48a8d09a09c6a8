# SPDX-License-Identifier: Apache-2.0
"""Runs a short soak: mixed load while processes of the engine are killed.

Usage: soak_test.py --program ATELIER --report FILE [--only PART]
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "cli"))

from process_test import expect, main  # noqa: E402

# Uptime and memory depend on the machine, so they are not checked here.
TIMED = ("each part there >= 90 % of the time", "memory < 1 MiB an hour")


def seconds():
    full = float(os.environ.get("ATELIER_TEST_SCALE") or 0.01) >= 1
    return 600 if full else 60


def case_a_soak_loses_nothing(program):
    report = program.folder / "report.json"
    log = program.folder / "log"
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "soak.py"), program.path,
         "--quick-build", "--test-card", "--set", "devices[0].test_card_step_ms=10",
         "--seconds", str(seconds()),
         "--seed", os.environ.get("ATELIER_TEST_SEED", "1"),
         "--report", str(report), "--log", str(log)],
        env=program.environment, capture_output=True, text=True,
        timeout=seconds() + 400, check=False)
    expect(report.exists(), done.stdout, done.stderr)
    seen = json.loads(report.read_text())
    told = done.stdout + done.stderr + log.read_text()[-4000:]
    for what, fine in seen["judged"]:
        expect(fine or what in TIMED, what, told)
    expect(sum(seen["kills"].values()) > 0, told)
    expect(seen["workers_lost_total"] > 0, told)
    expect(seen["from_death_to_picture"]["count"] > 0, told)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("soak_fault", all_cases()))
