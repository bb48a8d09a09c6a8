# SPDX-License-Identifier: Apache-2.0
"""Count test cases over several build folders, and print the closing line.

Usage: count_tests.py [--extra-failed N] [--extra-passed N] BUILD...

Each folder holds test-results/ctest.xml (what ctest saw) and, for every Boost
executable that came to its end, test-results/<name>.xml with its cases. A ctest
test without such a file counts as one case. A test that ctest calls failed
although all its cases passed (a leak at exit, a time-out) adds one failure.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def boost_cases(report):
    """Return (passed, failed, skipped, names of the failed) of one report."""
    passed = failed = skipped = 0
    names = []
    for case in ElementTree.parse(report).iter("TestCase"):
        result = case.get("result")
        if result.startswith("passed"):
            passed += 1
        elif result == "skipped":
            skipped += 1
        else:
            failed += 1
            names.append(case.get("name"))
    return passed, failed, skipped, names


def ctest_cases(build):
    """Return (passed, failed, skipped, failure lines) of one build folder."""
    results = build / "test-results"
    totals = [0, 0, 0]
    lines = []
    summary = results / "ctest.xml"
    if not summary.exists():
        return 0, 0, 0, []
    for test in ElementTree.parse(summary).iter("testcase"):
        name = test.get("name")
        status = test.get("status")
        counts = [0, 0, 0]
        names = []
        report = results / f"{name}.xml"
        if report.exists():
            try:
                *counts, names = boost_cases(report)
            except ElementTree.ParseError:
                pass  # cut off by a crash: ctest's word counts
        if status == "fail" and counts[1] == 0:
            counts[1] = 1
            names = ["(outside any case)"]
        elif status in ("notrun", "disabled") and sum(counts) == 0:
            counts[2] = 1
        elif sum(counts) == 0:
            counts[0] = 1
        totals = [total + count for total, count in zip(totals, counts)]
        lines += [f"failed: {build.name}: {name}: {case}" for case in names]
    return *totals, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--extra-passed", type=int, default=0)
    parser.add_argument("--extra-failed", type=int, default=0)
    parser.add_argument("builds", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()

    passed, failed = arguments.extra_passed, arguments.extra_failed
    skipped = 0
    for build in arguments.builds:
        more_passed, more_failed, more_skipped, lines = ctest_cases(build)
        passed += more_passed
        failed += more_failed
        skipped += more_skipped
        for line in lines:
            print(line)
    nothing = passed + failed + skipped == 0
    if nothing:
        print("no test was run", flush=True)
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}")
    return 2 if nothing else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
