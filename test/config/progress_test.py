#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a build tells of its progress, and when it is configured again.

usage: progress_test.py CONFIG/SETUP
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(sys.argv.pop(1)).resolve()


class Progress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def bash(self, text, given=""):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c",
             f"root={self.folder}; source {SETUP}/common.sh; "
             f"source {SETUP}/build.sh\n{text}"],
            input=given, capture_output=True, text=True, cwd=self.folder)

    def left(self, done, every, seconds):
        run = self.bash(f"time_left {done} {every} {seconds}")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_the_time_left_follows_the_steps(self):
        self.assertEqual(self.left(10, 100, 60), ", about 9 min left")
        self.assertEqual(self.left(99, 100, 600), ", about 1 min left")
        self.assertEqual(self.left(100, 100, 600), "")
        # The first steps say little.
        self.assertEqual(self.left(4, 100, 60), "")
        self.assertEqual(self.left(50, 100, 19), "")

    def test_a_quarter_of_the_steps_has_a_line(self):
        lines = "".join(f"[{i}/8] Building {i}\n" for i in range(1, 9))
        run = self.bash("command_name=atelier; show_progress release",
                        "ninja: working\n" + lines)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, "ninja: working\n" + lines)
        self.assertEqual(run.stderr.splitlines(),
                         [f"atelier: building release: {i} of 8 steps"
                          for i in (2, 4, 6, 8)])

    def test_only_a_newer_source_is_configured_again(self):
        stamp = self.folder / "stamp"
        for name in ("stamp", "core/a.cpp", "build/b.cpp", "notes.md"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).touch()
        os.utime(stamp, (1000, 1000))

        def is_newer(name, date):
            os.utime(self.folder / name, (date, date))
            return self.bash(f"has_newer_source {stamp}").returncode == 0

        os.utime(self.folder / "core/a.cpp", (900, 900))
        self.assertFalse(is_newer("notes.md", 2000))
        self.assertFalse(is_newer("build/b.cpp", 2000))
        self.assertTrue(is_newer("core/a.cpp", 1001))


unittest.main()
