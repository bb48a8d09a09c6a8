#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far is a simulation from a running server, in cascades, ladders, caches, hosting
and batches?

Each case of live_cases.py is a load of some seconds on a server of its own, whose devices
run one thread each. The same arrivals go to `atelier simulate`, with two profiles:
* idle: what `atelier profile` measured on this machine before all runs, with as many
  processes at the same time as the case has devices;
* loaded: the same with the times that timeline_profile.py reads from the timeline of an
  earlier load of each model alone. Servers plan by this one.
Neither knows anything of the run itself. Shares of the classifier's classes and the
similarity of the nearest earlier work come from earlier runs too, with other captions;
the simulation draws from them. A load's rate is a share of what the devices carry: of the
highest rate that `atelier plan` does not call infeasible by the loaded profile, or, for
policies without a capacity, of the throughput of full batches.

Before the load, each device draws an image, and the server's plans count these requests
and the quiet time before and after them. The load begins when the server makes a plan. A
simulation has the same periods and requests before, as a warm-up that its results leave
out. Simulations are repeated with other seeds; the median counts. Latencies are the server's
own (`timings_ms.total`), of the answered requests. A request without an answer within its
deadline is a violation. Each answer is checked: its image is a whole PNG of the size, with
the request's prompt and seed in it, drawn by a variant that the request allows. A request
may be refused only because of its deadline or because the plan admits no more.

Everything is kept in the folder DIR: an interrupted run continues there. The program needs
only Python's standard library.

usage: live_runs.py ATELIER DIR [--seconds S] [--only TEXT] [--simulations N]
                    [--others SHARE] [--no-live] [--quick-build]
"""
import argparse
import base64
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import threading
import time
import zlib

import live_cases as cases
from cascade import call
from measured_program import read_arguments

HERE = pathlib.Path(__file__).resolve().parent
PERIOD_S = 2
WINDOW_S = 1
IDLE_NOISE = 0.02
# The share of the processors that other programs may take in a quiet run.
QUIET = 0.1
REFUSALS = {"deadline_missed", "overloaded"}


def devices_text(variants, count, memory_mib=0):
    hosts = ",".join(
        f"{{name='cpu:{i}',threads=1,max_batch={cases.MAX_BATCH},"
        f"memory_mib={memory_mib},variants={json.dumps(list(variants))}}}"
        for i in range(count))
    return f"devices=[{hosts}]"


class Server:
    """A server whose first plan after its start has just been made."""

    def __init__(self, given, settings, policy, timeline):
        data = given.folder / "server"
        shutil.rmtree(data, ignore_errors=True)
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [given.atelier, "serve", "--json", "--listen", "127.0.0.1:0", "--data",
             str(data), "--policy", policy, "--processes", "split", "--timeline",
             str(timeline), *(x for text in settings for x in ("--set", text))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(self.process.stderr.read())
        self.url = json.loads(line)["url"]
        while json.loads(call(self.url, "GET", "/health")[1])["status"] != "ok":
            time.sleep(0.05)

    def await_plan(self):
        """Returns once a period of the planner has begun: two plans a period apart show
        which of the plans those are."""
        before, last = None, self.plan()
        begin = time.monotonic()
        while True:
            assert time.monotonic() - begin < 30 * PERIOD_S, "no plans are made"
            now = self.plan()
            if now != last:
                at = time.monotonic()
                if before and abs(at - before - PERIOD_S) < 0.1:
                    return
                before, last = at, now
            time.sleep(0.01)

    def plan(self):
        return json.loads(call(self.url, "GET", "/v1/admin/plan")[1])["version"]

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=60)


def ask(url, wanted, deadline_s, more):
    """Draws one image. Returns (status, reply as JSON)."""
    body = {"prompt": wanted["prompt"], "seed": wanted["seed"], **more}
    if deadline_s:
        body["deadline_ms"] = round(1000 * deadline_s)
    if "variant" in wanted:
        body["variant"] = wanted["variant"]
    if "steps" in wanted:
        body["num_inference_steps"] = wanted["steps"]
    status, text = call(url, "POST", "/v1/images/generations", body)
    return status, json.loads(text)


def send(url, requests, deadline_s, more):
    """Sends each request when it is due. Returns (seconds until the reply, status,
    reply) of each."""
    out = [None] * len(requests)
    begin = time.monotonic()

    def one(i):
        status, reply = ask(url, requests[i], deadline_s, more)
        out[i] = (time.monotonic() - begin - requests[i]["at"], status, reply)

    threads = []
    for i, wanted in enumerate(requests):
        time.sleep(max(0.0, begin + wanted["at"] - time.monotonic()))
        threads.append(threading.Thread(target=one, args=(i,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return out


def chunks_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at = 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        found = struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0]
        assert found == zlib.crc32(name + body), "a damaged PNG"
        yield name, body
        at += 12 + length
    assert name == b"IEND" and at == len(png), "a cut PNG"


def check(wanted, status, reply, variants):
    """Asserts that a request was answered right; returns what to keep of the answer."""
    if status != 200:
        code = reply["error"]["code"]
        assert code in REFUSALS, reply
        return {"refused": code}
    item = reply["data"][0]
    parts = list(chunks_of(base64.b64decode(item["b64_json"])))
    width, height = struct.unpack(">II", parts[0][1][:8])
    assert (width, height) == (cases.PICTURE, cases.PICTURE), (width, height)
    pixels = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    assert len(pixels) == height * (1 + 3 * width), len(pixels)
    assert len(set(pixels)) > 8, "an image of one colour"
    said = b"".join(body for name, body in parts if name in (b"tEXt", b"iTXt")).decode()
    assert wanted["prompt"] in said, (wanted, said)
    seed = item["seed"]
    assert f"Seed: {seed}," in said, (wanted, said)
    assert seed == wanted["seed"] or "Its seed is that of the earlier image" in said, item
    drawn = next((v for v in variants if f"Model: {v.split('@')[0]}," in said), None)
    assert drawn, said
    assert wanted.get("variant", drawn).split("@")[0] == drawn.split("@")[0], said
    return {"total_ms": item["timings_ms"]["total"], "drawn": drawn.split("@")[0],
            **{k: item[k] for k in ("timings_ms", "prompt_class", "reused") if k in item}}


# What is measured before the runs.

def write(path, what):
    """Writes a file as a whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(what, indent=1))
    new.replace(path)


