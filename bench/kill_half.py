#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long do violations last when half of the devices die at one moment?

A server with devices that draw test cards gets a steady load with deadlines. At one
moment the processes of half of the devices are killed (SIGKILL), and they stay dead.
Each device may host a large variant and one of half as many steps, whose images count
less (a ladder of the profile): the policy decides who hosts what, and how many requests
each variant gets. With --one-variant only one variant exists, so the policy has nothing
to decide. The report shows the violations (late, refused, failed) of each planning
period, beside those of a server that has only the other half from its start and gets
the same load. It also shows when the first plan without the dead devices was in force.
The program needs only Python's standard library.

usage: kill_half.py ATELIER [--devices N] [--rate QPS] [--seconds S] [--kill-at S]
                    [--period S] [--step-ms MS] [--steps N] [--batch N]
                    [--deadline-ms MS] [--policy P] [--one-variant]
                    [--quick-build]
"""
import argparse
import csv
import json
import os
import signal
import subprocess
import tempfile
import threading
import time

from http_load import Server
from measured_program import read_arguments


def variants(given):
    large = f"large@{given.steps}"
    return [large] if given.one_variant else [large, f"small@{given.steps // 2}"]


def measured(given):
    """Returns a profile of the cards: a step takes the same time for any number of
    rows."""
    names = variants(given)
    qualities = dict(zip(names, (1.0, 0.8)))
    out = {"format": "atelier.profile", "version": 2, "variants": [
        {"name": name, "native": {"width": 64, "height": 64},
         "quality": qualities[name],
         "step": [{"batch": batch, "pixels": 4096, "ms": given.step_ms,
                   "samples": 1}
                  for batch in sorted({1, given.batch})]} for name in names]}
    if not given.one_variant:
        out["ladders"] = [{"kind": "smaller_models", "levels": [
            {"variant": name, "quality": qualities[name]} for name in names]}]
    return out


def settings(given, devices, profile):
    """Returns the arguments of a server with `devices` devices."""
    one = ("{{name='cpu:{}',executor='test_card',variants={},test_card_step_ms={},"
           "max_batch={},seats={}}}")
    cards = ",".join(one.format(i, json.dumps(variants(given)), given.step_ms,
                                given.batch, 2 * given.batch)
                     for i in range(devices))
    # The killed processes stay dead for the whole run.
    away = 3_600_000
    out = ["--policy", given.policy, "--processes", "split"]
    for text in (f"devices=[{cards}]", f"planner.period_s={given.period:g}",
                 "monitor.window_s=1", f"planner.profile='{profile}'",
                 f"processes.restart_most_ms={away}",
                 f"processes.restart_first_ms={away}"):
        out += ["--set", text]
    return out


def plan_version(server):
    for line in server.ask("/metrics").decode().splitlines():
        if line.startswith("atelier_plan_version"):
            return int(float(line.split()[-1]))
    return -1


def large_share(plan, given):
    """Returns the share of the requests that the plan assigns to the large variant."""
    parts = [(max(r["shares"], default=0), variants(given)[0] in r["stages"][0])
             for r in plan["routes"]]
    whole = sum(share for share, _ in parts)
    return sum(share for share, large in parts if large) / whole if whole else 1.0


def run(given, devices, kill):
    """Runs the load; returns its requests and the observed effects of the kill."""
    profile = tempfile.NamedTemporaryFile("w", suffix=".json")
    profile.write(json.dumps(measured(given)))
    profile.flush()
    server = Server(given.atelier, *settings(given, devices, profile.name))
    seen = {"large": []}
    records = tempfile.mktemp(suffix=".csv")
    over = threading.Event()
    try:
        load = [given.atelier, "bench", "serve", "--server", server.url,
                "--rate", str(given.rate), "--duration", str(given.seconds),
                "--seed", "1", "--mix", "size=64x64",
                "--mix", f"deadline_ms={given.deadline_ms}", "--records", records,
                "--json"]
        begin = time.monotonic()
        client = subprocess.Popen(load, stdout=subprocess.PIPE, text=True)

        def strike():
            time.sleep(max(0, begin + given.kill_at - time.monotonic()))
            alive = [p for p in json.loads(server.ask("/health"))["processes"]
                     if p["role"].startswith("cpu:")]
            assert len(alive) == devices, alive
            before = plan_version(server)
            at = time.monotonic()
            for p in alive[:devices // 2]:
                os.kill(p["pid"], signal.SIGKILL)
            seen["killed_s"] = at - begin
            while plan_version(server) == before:
                time.sleep(0.02)
            seen["replanned_s"] = time.monotonic() - at

        def watch():
            while not over.wait(0.5):
                seen["large"].append((time.monotonic() - begin, large_share(
                    json.loads(server.ask("/v1/admin/plan")), given)))

        watcher = threading.Thread(target=watch)
        watcher.start()
        if kill:
            killer = threading.Thread(target=strike)
            killer.start()
        out = client.communicate()[0]
        over.set()
        watcher.join()
        if kill:
            killer.join()
        assert client.returncode == 0, out
        with open(records, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        os.unlink(records)
        summary = json.loads(out)
        # Every request must have exactly one outcome.
        assert summary["requests"] == len(rows) > 0
        assert sum(summary[k] for k in ("answered", "refused", "failed")) == len(rows)
        return rows, seen
    finally:
        over.set()
        server.end()
        profile.close()


def violations(rows, given):
    """Returns (arrived, violated) for each period, by arrival."""
    out = {}
    for row in rows:
        period = int(float(row["due_ms"]) / 1000 // given.period)
        arrived, bad = out.get(period, (0, 0))
        out[period] = (arrived + 1, bad + (row["became"] != "answered"))
    return out


def planned(seen, period, given):
    values = [share for at, share in seen["large"]
              if period * given.period <= at < (period + 1) * given.period]
    return f"{100 * sum(values) / len(values):.0f} %" if values else "-"


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("--devices", type=int, default=4)
    words.add_argument("--rate", type=float, default=20)
    words.add_argument("--seconds", type=float, default=50)
    words.add_argument("--kill-at", type=float, default=20)
    words.add_argument("--period", type=float, default=5)
    words.add_argument("--step-ms", type=int, default=20)
    words.add_argument("--steps", type=int, default=10)
    words.add_argument("--batch", type=int, default=3)
    words.add_argument("--deadline-ms", type=int, default=1000)
    words.add_argument("--policy", default="atelier")
    words.add_argument("--one-variant", action="store_true")
    given = read_arguments(words)
    rows, seen = run(given, given.devices, True)
    rest, others = run(given, given.devices // 2, False)
    print(f"{given.devices} devices, {given.devices // 2} of them killed after "
          f"{seen['killed_s']:.2f} s; a new plan {1000 * seen['replanned_s']:.0f} ms later")
    print("| arrived in | requests | violations | | planned large | half from the "
          "start | | planned large |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    ours, theirs = violations(rows, given), violations(rest, given)
    for period in sorted(ours):
        n, bad = ours[period]
        m, worse = theirs.get(period, (0, 0))
        print(f"| {period * given.period:g}-{(period + 1) * given.period:g} s | {n} | "
              f"{bad} | {100 * bad / n:.1f} % | {planned(seen, period, given)} | "
              f"{worse} | {100 * worse / max(m, 1):.1f} % | "
              f"{planned(others, period, given)} |")
    codes = {}
    for row in rows:
        if row["became"] != "answered":
            key = row["code"] or row["became"]
            codes[key] = codes.get(key, 0) + 1
    print("violations by reason:", codes)


if __name__ == "__main__":
    main()
