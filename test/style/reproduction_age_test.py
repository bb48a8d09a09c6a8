#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what reproduction_age.py says of small trees and pages."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import reproduction_age as age


def page(digest: str, *paragraphs: str) -> str:
    return "\n\n".join(("# Results", "The tables were made at commit 49a8c755, on "
                        f"2026-11-29, by sources with the digest\n`{digest}`.",
                        *paragraphs, "## Argus", "The end.")) + "\n"


class ReproductionAge(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)
        for name in ("planning/a.cpp", "simulation/detail/b.hpp",
                     "bench/papers/c.cpp.in", "docs/reproduction.md", "core/d.cpp"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(name)
        self.digest = age.digest_of(self.root)

    def changed(self, name: str, text: str) -> bool:
        """Returns whether the digest differs with this file."""
        (self.root / name).write_text(text)
        return age.digest_of(self.root) != self.digest

    def test_each_of_the_three_folders_counts(self):
        for name in ("planning/a.cpp", "simulation/detail/b.hpp",
                     "bench/papers/c.cpp.in"):
            self.assertTrue(self.changed(name, "other"), name)
            self.assertFalse(self.changed(name, name), name)

    def test_spaces_and_new_files_count(self):
        self.assertTrue(self.changed("planning/a.cpp", "planning/a.cpp "))
        self.assertFalse(self.changed("planning/a.cpp", "planning/a.cpp"))
        self.assertTrue(self.changed("planning/e.hpp", ""))

    def test_a_renamed_file_counts(self):
        (self.root / "planning/a.cpp").rename(self.root / "planning/z.cpp")
        self.assertNotEqual(age.digest_of(self.root), self.digest)

    def test_other_folders_and_documents_do_not_count(self):
        self.assertFalse(self.changed("core/d.cpp", "other"))
        self.assertFalse(self.changed("planning/README.md", "other"))

    def test_a_page_of_these_sources_needs_no_sentence(self):
        self.assertEqual(age.faults_of(page("0" * 64), "0" * 64), [])

    def test_an_older_page_without_the_sentence_is_told(self):
        [fault] = age.faults_of(page("0" * 64), "1" * 64)
        self.assertIn("lacks the paragraph", fault)

    def test_an_older_page_with_the_sentence_is_right_however_it_is_broken(self):
        broken = age.AGE.replace(" so ", "\nso ")
        for sentence in (age.AGE, broken):
            self.assertEqual(age.faults_of(page("0" * 64, sentence), "1" * 64), [])

    def test_the_sentence_in_a_page_of_these_sources_is_told(self):
        [fault] = age.faults_of(page("0" * 64, age.AGE), "0" * 64)
        self.assertIn("which it is not", fault)

    def test_a_page_without_commit_or_digest_is_told(self):
        without = page("0" * 64).replace("commit 49a8c755", "some commit")
        self.assertIn("at which commit", age.faults_of(without, "0" * 64)[0])
        self.assertIn("0 digests", age.faults_of(page("0" * 8), "0" * 64)[0])

    def test_mending_adds_the_sentence_once_and_takes_it_away_again(self):
        fresh = page("0" * 64)
        old = age.mended(fresh, "1" * 64)
        self.assertEqual(age.faults_of(old, "1" * 64), [])
        self.assertLess(old.index("older than"), old.index("## Argus"))
        self.assertEqual(age.mended(old, "1" * 64), old)
        self.assertEqual(age.mended(old, "0" * 64), fresh)

    def test_the_program_fails_until_the_page_is_mended(self):
        program = [sys.executable, str(Path(age.__file__))]
        (self.root / age.PAGE).write_text(page("0" * 64))
        found = subprocess.run([*program, str(self.root)], capture_output=True, text=True)
        self.assertEqual(found.returncode, 1)
        self.assertIn(age.ANEW, found.stdout)
        for arguments in (["--mend", str(self.root)], [str(self.root)]):
            self.assertEqual(subprocess.run(
                [*program, *arguments], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
