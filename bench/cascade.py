#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a running cascade do what its plan says, and is its judge worth its time?

A server with two devices that host a heavy and a light variant answers prompts in
phases, each at a share of the capacity. The capacity is the highest rate at which
`atelier plan` finds that every request can be answered in time. Its costs come from
`atelier profile`, which measures first with all devices busy, and then from a server
under load (`GET /v1/admin/profile`), because clients and encoders use a part of the
machine. Then each variant draws all prompts by itself, with equal seeds. The report
shows:
* the share of answers that the heavy variant drew, beside that of the plans in force
  when the requests arrived;
* the correct objects, beside those of random mixes with the same share (a test by
  10,000 permutations);
* mean latency (by the server's times, and with the client's) and violations, beside
  those of `atelier simulate`. The simulation has the same arrivals and devices, the
  means of the costs that the server measured during that run, and plans at the same
  moments between the arrivals.
It needs only Python's standard library. The file is long because the server, its
simulation and the judge get the same requests.

usage: cascade.py ATELIER SCORE [--policy P] [--requests N] [--phases SHARE,...]
                  [--light V] [--heavy V] [--devices N] [--runs N] [--shifts N]
                  [--first N] [--profile FILE] [--warm-up N] [--quality FILE]
                  [--keep DIR] [--no-judge] [--quick-build]