def idle_profile(given, model, devices):
    """Measures a model, with as many processes at the same time as there are devices."""
    out = given.folder / f"idle-{model}-{devices}.json"
    if not out.exists():
        files = [given.folder / f"beside-{i}.json" for i in range(devices)]
        runs = [subprocess.Popen(
            [given.atelier, "profile", "--model", model, "--batch", "1,2,4,8", "--size",
             f"{cases.PICTURE}x{cases.PICTURE}", "--steps", "20", "--set",
             "devices=[{name='cpu:0',threads=1}]", "--force", "-o", str(x)],
            stdout=subprocess.DEVNULL) for x in files]
        assert all([run.wait() == 0 for run in runs])
        files[0].replace(out)
    return out


def loaded_profile(given, model, devices):
    """Measures a model under a load at half and then a little above its capacity.
    Returns the profile and the noise that timeline_profile.py reads from it."""
    idle = idle_profile(given, model, devices)
    out = given.folder / f"loaded-{model}-{devices}.json"
    if not out.exists():
        known = json.loads(idle.read_text())
        variant = known["variants"][0]["name"]
        most = cases.capacity_of_batches(known, devices)
        said = cases.captions(500 + devices)
        due, at = [], 0.0
        for share in (0.5, 1.1):
            for i in range(max(10, int(share * most * given.seconds / 3))):
                at += 1 / (share * most)
                due.append({"at": at, "prompt": next(said), "seed": i})
        timeline = given.folder / "loaded.timeline.json"
        server = Server(given, [devices_text([variant], devices)], "vanilla", timeline)
        try:
            ask(server.url, due[0], None, {})
            for wanted, (_, status, reply) in zip(due, send(server.url, due, None, {})):
                check(wanted, status, reply, [variant])
        finally:
            server.end()
        made = subprocess.run(
            [sys.executable, str(HERE / "timeline_profile.py"), str(idle),
             str(timeline)], capture_output=True, text=True, check=True)
        write(out, {"noise": float(made.stderr.split()[-1]),
                    "profile": json.loads(made.stdout)})
    found = json.loads(out.read_text())
    return found["profile"], found["noise"]


def costs_of(given, kind, devices):
    """Returns (profiles of the kind's models by name, noise) idle and loaded."""
    models = {cases.model_of(v) for v in cases.KINDS[kind].variants}
    idle = {m: json.loads(idle_profile(given, m, devices).read_text()) for m in models}
    loaded = {m: loaded_profile(given, m, devices) for m in models}
    return {"idle": (idle, IDLE_NOISE),
            "loaded": ({m: x[0] for m, x in loaded.items()},
                       statistics.mean(x[1] for x in loaded.values()))}


