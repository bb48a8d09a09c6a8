# SPDX-License-Identifier: Apache-2.0
"""Counts whose steps a server's device runs, where a line of the file of keys has a share.

Usage: shares_test.py --program ATELIER --report FILE [--only PART]
"""
import hashlib
import json
import pathlib
import signal
import sys
import urllib.request

from polling import polled
from process_test import PATIENCE_S, expect, main
from serve_test import end_of, server

OTHERS = ("ann", "cid", "dan", "eve")
IMAGES, STEPS, STEPS_OF_OTHERS = 9, 40, 150
CARD = ("devices=[{name='cpu:0',executor='test_card',test_card_step_ms=2,max_batch=2,"
        "seats=16}]")


def call(url, key, method, path, body=None):
    request = urllib.request.Request(
        url + path, body and json.dumps(body).encode(),
        {"X-API-Key": key, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
        return json.loads(reply.read())


def steps_beside(timeline):
    """Returns for each image of STEPS steps how many steps of others the device ran
    between its first and its last one."""
    events = json.loads(pathlib.Path(timeline).read_text())
    mine = {int(x["id"]) for x in events
            if x.get("args", {}).get("steps_run") == STEPS
            and x["args"]["outcome"] == "answered"}
    runs = sorted((x["ts"], x["args"]["steps"], set(x["args"]["requests"]))
                  for x in events if x["name"] == "steps")
    expect(all(len(whose & mine) in (0, len(whose)) for _, _, whose in runs),
           "two sizes shared a step")
    counted = []
    for one in sorted(mine):
        own = [at for at, _, whose in runs if one in whose]
        counted.append(sum(n for at, n, whose in runs
                           if own[0] < at < own[-1] and one not in whose))
    return counted


def draw_beside_others(program, share):
    """Bob draws one image after another, while each of the others has much work. Returns
    how many of their steps ran within each of bob's images."""
    lines = [f"{name} user {hashlib.sha256(name.encode()).hexdigest()}"
             for name in (*OTHERS, "bob")]
    keys = program.folder / "keys"
    keys.write_text("\n".join(lines) + share + "\n")
    keys.chmod(0o600)
    with server(program, "--processes", "split", "--timeline", "t.json", "--set", CARD,
                "--set", "http.keys=keys", "--set", "processes.grace_ms=0") \
            as (process, told):
        url = told["url"]
        # No row of theirs can share a step with one of bob's.
        jobs = {name: call(url, name, "POST", "/v1/jobs", {
            "prompt": "a", "size": "128x128", "n": 16, "steps": STEPS_OF_OTHERS})["id"]
            for name in OTHERS}

        def steps_of(name):
            job = call(url, name, "GET", f"/v1/jobs/{jobs[name]}?images=none")
            expect(job["status"] in ("queued", "running"), "they were done", job)
            return job.get("step", 0)

        for seed in range(IMAGES):
            # What bob had more than they for his share is made up for.
            before = {name: steps_of(name) for name in OTHERS}
            polled(lambda had=before: all(steps_of(x) >= had[x] + 8 for x in OTHERS),
                   "the others never run", PATIENCE_S)
            call(url, "bob", "POST", "/v1/images/generations", {
                "prompt": "a", "size": "64x64", "steps": STEPS, "seed": seed})
        for name in OTHERS:
            steps_of(name)
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    counted = steps_beside(program.folder / "t.json")
    print(f"steps of others in {IMAGES} images of {STEPS} steps, with '{share}': {counted}")
    expect(len(counted) == IMAGES, counted)
    return counted


def case_the_share_of_the_file_of_keys_is_that_of_the_steps(program):
    # Four others have a third as many steps as a share of twelve, and four times as many
    # by equal shares. A busy machine may lengthen single steps, which count by their time.
    counted = draw_beside_others(program, " share=12")
    expect(sorted(counted)[IMAGES // 2] <= STEPS / 2, counted)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_shares", all_cases()))
