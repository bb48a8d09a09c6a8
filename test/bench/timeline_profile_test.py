#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the profile that timeline_profile.py makes of a timeline."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(sys.argv.pop(1))
PROFILE = {"format": "atelier.profile", "version": 1, "variants": [
    {"name": "a@4", "text_ms": 1, "decode_ms": 1,
     "step": [{"batch": 1, "pixels": 1, "ms": 1}, {"batch": 8, "pixels": 1, "ms": 5}]}]}


def events(images):
    """Yields the events of images that one device draws one after another. Each is the
    lengths of its text, its steps and its decoding, in ms."""
    for tid, name in enumerate(("cpu:0", "cpu:0 pictures")):
        yield {"ph": "M", "name": "thread_name", "pid": 2, "tid": tid,
               "args": {"name": name}}
    now = 0

    def span(name, tid, took, **args):
        nonlocal now
        now += 1000 * took
        return {"ph": "X", "name": name, "pid": 2, "tid": tid, "ts": now - 1000 * took,
                "dur": 1000 * took, "args": args}

    def hop(name, request, took):
        nonlocal now
        same = {"name": name, "id": str(request), "pid": 1, "tid": 0}
        yield {"ph": "b", "ts": now, **same}
        now += 1000 * took
        yield {"ph": "e", "ts": now, **same}

    for request, (text, steps, decode) in enumerate(images):
        yield from hop("preprocess", request, 0.5)
        yield span("open", 0, text)
        for took in steps:
            yield span("steps", 0, took, batch=1, requests=[request])
        yield span("decode", 1, decode, requests=[request])
        now -= 1000 * decode
        yield from hop("decode", request, decode)
        yield from hop("postprocess", request, 1.5)


def made(images):
    """Returns what the program makes of a timeline: variant, profile and noise."""
    with tempfile.TemporaryDirectory() as folder:
        profile, timeline = Path(folder) / "p.json", Path(folder) / "t.json"
        profile.write_text(json.dumps(PROFILE))
        timeline.write_text("".join(json.dumps(e) + ",\n" for e in events(images)))
        out = subprocess.run(
            [sys.executable, BENCH / "timeline_profile.py", profile, timeline],
            capture_output=True, text=True, check=True)
    new = json.loads(out.stdout)
    return new["variants"][0], new, float(out.stderr.split()[-1])


class TimelineProfile(unittest.TestCase):
    def test_even_steps_and_texts_keep_their_times(self):
        variant, whole, noise = made([(2, [10] * 4, 20)] * 10)
        self.assertAlmostEqual(variant["text_ms"], 2)
        self.assertAlmostEqual(variant["decode_ms"], 20)
        self.assertAlmostEqual(variant["step"][0]["ms"], 10)
        self.assertAlmostEqual(whole["prepare_ms"], 0.5)
        self.assertAlmostEqual(whole["finish_ms"], 1.5)
        self.assertEqual(noise, 0)
        # Batches that the timeline lacks keep what the profile says.
        self.assertEqual(variant["step"][1], PROFILE["variants"][0]["step"][1])

    def test_what_first_steps_take_longer_belongs_to_the_beginning(self):
        variant, _, noise = made([(2, [15, 12, 10, 10], 20)] * 10)
        self.assertAlmostEqual(variant["step"][0]["ms"], 10)
        self.assertAlmostEqual(variant["text_ms"], 2 + 5 + 2)
        self.assertEqual(noise, 0)

    def test_later_steps_that_are_slower_make_no_beginning_of_less_than_nothing(self):
        variant, _, _ = made([(1, [100] * 25 + [101] * 25, 20)] * 10)
        self.assertAlmostEqual(variant["text_ms"], 1)
        self.assertAlmostEqual(variant["step"][0]["ms"], 100.5)

    def test_an_image_of_few_steps_begins_like_one_of_many(self):
        variant, _, _ = made([(2, [15, 12] + [10] * 18, 20)] * 10)
        self.assertAlmostEqual(variant["step"][0]["ms"], 10)
        self.assertAlmostEqual(variant["text_ms"], 2 + 5 + 2)

    def test_few_later_steps_say_nothing_of_their_own(self):
        variant, _, _ = made([(2, [14, 12, 10, 10], 20)] * 4)
        self.assertAlmostEqual(variant["step"][0]["ms"], 11.5)
        self.assertAlmostEqual(variant["text_ms"], 2)


if __name__ == "__main__":
    unittest.main()
