#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what ./check tells of its phases, and the seed that it makes from a commit.

usage: phases_test.py PHASES.SH
"""
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = ""
# Uses the processor for more than two seconds.
BUSY = ("python3 -c 'import time\n"
        "while time.process_time() < 2.1: pass'")


def bash(folder, text):
    """Returns what the commands print in a shell that has read the script."""
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c",
         f"root={folder} logs={folder}; source {SCRIPT}\n{text}"],
        capture_output=True, text=True, cwd=folder)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return run.stdout


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                   cwd=folder, check=True, capture_output=True)


class Phases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_child_that_was_waited_for_counts(self):
        before, after = map(int, bash(self.folder, f"""
            {BUSY} &
            processor_seconds; echo $used
            wait; processor_seconds; echo $used""").split())
        self.assertLess(before, 2)
        self.assertGreaterEqual(after, 2)

    def test_every_phase_has_a_line(self):
        lines = bash(self.folder, """
            end_phase set-up; end_phase 'building check'; print_phases"""
                     ).splitlines()
        shown = [re.fullmatch(r" +\d+ s +\d+\.\d min  (.*)", x) for x in lines]
        self.assertEqual([x and x[1] for x in shown],
                         ["set-up", "building check", None,
                          "set-up", "building check", "in all"])

    def test_a_phase_that_ended_is_shown_before_the_next_one_ends(self):
        shown = bash(self.folder, "end_phase set-up; echo then; end_phase building")
        self.assertRegex(shown, r"^ +\d+ s +\d+\.\d min  set-up\nthen\n")


class Seed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def seed(self):
        return bash(self.folder, "commit_seed")

    def test_a_commit_has_one_seed(self):
        git(self.folder, "init")
        git(self.folder, "commit", "--allow-empty", "-m", "one")
        first = self.seed()
        self.assertRegex(first, r"^\d+\n$")
        self.assertEqual(self.seed(), first)
        git(self.folder, "commit", "--allow-empty", "-m", "two")
        self.assertNotEqual(self.seed(), first)

    def test_without_a_commit_it_is_random(self):
        first = self.seed()
        self.assertRegex(first, r"^\d+\n$")
        self.assertNotEqual(self.seed(), first)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop()
    unittest.main()
