#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a profile from the times of a real load.

    timeline_profile.py PROFILE TIMELINE... > NEW

PROFILE comes from `atelier profile`, for one variant and size, on an idle machine.
TIMELINE comes from `atelier bench serve --timeline` with that variant and size. NEW
contains the means of the timelines: steps by their rows, each with the time until the
device can run the next one; text and decoding; drawing noise and encoding, from order
to reply, with the transfer between the processes. Batches seen less than --least times
keep the time of PROFILE.

The first steps of an image take longer than its later ones, after a pause and right after
another image's decoding. So the time of a step is that of the steps whose rows are all in
the second half of theirs, if there are --least of them. What the others take more counts
as time of the beginning of an image, together with its text: an image of few steps has as
much of it as one of many. The program prints the resulting --noise for `atelier
simulate` to standard error.
"""
import argparse
import collections
import json
import sys

from stalls import covered, mean, timeline


def spread(values):
    """Returns the standard deviation as a share of the mean."""
    middle = mean(values)
    return (mean([(v - middle) ** 2 for v in values]) ** 0.5) / middle


def in_second_half(steps):
    """Returns of each of a device's steps whether each of its rows has run half of its
    steps before."""
    whole = collections.Counter(row for _, _, rows in steps for row in rows)
    ran = collections.Counter()
    out = []
    for _, _, rows in steps:
        out.append(all(2 * ran[row] >= whole[row] for row in rows))
        ran.update(rows)
    return out


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--least", type=int, default=10)
    words.add_argument("profile")
    words.add_argument("timelines", nargs="+")
    given = words.parse_args()
    with open(given.profile, encoding="utf-8") as file:
        profile = json.load(file)
    if len(profile["variants"]) != 1 or len(
            {s["pixels"] for s in profile["variants"][0]["step"]}) != 1:
        raise SystemExit(f"{given.profile}: not of one variant and one size")
    steps, later, opened, decoded, gaps = {}, {}, [], [], []
    hops = {"preprocess": [], "postprocess": []}
    requests = 0
    for path in given.timelines:
        x = timeline(path)
        requests += len(x.prepared)
        decodes = [d for spans in x.decodes.values() for d in spans]
        decoded += x.decoded
        for name, lengths in hops.items():
            lengths += x.hops[name]
        for device, all_of_one in x.steps.items():
            opens = x.opens[device]
            opened += [end - begin for begin, end in opens]
            for (begin, end, rows), late in zip(all_of_one,
                                                in_second_half(all_of_one)):
                steps.setdefault(len(rows), []).append(end - begin)
                if late:
                    later.setdefault(len(rows), []).append(end - begin)
            for (_, e1, r1), (b2, _, r2) in zip(all_of_one, all_of_one[1:]):
                if b2 > e1 and set(r1) & set(r2):
                    near = [d for d in decodes if d[1] > e1 and d[0] < b2]
                    gaps.append(b2 - e1 - covered(e1, b2, near + [
                        o for o in opens if o[1] > e1 and o[0] < b2]))
    if not requests or not steps:
        raise SystemExit("the timelines have no steps")
    variant = profile["variants"][0]
    variant["decode_ms"] = mean(decoded)
    profile["prepare_ms"] = mean(hops["preprocess"])
    profile["finish_ms"] = mean(hops["postprocess"])
    known = {s["batch"]: s for s in variant["step"]}
    pixels = variant["step"][0]["pixels"]
    beginning = sum(opened)
    for rows, took in sorted(steps.items()):
        over = later.get(rows, [])
        if len(over) >= given.least and mean(over) < mean(took):
            beginning += sum(took) - len(took) * mean(over)
            steps[rows] = took = over
        if len(took) >= given.least:
            known[rows] = {"batch": rows, "pixels": pixels,
                           "ms": mean(took) + mean(gaps), "samples": len(took)}
    variant["text_ms"] = beginning / requests
    variant["step"] = [known[rows] for rows in sorted(known)]
    print(json.dumps(profile, indent=2))
    # The noise is the spread about the mean of each sort, weighted by the sort's time.
    sorts = [decoded, *steps.values()]
    total = sum(map(sum, sorts))
    noise = sum(spread(s) * sum(s) for s in sorts) / total
    print(f"--noise {noise:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
