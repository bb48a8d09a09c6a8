# SPDX-License-Identifier: Apache-2.0
"""The cases of one guard: the choice among them, and a report in the format of
Boost.Test, so that ./check counts them."""
import math
import os
import pathlib
import random
import xml.etree.ElementTree as ElementTree


def add_options(parser):
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--only", default="",
                        help="cases whose name has this part, whatever scale")


def scale():
    return float(os.environ.get("ATELIER_TEST_SCALE") or 0.01)


def seed():
    """Returns this run's seed and prints it."""
    value = int(os.environ.get("ATELIER_TEST_SEED") or random.getrandbits(64))
    print(f"ATELIER_TEST_SEED={value}", flush=True)
    return value


def choose(groups, least, share, random_numbers):
    """Returns whole groups of cases in their order: `share` of all cases, but at least
    `least`."""
    total = sum(len(x) for x in groups)
    wanted = min(total, max(least, math.ceil(total * share)))
    taken, count = set(), 0
    for i in random_numbers.sample(range(len(groups)), len(groups)):
        if count >= wanted:
            break
        taken.add(i)
        count += len(groups[i])
    return [x for i, x in enumerate(groups) if i in taken]


class Suite:
    def __init__(self, name):
        self.tree = ElementTree.Element("TestSuite", name=name)
        self.failures = 0

    def add(self, name, faults, skipped=False):
        """Adds a case, which fails with each sentence in `faults`."""
        for x in faults:
            print(f"failed: {name}: {x}", flush=True)
        self.failures += bool(faults)
        result = "failed" if faults else "skipped" if skipped else "passed"
        ElementTree.SubElement(self.tree, "TestCase", name=name, result=result)

    def end(self, report):
        """Writes the report; returns the exit status."""
        if report:
            ElementTree.ElementTree(self.tree).write(report)
        print(f"{len(self.tree)} cases, {self.failures} failed")
        return 1 if self.failures or not len(self.tree) else 0