SCORE is the program score_images of the build's tests.
"""
import argparse
import http.client
import json
import pathlib
import random
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

from measured_program import read_arguments

PATIENCE_S = 600


def call(url, method, path, body=None):
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=PATIENCE_S)
    c.request(method, path, body and json.dumps(body))
    reply = c.getresponse()
    return reply.status, reply.read()


class Server:
    def __init__(self, given, folder, devices, policy, profile):
        names = json.dumps([given.heavy, given.light])
        hosts = ",".join(f"{{name='cpu:{i}',threads=1,seats={given.seats},"
                         f"variants={names}}}"
                         for i in range(devices))
        more = [f"devices=[{hosts}]", f"planner.period_s={given.period:g}",
                f"monitor.window_s={given.window:g}", "http.jobs=4000"]
        if profile:
            more.append(f"planner.profile='{profile}'")
        self.process = subprocess.Popen(
            [given.atelier, "serve", "--json", "--listen", "127.0.0.1:0", "--data",
             str(folder / "server"), "--policy", policy, "--processes", "split",
             *(x for text in more for x in ("--set", text))],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        while json.loads(call(self.url, "GET", "/health")[1])["status"] != "ok":
            time.sleep(0.2)

    def end(self):
        self.process.terminate()
        self.process.wait(60)


def draw(url, prompt, seed, **more):
    """Draws one image. Returns (status, its facts, PNG) once the job has ended."""
    status, body = call(url, "POST", "/v1/jobs",
                        {"prompt": prompt, "seed": seed, **more})
    if status != 202:
        return status, json.loads(body), b""
    name = json.loads(body)["id"]
    # The event stream ends with the job.
    call(url, "GET", f"/v1/jobs/{name}/events?images=none")
    job = json.loads(call(url, "GET", f"/v1/jobs/{name}?images=none")[1])
    if job["status"] != "completed":
        return 500, job, b""
    png = call(url, "GET", f"/v1/jobs/{name}/images/0")[1]
    return 200, job["result"]["images"][0], png


def heavy_share(plan, given):
    """Returns the share of the answers that the plan assigns to the heavy variant, or
    None if the plan does not contain it."""
    sum_ = 0
    whole = 0
    for route in plan["routes"]:
        share = max(route["shares"], default=0)
        if share <= 0:
            continue
        whole += share
        if "threshold" in route:
            if route["threshold"] >= len(plan["deferred"]):
                return None
            sum_ += share * plan["deferred"][route["threshold"]]
        else:
            sum_ += share * (given.heavy in route["stages"][0])
    return sum_ / whole if whole > 0 else None


def admitted(rates):
    """Returns the requests a second that a plan admits; None means all."""
    return None if not rates or None in rates else sum(rates)


def right_in(score, files, captions):
    """Returns the correct and the named objects of each file."""
    lines = "".join(f"{file}\t{said}\n" for file, said in zip(files, captions))
    out = subprocess.run([score, "score", "128"], input=lines, text=True,
                         capture_output=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


def profiled(given, name, files):
    """Measures a variant's costs with one process for each file, all at the same
    time."""
    runs = [subprocess.Popen(
        [given.atelier, "profile", "--model", name.split("@")[0], "--batch",
         "1,2,4,8", "--size", "128x128", "--steps", "20", "--set",
         f"devices=[{{name='cpu:0',threads=1,variants=['{name}']}}]",
         "--force", "-o", str(x)], stdout=subprocess.DEVNULL) for x in files]
    assert all(run.wait() == 0 for run in runs)
    part = json.loads(files[0].read_text())
    return part, next(v for v in part["variants"] if v["name"] == name)


def measure_costs(given, folder):
    """Measures the costs of both variants while all devices are busy."""
    file = folder / "costs.json"
    known = json.loads(pathlib.Path(given.quality).read_text())
    all_ = None
    variants = []
    for name in (given.heavy, given.light):
        files = [folder / f"{name.replace('@', '-')}-{i}.json"
                 for i in range(given.devices)]
        part, beside = profiled(given, name, files)
        said = next(x for x in known["variants"] if x["name"] == name)
        for key in ("quality", "quality_pictures", "quality_deviation"):
            if key in said:
                beside[key] = said[key]
        variants.append(beside)
        all_ = all_ or part
    all_["variants"] = variants
    all_["version"] = 2
    all_["cascades"] = [x for x in known["cascades"] if
                        {x["light"], x["heavy"]} == {given.light, given.heavy}]
    assert all_["cascades"], "no such cascade was evaluated"
    file.write_text(json.dumps(all_))
    return file


def capacity(given, profile):
    """Returns the highest rate at which a plan answers every request in time."""
    def feasible(rate):
        out = subprocess.run(
            [given.atelier, "plan", "--json", "--profiles", str(profile), "--demand",
             f"{rate:.4f}", "--workers", str(given.devices), "--policy", given.policy],
            capture_output=True, text=True)
        return json.loads(out.stdout)["feasible"] is True
    low, high = 0.01, 1000.0
    for _ in range(24):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if feasible(middle) else (low, middle)
    return low


def arrivals(given, rate, seed):
    """Returns the moments of a Poisson process whose rate changes with the phase."""
    random_ = random.Random(seed)
    at = 0.0
    out = []
    each = given.requests // len(given.phases)
    for share in given.phases:
        for _ in range(each):
            at += random_.expovariate(share * rate)
            out.append(at)
    return out


def mean_costs(known, drawn):
    """Returns the last of some profiles of one server with the means of them all. What a
    machine takes for a step changes by a third within seconds: the last costs are those
    of one moment. `known` has a profile for each second, and `drawn` the variants of the
    images that ended in each: a profile counts as often as the variant drew, because the
    costs of a variant that does not draw are old."""
    out = json.loads(json.dumps(known[-1]))
    for number, variant in enumerate(out["variants"]):
        name = variant["name"]
        assert all(x["variants"][number]["name"] == name for x in known)
        weights = [part.count(name) for part in drawn]
        same = [(weight if any(weights) else 1, profile["variants"][number])
                for weight, profile in zip(weights, known)]
        whole = sum(weight for weight, _ in same)

        def mean(get):
            return sum(weight * get(x) for weight, x in same) / whole
        for key in ("text_ms", "decode_ms"):
            variant[key] = mean(lambda x: x[key])
        for step in variant["step"]:
            size = (step["batch"], step["pixels"])
            step["ms"] = mean(lambda x: next(
                y["ms"] for y in x["step"] if (y["batch"], y["pixels"]) == size))
    return out


def run(given, folder, profile, rate, captions, seed, deadline, costs):
    """Returns the arrivals, the outcome of each, and the plans. Writes a profile with
    the mean costs of the run to `costs`, and the costs that the server knew in each
    second beside it."""
    server = Server(given, folder, given.devices, given.policy, profile)
    due = arrivals(given, rate, seed)
    rows = [None] * len(due)
    plans = []
    known = []
    over = threading.Event()

    def watch():
        while not over.is_set():
            if time.monotonic() - begin >= len(known):
                known.append(json.loads(
                    call(server.url, "GET", "/v1/admin/profile")[1]))
            plan = json.loads(call(server.url, "GET", "/v1/admin/plan")[1])
            plans.append((time.monotonic(), heavy_share(plan, given),
                          admitted(plan["admitted_rates"]), plan["version"],
                          [w["variants"] for w in plan["workers"]]))
            over.wait(0.1)

    def ask(i, begin):
        status, facts, png = draw(server.url, captions[i % len(captions)], i + 1,
                                  deadline_ms=round(1000 * deadline))
        took = time.monotonic() - begin - due[i]
        rows[i] = {"status": status, "took": took, "at": begin + due[i], **facts}
        if png and not given.no_judge:
            (folder / f"answer-{i}.png").write_bytes(png)

    try:
        # Each variant draws once, so that work done only once is not measured.
        draw(server.url, captions[0], 0)
        watcher = threading.Thread(target=watch)
        begin = time.monotonic()
        watcher.start()
        threads = []
        for i, at in enumerate(due):
            time.sleep(max(0.0, begin + at - time.monotonic()))
            threads.append(threading.Thread(target=ask, args=(i, begin)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        over.set()
        watcher.join()
        drawn = [[] for _ in known]
        for at, row in zip(due, rows):
            if row["status"] == 200:
                drawn[min(int(at + row["took"]), len(known) - 1)].append(row["variant"])
        costs.write_text(json.dumps(mean_costs(known, drawn)))
        costs.with_suffix(".each.json").write_text(json.dumps([known, drawn]))
    finally:
        over.set()
        server.end()
    (folder / "rows.json").write_text(json.dumps(
        {"due": due, "rows": rows, "plans": [[a[0] - begin, *a[1:]] for a in plans]}))
    return due, rows, plans, plan_moment(plans, begin, given.period)


def plan_moment(plans, begin, period):
    """Returns when the planner's period ends: seconds after `begin`, modulo the period.
    Other events also cause plans, so it is the moment around which most changes
    cluster."""
    made = [((a[0] + b[0]) / 2 - begin) % period
            for a, b in zip(plans, plans[1:]) if a[3] != b[3]]
    assert made, "no plan was made"

    def near(at):
        apart = [(x - at + period / 2) % period - period / 2 for x in made]
        return [x for x in apart if abs(x) <= 0.15]
    best = max(made, key=lambda at: len(near(at)))
    return (best + statistics.mean(near(best))) % period


def measured_by_server(given, folder, profile, captions, deadline):
    """Measures costs with a server under load."""
    into = folder / "costs-under-load.json"
    small = argparse.Namespace(**{**vars(given), "requests": given.warm_up,
                                  "phases": [.7], "no_judge": True})
    run(small, folder, profile, capacity(given, profile), captions, 0, deadline, into)
    return into


def alone(given, folder, captions):
    """Draws all prompts with each variant, two at a time."""
    for name in (given.heavy, given.light):
        if (folder / f"{name}-{len(captions) - 1}.png").exists():
            continue
        server = Server(given, folder, given.devices, "vanilla", None)
        todo = iter(range(len(captions)))
        lock = threading.Lock()

        def work():
            while True:
                with lock:
                    i = next(todo, None)
                if i is None:
                    return
                status, _, png = draw(server.url, captions[i], i + 1, variant=name)
                assert status == 200, _
                (folder / f"{name}-{i}.png").write_bytes(png)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.end()


def simulated(given, folder, profile, due, deadline, moment):
    """Returns the mean seconds and the violations of `atelier simulate` whose plans are
    made `moment` seconds after the first request was due, modulo the period."""
    trace = folder / "trace.csv"
    shift = (given.period - moment) % given.period
    trace.write_text("ms,content,deadline_ms\n" + "".join(
        f"{1000 * (shift + t):.3f},{i},{1000 * deadline:.0f}\n"
        for i, t in enumerate(due)))
    out = subprocess.run(
        [given.atelier, "simulate", "--json", "--policy", given.policy,
         "--profiles", str(profile), "--trace", str(trace), "--workers",
         str(given.devices), "--period-ms", f"{1000 * given.period:g}",
         "--window-ms", f"{1000 * given.window:g}", "--noise", "0.02"],
        capture_output=True, text=True, check=True)
    made = json.loads(out.stdout)
    return made["latency_ms"]["mean"] / 1000, made["violation_ratio"]


def mean_total(rows, of):
    """Returns the mean seconds from a request to its answer, by the server's clock. The
    client shares the processor with the server but is not part of a simulation."""
    return statistics.mean(rows[i]["timings_ms"]["total"] for i in of) / 1000


def share_by_plan(rows, plans):
    """Returns the mean, over all answers, of the share in force when each request
    arrived."""
    total = []
    for row in rows:
        before = [share for at, share, *_ in plans if at <= row["at"]]
        if before and before[-1] is not None:
            total.append(before[-1])
    return statistics.mean(total) if total else float("nan")


def admitted_by_plan(rows, plans):
    """Returns the share of the arrivals that the plans in force admitted."""
    begin, end = rows[0]["at"], rows[-1]["at"]
    taken = 0.0
    for i, (at, _, rate, *_) in enumerate(plans):
        until = plans[i + 1][0] if i + 1 < len(plans) else end
        span = max(0.0, min(until, end) - max(at, begin))
        here = sum(max(at, begin) <= row["at"] < until for row in rows)
        taken += here if rate is None else min(here, rate * span)
    return taken / len(rows)


def judge(given, folder, answered, captions):
    """Returns the correct objects of the judged answers and of random mixes with the
    same share, and the number of permutations that are as good."""
    files = {name: [folder / f"{name}-{i}.png" for i in answered]
             for name in (given.heavy, given.light)}
    said = [captions[i] for i in answered]
    right = {name: right_in(given.score, files[name], said) for name in files}
    ours = right_in(given.score, [folder / f"answer-{i}.png" for i in answered], said)
    by_heavy = list(answered.values())
    gain = [h[0] - l[0] for h, l in zip(right[given.heavy], right[given.light])]
    whole = sum(x[1] for x in ours)
    count = sum(by_heavy)
    shown = sum(g for g, taken in zip(gain, by_heavy) if taken)
    random_ = random.Random(1)
    tries = 10_000
    as_good = sum(sum(random_.sample(gain, count)) >= shown for _ in range(tries))
    light = sum(x[0] for x in right[given.light])
    return (sum(x[0] for x in ours) / whole,
            (light + sum(gain) * count / len(gain)) / whole,
            light / whole, sum(x[0] for x in right[given.heavy]) / whole,
            as_good / tries)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("score")
    words.add_argument("--policy", default="diffserve")
    words.add_argument("--requests", type=int, default=501)
    words.add_argument("--phases", default=".3,.7,1.1")
    words.add_argument("--light", default="tiny@50")
    words.add_argument("--heavy", default="base@50")
    words.add_argument("--devices", type=int, default=2)
    words.add_argument("--period", type=float, default=5)
    words.add_argument("--window", type=float, default=1)
    words.add_argument("--seats", type=int, default=16)
    words.add_argument("--runs", type=int, default=1)
    words.add_argument("--first", type=int, default=1,
                       help="the number of the first run; it is the seed of the "
                       "moments at which requests arrive")
    words.add_argument("--shifts", type=int, default=8,
                       help="further simulations of each run, with plans at other "
                       "moments: 1 or more")
    words.add_argument("--profile")
    words.add_argument("--warm-up", type=int, default=150,
                       help="requests of the load under which a server measures its "
                       "costs; 0: it does not")
    words.add_argument("--no-judge", action="store_true",
                       help="do not look at the images")
    words.add_argument("--quality", default="models/profile.json")
    words.add_argument("--keep", help="a folder for images, costs, and what became of the last run")
    given = read_arguments(words)
    given.phases = [float(x) for x in given.phases.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(given.keep or scratch)
        folder.mkdir(exist_ok=True)
        captions = subprocess.run(
            [given.score, "captions", str(given.requests), "20"], text=True,
            capture_output=True, check=True).stdout.splitlines()
        means, violated, expected = [], [], []
        profile = pathlib.Path(given.profile) if given.profile \
            else measure_costs(given, folder)
        deadline = json.loads(profile.read_text())["cascades"][0]["deadline_ms"] / 1000
        if given.warm_up:
            print(f"capacity by costs without load: {capacity(given, profile):.2f} "
                  "requests/s", flush=True)
            profile = measured_by_server(given, folder, profile, captions, deadline)
        rate = capacity(given, profile)
        print(f"capacity by plan: {rate:.2f} requests/s", flush=True)
        for number in range(given.first, given.first + given.runs):
            own = folder / f"costs-of-run-{number}.json"
            due, rows, plans, moment = run(given, folder, profile, rate, captions,
                                           number, deadline, own)
            good = {i: row["variant"] == given.heavy for i, row in enumerate(rows)
                    if row["status"] == 200}
            planned = share_by_plan([rows[i] for i in good], plans)
            share = sum(good.values()) / len(good)
            late = sum(row["status"] != 200 or row["took"] > deadline for row in rows)
            means.append(mean_total(rows, good))
            asked = statistics.mean(rows[i]["took"] for i in good)
            violated.append(late / len(rows))
            expected.append(simulated(given, folder, own, due, deadline, moment))
            mean, ratio = expected[-1]
            before = simulated(given, folder, profile, due, deadline, moment)[0]
            spread = [simulated(given, folder, own, due, deadline,
                                given.period * k / given.shifts)[0]
                      for k in range(given.shifts)]
            judged = {i: good[i] for i in good if " then " in rows[i]["route"]
                      or rows[i]["route"] == "cascade"}
            cascaded = len(judged)
            print(f"run {number}: {len(good)} of {len(rows)} answered "
                  f"({100 * len(good) / len(rows):.1f} %, the plans take on "
                  f"{100 * admitted_by_plan(rows, plans):.1f} %), heavy "
                  f"{100 * share:.1f} %, planned {100 * planned:.1f} %; through a "
                  f"cascade {cascaded}; mean {means[-1]:.2f} s ({asked:.2f} s with the "
                  f"client), violations "
                  f"{100 * violated[-1]:.1f} %; simulated {mean:.2f} s "
                  f"with plans at {moment:.1f} s ({min(spread):.2f} to "
                  f"{max(spread):.2f} at others), {100 * ratio:.1f} %; by the costs "
                  f"known before the run {before:.2f} s", flush=True)
            each = len(rows) // len(given.phases)
            for k, part in enumerate(given.phases):
                of = [i for i in good if k * each <= i < (k + 1) * each]
                if of:
                    plan = share_by_plan([rows[i] for i in of], plans)
                    print(f"  at {part:g}: {len(of)} of {each} answered, heavy "
                          f"{100 * sum(good[i] for i in of) / len(of):.1f} %, planned "
                          f"{100 * plan:.1f} %, mean "
                          f"{mean_total(rows, of):.2f} s", flush=True)
        print(f"median of {given.runs}: mean {statistics.median(means):.2f} s, "
              f"violations {100 * statistics.median(violated):.1f} %; simulated "
              f"{statistics.median(x[0] for x in expected):.2f} s, "
              f"{100 * statistics.median(x[1] for x in expected):.1f} %; of each run's "
              "own simulation by its mean: "
              f"{statistics.median(x[0] / m for x, m in zip(expected, means)):.2f}",
              flush=True)
        if given.no_judge:
            return
        alone(given, folder, captions)
        if not judged:
            return
        ours, chance, light, heavy, luck = judge(given, folder, judged, captions)
        print(f"objects right of {len(judged)} through a cascade: "
              f"{100 * ours:.1f} %, by chance {100 * chance:.1f} % "
              f"({given.light} {100 * light:.1f} %, {given.heavy} "
              f"{100 * heavy:.1f} %); as good by chance: {luck:.4f}")


if __name__ == "__main__":
    main()
