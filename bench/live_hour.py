#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a server that holds two of six models behave like its simulation?

The busiest hour of a day of a public image service (GenTD26), compressed, is sent to a
server whose one device has room for two of six models, copies of a shipped one. Each
request has its images, its checkpoint (the checkpoints of the hour by rank, modulo six)
and the service's deadline of two minutes, compressed by the same factor. The same
arrivals go to `atelier simulate` with costs that `atelier profile` measured. The report
shows the lost requests and the loads of both. The program needs only Python's standard
library.

usage: live_hour.py ATELIER REQUESTS.csv [--hour "2024-11-28 22"] [--times N]
                    [--model tiny] [--steps N] [--threads N] [--policy P]
                    [--quick-build]
"""
import argparse
import collections
import csv
import datetime
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

from cascade import call
from measured_program import read_arguments

COUNT = 6
ROOM = 2
DEADLINE_S = 120


def read_hour(path, hour):
    """Returns (seconds since the start of the hour, model, images) of each request."""
    with open(path, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file)
                if row["gmt_create"].startswith(hour)
                and row["checkpoint_model_version_id"]]
    assert rows, f"no request at {hour}"
    asked = collections.Counter(r["checkpoint_model_version_id"] for r in rows)
    rank = {name: i for i, (name, _) in enumerate(asked.most_common())}
    begin = datetime.datetime.fromisoformat(hour + ":00:00")
    out = []
    for row in rows:
        at = datetime.datetime.fromisoformat(row["gmt_create"]) - begin
        out.append((at.total_seconds(),
                    rank[row["checkpoint_model_version_id"]] % COUNT,
                    max(1, int(float(row["num_images_per_prompt"] or 1)))))
    return sorted(out)


def settings(given, folder, memory_mib, profile):
    models = ",".join(f"{{name='m{i}',path='{folder / f'm{i}'}'}}"
                      for i in range(COUNT))
    names = json.dumps([f"m{i}@{given.steps}" for i in range(COUNT)])
    out = [f"models=[{models}]",
           f"devices=[{{name='cpu:0',threads={given.threads},variants={names},"
           f"memory_mib={memory_mib},max_batch={given.batch}}}]",
           f"planner.period_s={given.period:g}", f"monitor.window_s={given.window:g}",
           "http.jobs=4000"]
    if profile:
        out.append(f"planner.profile='{profile}'")
    return [x for text in out for x in ("--set", text)]


def measure(given, folder):
    """Measures one model and returns a profile of all six, which are copies of it."""
    file = folder / "one.json"
    subprocess.run(
        [given.atelier, "profile", "--model", "m0", "--batch", "1,2,4,8", "--steps",
         "10", "-o", str(file), "--force", *settings(given, folder, 0, None)],
        check=True, stdout=subprocess.DEVNULL)
    known = json.loads(file.read_text())
    one = next(v for v in known["variants"] if v["name"].startswith("m0@"))
    known["variants"] = [{**one, "name": f"m{i}@{given.steps}"} for i in range(COUNT)]
    whole = folder / "profile.json"
    whole.write_text(json.dumps(known))
    return whole, one


def loads_of(url):
    for line in call(url, "GET", "/metrics")[1].decode().splitlines():
        if line.startswith("atelier_variant_loads_total"):
            return int(float(line.split()[-1]))
    return 0


def live(given, folder, hour, memory_mib, profile):
    deadline = DEADLINE_S / given.times
    server = subprocess.Popen(
        [given.atelier, "serve", "--json", "--listen", "127.0.0.1:0", "--data",
         str(folder / "server"), "--policy", given.policy, "--processes", "split",
         *settings(given, folder, memory_mib, profile)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    became = [None] * len(hour)

    def ask(i, due):
        _, model, images = hour[i]
        status, body = call(url, "POST", "/v1/jobs", {
            "prompt": "a red circle", "seed": i, "model": f"m{model}", "n": images,
            "deadline_ms": round(1000 * deadline)})
        if status != 202:
            became[i] = "refused"
            return
        name = json.loads(body)["id"]
        call(url, "GET", f"/v1/jobs/{name}/events?images=none")
        took = time.monotonic() - due
        job = json.loads(call(url, "GET", f"/v1/jobs/{name}?images=none")[1])
        became[i] = job["status"] if took <= deadline else "late"

    try:
        url = json.loads(server.stdout.readline())["url"]
        while json.loads(call(url, "GET", "/health")[1])["status"] != "ok":
            time.sleep(0.2)
        before = loads_of(url)
        begin = time.monotonic()
        threads = []
        for i, (at, _, _) in enumerate(hour):
            due = begin + at / given.times
            time.sleep(max(0.0, due - time.monotonic()))
            threads.append(threading.Thread(target=ask, args=(i, due)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        # The metric is up to half a second old.
        time.sleep(1)
        return collections.Counter(became), loads_of(url) - before
    finally:
        server.terminate()
        server.wait(60)


def simulated(given, folder, hour, memory_mib, profile):
    trace = folder / "trace.csv"
    trace.write_text("ms,variant,n\n" + "".join(
        f"{1000 * at / given.times:.0f},m{model}@{given.steps},{images}\n"
        for at, model, images in hour))
    out = subprocess.run(
        [given.atelier, "simulate", "--json", "--policy", given.policy, "--profiles",
         str(profile), "--trace", str(trace), "--workers", "1", "--memory",
         str(memory_mib), "--slo-ms", f"{1000 * DEADLINE_S / given.times:g}",
         "--period-ms", f"{1000 * given.period:g}", "--window-ms",
         f"{1000 * given.window:g}", "--max-batch", str(given.batch)],
        capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("requests")
    words.add_argument("--hour", default="2024-11-28 22")
    words.add_argument("--times", type=float, default=12)
    words.add_argument("--model", default="models/tiny")
    words.add_argument("--steps", type=int, default=20)
    words.add_argument("--threads", type=int, default=1)
    words.add_argument("--batch", type=int, default=8)
    words.add_argument("--window", type=float, default=1)
    words.add_argument("--period", type=float, default=2.5)
    words.add_argument("--policy", default="atelier")
    given = read_arguments(words)
    hour = read_hour(given.requests, given.hour)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for i in range(COUNT):
            shutil.copytree(given.model, folder / f"m{i}")
        profile, one = measure(given, folder)
        each = one["memory_bytes"] / 2**20
        memory_mib = int((ROOM + 0.5) * each)
        print(f"{len(hour)} requests, {sum(n for _, _, n in hour)} images; a model "
              f"takes {each:.0f} MiB and {one['load_ms']:.0f} ms to load; room for "
              f"{memory_mib} MiB", flush=True)
        became, loads = live(given, folder, hour, memory_mib, profile)
        lost = len(hour) - became["completed"]
        made = simulated(given, folder, hour, memory_mib, profile)
        print(f"live: {dict(became)}, {100 * lost / len(hour):.1f} % lost, {loads} "
              "loads")
        print(f"simulated: {100 * made['violation_ratio']:.1f} % lost, "
              f"{made['loads']} loads, {100 * made['utilisation']:.0f} % busy")


if __name__ == "__main__":
    main()
