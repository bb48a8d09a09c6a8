#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the cases of live_runs.py, and the traces that it simulates."""
import copy
import sys
import unittest

BENCH = sys.argv.pop(1)
sys.path.insert(0, BENCH)

import live_cases as cases  # noqa: E402
import live_runs  # noqa: E402

PROMPTS = {"class_shares": [1 / 3] * 3, "near": {"mean": 0.7, "spread": 0.1}}


def profile(kind):
    costs = {model: {"prepare_ms": 1, "finish_ms": 1, "variants": [
        {"name": f"{model}@50", "step": [{"batch": 1, "pixels": 1, "ms": 10}]}]}
             for model in cases.MODELS}
    return cases.profile_of(kind, costs, {"variants": [], "cascades": []}, PROMPTS)


def case(name):
    return next(x for x in cases.all_cases() if x.name == name)


class Profiles(unittest.TestCase):
    def test_a_changed_profile_changes_no_other(self):
        for kind, part in (("latents", "latents"), ("images", "images")):
            before = copy.deepcopy(profile(kind))
            changed = profile(kind)
            for row in changed["reuse"][part]:
                row["similarity"] = 1.0
            changed["reuse"]["near"]["mean"] = 0
            changed["variants"][0]["step"][0]["ms"] = 0
            self.assertNotEqual(changed, before)
            self.assertEqual(profile(kind), before)


class Traces(unittest.TestCase):
    def rows(self, name, up_s, warm_up_s, rows):
        lines = live_runs.trace_of(
            case(name), {"up_s": up_s, "warm_up_s": warm_up_s, "rows": rows})
        columns, *lines = (line.split(",") for line in lines.splitlines())
        return [{k: v for k, v in zip(columns, line, strict=True) if v} for line in lines]

    def test_the_load_begins_at_a_plan_as_long_after_the_warm_up_as_it_did(self):
        rows = self.rows("cascade, 2, 0.6", 6.5, 5.5, [{"at": 0.25}, {"at": 1.0}])
        self.assertEqual([x["ms"] for x in rows],
                         ["500.000", "500.000", "6250.000", "7000.000"])
        self.assertEqual([x.get("warm_up") for x in rows], ["1", "1", None, None])
        self.assertEqual(len({x["content"] for x in rows}), 4)

    def test_periods_begin_with_the_planner_and_not_before(self):
        rows = self.rows("cascade, 1, 0.6", 5.9, 4.05, [{"at": 0.25}])
        self.assertEqual([x["ms"] for x in rows], ["0.000", "4250.000"])

    def test_a_row_asks_for_what_its_request_did(self):
        rows = self.rows("six models, 1, 0.3", 6, 4, [{"at": 0, "variant": "m1@20"}])
        self.assertEqual(rows[1]["variant"], "m1@20")
        rows = self.rows("10, 20, 40 steps, 1, 0.6", 6, 4, [{"at": 0, "steps": 40}])
        self.assertEqual(rows[1]["steps"], "40")
        self.assertNotIn("variant", rows[0])


if __name__ == "__main__":
    unittest.main()
