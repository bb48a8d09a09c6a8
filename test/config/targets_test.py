# SPDX-License-Identifier: Apache-2.0
"""Checks what ./atelier builds before each command.

Usage: targets_test.py CONFIG/SETUP/TARGETS.SH
"""
import subprocess
import sys
import unittest

SCRIPT = sys.argv.pop(1)


class Targets(unittest.TestCase):
    def built(self, *arguments):
        """Returns the targets beyond the programs that generate and serve."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", 'source "$1"; shift; targets_of "$@"',
             "bash", SCRIPT, *arguments],
            check=True, capture_output=True, text=True)
        targets = done.stdout.split()
        self.assertEqual(targets[:2], ["atelier", "atelier-process"])
        return targets[2:]

    def test_generating_and_serving_need_no_other_program(self):
        for arguments in ([], ["generate", "a red circle", "-n", "2"], ["serve"],
                          ["--version"], ["help", "train"], ["--log"],
                          ["simulate", "--policy", "atelier"]):
            self.assertEqual(self.built(*arguments), [], arguments)

    def test_a_prompt_is_no_command(self):
        for arguments in (["generate", "train"], ["generate", "--json", "evaluate"],
                          ["--data", "train", "generate", "a"],
                          ["--set", "a=1", "--log", "info", "generate", "train"],
                          ["generate", "simulate", "--reproduce"]):
            self.assertEqual(self.built(*arguments), [], arguments)

    def test_training_and_evaluation_have_a_program(self):
        for arguments in (["train", "tiny"], ["evaluate"], ["--json", "train", "all"],
                          ["--data", "d", "evaluate", "--captions", "1"],
                          ["--data=d", "train"]):
            self.assertEqual(self.built(*arguments), ["atelier-training"], arguments)

    def test_the_papers_experiments_have_a_program(self):
        for arguments in (["simulate", "--reproduce", "nirvana"],
                          ["simulate", "--strict", "--reproduce=all"],
                          ["--data", "d", "simulate", "--reproduce", "all"]):
            self.assertEqual(self.built(*arguments), ["atelier-papers"], arguments)

    def test_the_papers_policies_are_in_their_program(self):
        for arguments in (["simulate", "--policy", "atelier,clipper-light"],
                          ["simulate", "--policy=aimd,vanilla", "--json"],
                          ["plan", "--demand", "2", "--policy", "static-batching"],
                          ["plan", "--policy", "fixed", "--plan", "p.json"]):
            self.assertEqual(self.built(*arguments), ["atelier-papers"], arguments)
        for arguments in (["plan", "--policy", "atelier,argus-paper"],
                          ["serve", "--policy", "clipper-light"]):
            self.assertEqual(self.built(*arguments), [], arguments)


if __name__ == "__main__":
    unittest.main()