def settings_of(given, kind, devices, profile):
    path = given.folder / "server-profile.json"
    path.write_text(json.dumps(profile))
    memory = 0
    models = [f"{{name='{m}',path='{given.folder / m}'}}" for m in cases.COPIES]
    out = [f"planner.period_s={PERIOD_S}", f"monitor.window_s={WINDOW_S}",
           f"planner.profile='{path}'", *cases.KINDS[kind].more]
    if kind == "six models":
        out.append(f"models=[{','.join(models)}]")
        memory = memory_mib(profile)
    if kind in cases.REUSING:
        cache = given.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        if (given.folder / f"filled-{kind}").exists():
            shutil.copytree(given.folder / f"filled-{kind}", cache)
        out.append(f"cache.folder='{cache}'")
    return [devices_text(cases.KINDS[kind].variants, devices, memory), *out]


def memory_mib(profile):
    """Returns the memory in which ROOM of the models fit, and no further one."""
    return int((cases.ROOM + 0.5) * profile["variants"][0]["memory_bytes"] / 2**20)


def at_once(given, kind, profile, count, seed, more):
    """Sends some captions at the same time; returns what became of each."""
    said = cases.captions(seed)
    wanted = [{"at": 0.0, "prompt": next(said), "seed": i} for i in range(count)]
    server = Server(given, settings_of(given, kind, 2, profile),
                    cases.KINDS[kind].policy, given.folder / "early.timeline.json")
    try:
        return [check(x, status, reply, cases.KINDS[kind].variants) for
                x, (_, status, reply) in zip(wanted, send(server.url, wanted, None, more))]
    finally:
        server.end()


def measured_prompts(given):
    """Fills the caches that runs begin with, and measures what captions are like."""
    out = given.folder / "prompts.json"
    if out.exists():
        return json.loads(out.read_text())
    guess = {"class_shares": [1 / 3] * 3, "near": {"mean": 0.7, "spread": 0.1}}

    def profile(kind):
        return cases.profile_of(kind, costs_of(given, kind, 2)["loaded"][0], given.known,
                                guess)

    for kind in cases.REUSING:
        # Whatever is similar: each prompt is drawn in full.
        full = profile(kind)
        for part in ("latents", "images"):
            for row in full["reuse"][part]:
                row["similarity"] = 1.0
        shutil.rmtree(given.folder / f"filled-{kind}", ignore_errors=True)
        at_once(given, kind, full, given.filled, 900, {"cache": "on"})
        (given.folder / "cache").rename(given.folder / f"filled-{kind}")
    # Every prompt finds something, so that each says how similar it is.
    near = profile("latents")
    for i, row in enumerate(near["reuse"]["latents"]):
        row["similarity"] = 0.001 * (1 + i)
    found = [x["reused"]["similarity"] for x in
             at_once(given, "latents", near, 2 * given.filled, 901, {"cache": "on"})
             if "reused" in x]
    classes = [0, 0, 0]
    for row in at_once(given, "ladder", profile("ladder"), given.filled, 902, {}):
        if "prompt_class" in row:
            classes[row["prompt_class"][0]["level"]] += 1
    # One more of each class: none is impossible because a small sample lacks it.
    whole = sum(classes) + 3
    write(out, {"class_shares": [(n + 1) / whole for n in classes],
                "classes": classes, "similarities": found,
                "near": {"mean": statistics.mean(found),
                         "spread": statistics.stdev(found)}})
    return json.loads(out.read_text())


def capacity(given, case, profile):
    """Returns the requests a second that the devices of a case carry."""
    policy = cases.KINDS[case.kind].policy
    if policy in ("vanilla", "atelier"):
        return cases.capacity_of_batches(profile, case.devices)
    path = given.folder / "capacity.json"
    path.write_text(json.dumps(profile))

    def carried(rate):
        made = subprocess.run(
            [given.atelier, "plan", "--json", "--profiles", str(path), "--demand",
             f"{rate:.4f}", "--workers", str(case.devices), "--policy", policy],
            capture_output=True, text=True)
        return json.loads(made.stdout)["feasible"] is not False
    low, high = 0.01, 1000.0
    for _ in range(20):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if carried(middle) else (low, middle)
    return low


# The runs, and what is made of them.

