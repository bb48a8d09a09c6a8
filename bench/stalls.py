#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads timelines of `atelier bench serve --timeline`: when did batches stall?

    stalls.py [--least MS] [--max-batch N] TIMELINE...

A stall: between two steps that share a row, a device did nothing for longer than
--least ms, that is, no step, no text, no decoding. It is an interruption if noise was
drawn or an image encoded meanwhile. A request has the stalls of the batches that it was
in.

A request joins midway if it was prepared while its device ran a step with a free place.
It waits until its text is encoded or its first step begins. The report gives this wait
in lengths of that step, with and without the decodings and texts of other rows that the
device does before its next step.
"""
import argparse
import bisect
import json
from collections import defaultdict


def events_of(path):
    """Yields the events of a file, which may be truncated."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip().rstrip(",")
            if line.startswith("{") and line.endswith("}"):
                yield json.loads(line)


def part(values, share):
    """Returns the smallest value at or above this share of the values; 0 if there are
    no values."""
    values = sorted(values)
    if not values:
        return 0.0
    return values[max(0, -(-int(share * 1000) * len(values) // 1000) - 1)]


def mean(values):
    return sum(values) / len(values) if values else 0.0


class timeline:
    """The parts of a file that are examined; times are in milliseconds."""

    def __init__(self, path):
        names = {}
        self.steps = defaultdict(list)  # device -> (begin, end, rows)
        self.opens = defaultdict(list)  # device -> (begin, end)
        self.cpu = []  # (begin, end) of drawing noise and encoding
        self.decodes = defaultdict(list)  # request -> (begin, end)
        self.prepared = {}  # request -> when
        # The lengths from the scheduler's order to the worker's reply.
        self.hops = defaultdict(list)  # preprocess, postprocess -> lengths
        self.drawn_by = {}  # request -> device
        begun = {}
        for e in events_of(path):
            args = e.get("args", {})
            if e["ph"] == "M" and e["name"] == "thread_name":
                names[(e["pid"], e["tid"])] = args["name"]
            elif e["ph"] == "X":
                who = names.get((e["pid"], e["tid"]), "")
                begin = e["ts"] / 1000
                end = begin + e["dur"] / 1000
                if e["name"] == "steps":
                    rows = args.get("requests", [])
                    # The rows in decoding are at the front.
                    running = rows[len(rows) - args["batch"]:]
                    self.steps[who].append((begin, end, running))
                elif e["name"] == "open":
                    self.opens[who].append((begin, end))
                elif e["name"] == "decode":
                    for request in args.get("requests", []):
                        self.drawn_by[request] = who.removesuffix(" pictures")
                elif e["name"] in ("preprocess", "postprocess"):
                    self.cpu.append((begin, end))
            elif e["ph"] == "b" and e["name"] in ("preprocess", "decode",
                                                  "postprocess"):
                begun[(e["id"], e["name"])] = e["ts"] / 1000
            elif e["ph"] == "e" and (e["id"], e["name"]) in begun:
                request = int(str(e["id"]).split()[-1], 0)
                begin = begun.pop((e["id"], e["name"]))
                end = e["ts"] / 1000
                if e["name"] == "decode":
                    self.decodes[request].append((begin, end))
                else:
                    self.hops[e["name"]].append(end - begin)
                if e["name"] == "preprocess":
                    self.prepared[request] = end
        for all_of_one in self.steps.values():
            all_of_one.sort(key=lambda s: s[0])
        self.cpu.sort()
        self.decoded = [end - begin for spans in self.decodes.values()
                        for begin, end in spans]  # lengths
        for request, spans in self.decodes.items():
            steps = self.steps.get(self.drawn_by.get(request), [])
            self.decodes[request] = [
                piece for span in spans for piece in between(span, steps)]


def between(span, steps):
    """Returns the parts of a decoding. The timeline has it as one span up to its end,
    but its parts ran between the steps before that."""
    begin, end = span
    left, out = end - begin, []
    i = bisect.bisect_left(steps, end, key=lambda s: s[0])
    while left > 0:
        i -= 1
        free_from = steps[i][1] if i >= 0 else end - left
        if free_from < end:
            out.append((max(free_from, end - left), end))
            left -= out[-1][1] - out[-1][0]
        if i >= 0:
            end = min(end, steps[i][0])
    return out


def covered(begin, end, spans):
    """Returns how much of begin..end lies in any of the spans."""
    total = 0.0
    at = begin
    for b, e in sorted(spans):
        b, e = max(b, at), min(e, end)
        if e > b:
            total += e - b
            at = e
    return total


def look(path, least, max_batch):
    x = timeline(path)
    decodes = [d for spans in x.decodes.values() for d in spans]
    stalls, interruptions, gaps = [], [], []
    of_request = defaultdict(int)
    waits, lengths, bare = [], [], []
    alone, beside = defaultdict(list), defaultdict(list)
    for device, steps in x.steps.items():
        begins = [s[0] for s in steps]
        for (b1, e1, r1), (b2, _, r2) in zip(steps, steps[1:]):
            stay = set(r1) & set(r2)
            if not stay or b2 <= e1:
                continue
            idle = (b2 - e1) - covered(e1, b2, x.opens[device] + decodes)
            gaps.append(idle)
            if idle < least:
                continue
            stalls.append(idle)
            if covered(e1, b2, x.cpu) > 0:
                interruptions.append(idle)
            for request in stay:
                of_request[request] += 1
        for begin, end, rows in steps:
            busy = covered(begin, end, x.cpu) > 0.2 * (end - begin)
            (beside if busy else alone)[len(rows)].append(end - begin)
        first = {}
        for begin, _, rows in steps:
            for request in rows:
                first.setdefault(request, begin)
        opens = sorted(x.opens[device])
        for request, begin in first.items():
            ready = x.prepared.get(request)
            at = bisect.bisect_right(begins, ready) - 1 if ready else -1
            if at < 0 or steps[at][1] <= ready or len(steps[at][2]) >= max_batch:
                continue
            # The opening right before its first step encodes its text.
            before = [b for b, e in opens if ready <= b < begin]
            begin = before[-1] if before else begin
            waits.append(begin - ready)
            length = steps[at][1] - steps[at][0]
            lengths.append(waits[-1] / length)
            near = [d for d in decodes + opens if d[1] > ready and d[0] < begin]
            bare.append((waits[-1] - covered(ready, begin, near)) / length)
    requests = len(x.prepared)
    counts = [of_request.get(r, 0) for r in x.prepared]
    print(f"{path}: {requests} requests, {sum(map(len, x.steps.values()))} steps")
    print(f"  between steps, idle: mean {mean(gaps):.3f} p50 {part(gaps, .5):.3f} "
          f"p95 {part(gaps, .95):.3f} max {max(gaps, default=0):.3f} ms")
    print(f"  stalls of {least:g} ms and more: {len(stalls)}, mean {mean(stalls):.2f} ms, "
          f"longest {max(stalls, default=0):.2f} ms; "
          f"with CPU work meanwhile {len(interruptions)}")
    print(f"  stalls of a request: mean {mean(counts):.3f} p50 {part(counts, .5)} "
          f"p95 {part(counts, .95)} max {max(counts, default=0)}")
    for rows in sorted(set(alone) & set(beside)):
        if len(alone[rows]) >= 20 and len(beside[rows]) >= 20:
            print(f"  step of {rows}: p50 {part(alone[rows], .5):.2f} ms, "
                  f"beside CPU work {part(beside[rows], .5):.2f} ms "
                  f"({len(alone[rows])}, {len(beside[rows])} steps)")
    if waits:
        within = sum(1 for w in lengths if w <= 1) / len(lengths)
        print(f"  joined midway: {len(waits)}; waited p50 {part(waits, .5):.2f} "
              f"p95 {part(waits, .95):.2f} max {max(waits):.2f} ms; of the step "
              f"p50 {part(lengths, .5):.2f} p95 {part(lengths, .95):.2f} "
              f"max {max(lengths):.2f}; within one step {100 * within:.1f} %")
        within = sum(1 for w in bare if w <= 1) / len(bare)
        print(f"    without decodings and texts of others: of the step "
              f"p50 {part(bare, .5):.2f} p95 {part(bare, .95):.2f} "
              f"max {max(bare):.2f}; within one step {100 * within:.1f} %")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--least", type=float, default=2.0)
    words.add_argument("--max-batch", type=int, default=8)
    words.add_argument("timelines", nargs="+")
    given = words.parse_args()
    for path in given.timelines:
        look(path, given.least, given.max_batch)


if __name__ == "__main__":
    main()