def busy_s():
    """Returns the processor seconds of the machine, and of this program with the
    servers that have ended."""
    with open("/proc/stat", encoding="ascii") as file:
        spent = [int(x) for x in file.readline().split()[1:9]]
    whole = (sum(spent) - spent[3] - spent[4]) / os.sysconf("SC_CLK_TCK")
    own = [resource.getrusage(x) for x in (resource.RUSAGE_SELF,
                                           resource.RUSAGE_CHILDREN)]
    return whole, sum(x.ru_utime + x.ru_stime for x in own)


def live(given, case):
    """Runs a case; returns what is kept of it."""
    kind = cases.KINDS[case.kind]
    costs, _ = costs_of(given, case.kind, case.devices)["loaded"]
    profile = cases.profile_of(case.kind, costs, given.known, given.prompts)
    rate = capacity(given, case, profile)
    requests = cases.requests_of(case, case.load * rate, given.seconds)
    more = {"cache": "on"} if case.kind in cases.REUSING else {}
    timeline = given.folder / f"run-{case.seed}.timeline.json"
    begin, before = time.monotonic(), busy_s()
    server = Server(given, settings_of(given, case.kind, case.devices, profile),
                    kind.policy, timeline)
    try:
        warmed = time.monotonic()
        send(server.url, [{"at": 0.0, "prompt": "a red circle", "seed": i}
                          for i in range(case.devices)], None, {})
        server.await_plan()
        up, warmed = (time.monotonic() - x for x in (server.begun, warmed))
        became = send(server.url, requests, kind.deadline_s, more)
    finally:
        server.end()
    after, passed = busy_s(), time.monotonic() - begin
    others = (after[0] - before[0]) - (after[1] - before[1])
    rows = []
    for wanted, (took, status, reply) in zip(requests, became):
        rows.append({**wanted, "took_s": took,
                     **check(wanted, status, reply, kind.variants)})
    return {"capacity": rate, "up_s": up, "warm_up_s": warmed, "rows": rows,
            "others": others / passed / os.cpu_count()}


def trace_of(case, run):
    """Returns the trace of a run, with the requests before its load. The load begins at
    one of the simulation's plans: the server's periods began less than one of them after
    its process did."""
    begin = PERIOD_S * math.floor(run["up_s"] / PERIOD_S)
    first = 1000 * max(0.0, begin - run["warm_up_s"])
    rows = run["rows"]
    return ("ms,content,variant,steps,warm_up\n" + "".join(
        f"{first:.3f},{len(rows) + i},,,1\n" for i in range(case.devices)) + "".join(
        f"{1000 * (begin + x['at']):.3f},{i},{x.get('variant', '')},{x.get('steps', '')},\n"
        for i, x in enumerate(rows)))


def simulated(given, case, run, which):
    """Returns the medians of the mean latency in ms and of the share of violations, over
    simulations of a run with other seeds."""
    kind = cases.KINDS[case.kind]
    costs, noise = costs_of(given, case.kind, case.devices)[which]
    profile = cases.profile_of(case.kind, costs, given.known, given.prompts)
    path, trace = given.folder / "simulated.json", given.folder / "simulated.csv"
    path.write_text(json.dumps(profile))
    trace.write_text(trace_of(case, run))
    more = ["--memory", str(memory_mib(profile))] if case.kind == "six models" else []
    made = []
    for seed in range(1, given.simulations + 1):
        out = subprocess.run(
            [given.atelier, "simulate", "--json", "--policy", kind.policy, "--profiles",
             str(path), "--trace", str(trace), "--workers", str(case.devices),
             "--slo-ms", f"{1000 * kind.deadline_s:g}", "--period-ms",
             f"{1000 * PERIOD_S}", "--window-ms", f"{1000 * WINDOW_S}", "--max-batch",
             str(cases.MAX_BATCH), "--batching", case.batching, "--noise",
             f"{noise:.3f}", "--seed", str(seed), *more],
            capture_output=True, text=True, check=True)
        made.append(json.loads(out.stdout))
    return (statistics.median(x["latency_ms"]["mean"] for x in made),
            statistics.median(x["violation_ratio"] for x in made))


def seen(case, rows):
    """Returns the mean latency in ms and the share of violations of a run."""
    most = 1000 * cases.KINDS[case.kind].deadline_s
    answered = [x["total_ms"] for x in rows if "total_ms" in x]
    late = len(rows) - sum(x <= most for x in answered)
    return statistics.mean(answered), late / len(rows)


def compare(given, runs):
    """Prints a line for each run, and the errors of all."""
    errors = {"idle": [], "loaded": []}
    print("| kind of work, devices, load | deadline, s | requests | others, % | live: "
          "mean, ms | violations, % | idle: mean | violations | loaded: mean | "
          "violations |")
    print("| --- " * 10 + "|")
    quiet = {name for name, run in runs.items() if run["others"] <= QUIET}
    for case in cases.all_cases():
        if case.name not in runs:
            continue
        rows = runs[case.name]["rows"]
        mean, late = seen(case, rows)
        cells = []
        for which, all_ in errors.items():
            predicted, missed = simulated(given, case, runs[case.name], which)
            all_.append((100 * (predicted / mean - 1), 100 * (missed - late), case.name))
            cells += [f"{predicted:.0f} ({all_[-1][0]:+.1f} %)",
                      f"{100 * missed:.1f} ({all_[-1][1]:+.1f})"]
        print(f"| {case.name} | {cases.KINDS[case.kind].deadline_s:g} | {len(rows)} | "
              f"{100 * runs[case.name]['others']:.0f} | {mean:.0f} | {100 * late:.1f} | "
              f"{' | '.join(cells)} |", flush=True)
    for which, all_ in errors.items():
        for text, some in [
                ("all", all_), (f"others at most {100 * QUIET:g} %",
                                [x for x in all_ if x[2] in quiet])] + [
                (kind, [x for x in all_ if x[2].startswith(kind + ",")])
                for kind in cases.KINDS]:
            if not some:
                continue
            means = [abs(x[0]) for x in some]
            points = [abs(x[1]) for x in some]
            print(f"{which}, {text}: {len(some)} runs; mean latency off by "
                  f"{statistics.median(means):.1f} % (median), {max(means):.1f} % (worst: "
                  f"{max(some, key=lambda x: abs(x[0]))[2]}); violations by "
                  f"{statistics.median(points):.1f} points, {max(points):.1f} (worst: "
                  f"{max(some, key=lambda x: abs(x[1]))[2]}); within 10 %: "
                  f"{sum(x <= 10 for x in means)}, within 3 points: "
                  f"{sum(x <= 3 for x in points)}, both: "
                  f"{sum(a <= 10 and b <= 3 for a, b in zip(means, points))}")
    return errors


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--seconds", type=float, default=25)
    words.add_argument("--only", default="", help="cases whose name contains this text")
    words.add_argument("--simulations", type=int, default=9)
    words.add_argument("--filled", type=int, default=48,
                       help="captions in a cache before a run, and of the first "
                       "measurements")
    words.add_argument("--others", type=float, default=1,
                       help="make runs again that the folder has, but during which other "
                       "programs took more than this share of the processors")
    words.add_argument("--no-live", action="store_true",
                       help="only compare what the folder has")
    given = read_arguments(words)
    given.folder = given.folder.resolve()
    given.folder.mkdir(exist_ok=True)
    models = HERE.parent / "models"
    given.known = json.loads((models / "profile.json").read_text())
    for name in cases.COPIES:
        if not (given.folder / name).exists():
            shutil.copytree(models / "tiny", given.folder / name)
    given.prompts = measured_prompts(given)
    results = given.folder / "runs.json"
    runs = json.loads(results.read_text()) if results.exists() else {}
    # Those of earlier versions do not say how long their server was up.
    runs = {name: run for name, run in runs.items() if "up_s" in run}
    wrong = []
    for case in cases.all_cases():
        done = case.name in runs and runs[case.name]["others"] <= given.others
        if given.no_live or done or given.only not in case.name:
            continue
        begin = time.monotonic()
        try:
            runs[case.name] = live(given, case)
        except AssertionError as fault:
            wrong.append(case.name)
            print(f"{case.name}: WRONG: {fault}", file=sys.stderr, flush=True)
            continue
        write(results, runs)
        mean, late = seen(case, runs[case.name]["rows"])
        print(f"{case.name}: {len(runs[case.name]['rows'])} requests, "
              f"{runs[case.name]['capacity']:.2f}/s carried, mean {mean:.0f} ms, "
              f"violations {100 * late:.1f} %, others took "
              f"{100 * runs[case.name]['others']:.0f} % of the processors "
              f"({time.monotonic() - begin:.0f} s)",
              file=sys.stderr, flush=True)
    write(given.folder / "errors.json", compare(given, runs))
    if wrong:
        raise SystemExit(f"answered wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
