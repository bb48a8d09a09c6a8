#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a server lose in hours of mixed load while its processes are killed?

One server with its default settings gets calls of every API. Some of the clients
disconnect or cancel their requests, while a random process of the engine is killed
(SIGKILL) every few seconds, or the server stopped and continued. Every image is compared with that of the undisturbed
server. The report shows lost calls, the uptime of each process, the time from a death
until a request continued with its steps and until the next image was encoded, and
memory, descriptors, threads and slots. Exit status 0: everything that a run of this
length can judge is as required. The program needs only Python's standard library.

usage: soak.py ATELIER [--seconds S] [--kill-every S] [--clients N] [--pause S]
               [--seed N] [--test-card] [--set KEY=VALUE]... [--report FILE]
               [--log FILE] [--quick-build]
"""
import argparse
import json
import os
import signal
import sys
import time

from http_load import Server
from measured_program import read_arguments
from soak_cases import Load
from soak_watch import Killer, Watch, alive, metrics, restarts, until_idle

# Memory is judged after WARM_S, over at least LEAST_SLOPE_S.
WARM_S = 1200
LEAST_SLOPE_S = 1200
# A share of the time is meaningful only after each process was killed a few times.
LEAST_SHARE_S = 120


def slope(samples, after):
    """Returns MiB an hour, by least squares over the samples from `after` on."""
    points = [(t / 3600, kib / 1024) for t, kib in samples if t >= after]
    if len(points) < 3:
        return None
    middle = [sum(x) / len(points) for x in zip(*points)]
    width = sum((t - middle[0]) ** 2 for t, _ in points)
    return sum((t - middle[0]) * (y - middle[1]) for t, y in points) / width


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def times(values):
    if not values:
        return {"count": 0}
    return {"count": len(values), "p50_s": round(quantile(values, 0.5), 3),
            "p95_s": round(quantile(values, 0.95), 3),
            "worst_s": round(max(values), 3)}


def ready_seconds(server):
    return {labels.split('"')[1]: value
            for (name, labels), value in metrics(server).items()
            if name == "atelier_process_ready_seconds_total"}


def soak(given, server):
    """Runs the whole test; returns the report."""
    load = Load(server.url, given.test_card, given.clients, given.seed,
                given.pause)
    roles = alive(server)
    load.draw_all()
    before = until_idle(server, roles)
    watch = Watch(server, min(5, given.seconds / 10), min(5, given.every / 2))
    killer = Killer(server, given.every, given.seed)
    ready, began = ready_seconds(server), time.monotonic()
    first = metrics(server)
    for x in (watch, load, killer):
        x.start()
    time.sleep(given.seconds)
    killer.end()
    spent = time.monotonic() - began
    after_kills = ready_seconds(server)
    load.end()
    watch.end()
    until_idle(server, roles)
    # The newest processes must have done the same work as the first ones had.
    load.draw_all()
    after = until_idle(server, roles)
    last = metrics(server)
    counted = {x: last[(f"atelier_{x}", "")] - first[(f"atelier_{x}", "")]
               for x in ("requests_resumed_total", "workers_lost_total")}
    from_half = spent / 2 if spent < WARM_S + LEAST_SLOPE_S else WARM_S
    return {
        "seconds": round(spent, 1), "seed": given.seed,
        "clients": given.clients, "pause_s": given.pause,
        "kill_every_s": given.every,
        "kills": killer.kills, "stops": killer.stops,
        "restarts": restarts(server), "calls": load.counts,
        "faults": load.faults,
        **counted,
        "ready_share": {x: round((after_kills[x] - ready[x]) / spent, 4)
                        for x in ready},
        "from_death_to_step": times(watch.recoveries["step"]),
        "from_death_to_picture": times(watch.recoveries["picture"]),
        "memory_from_s": round(from_half),
        "memory_mib_per_hour": {
            role: round(x, 2) for role, all_of_them in watch.samples.items()
            if (x := slope(all_of_them, from_half)) is not None},
        "memory_kib": watch.samples, "before": before, "after": after}


def judge(report):
    """Returns [(condition, whether it holds, or None if the run is too short to
    say)]."""
    calls, before, after = report["calls"], report["before"], report["after"]

    def equal(field):
        return all(before["parts"][x][field] == after["parts"][x][field]
                   for x in before["parts"])

    long = report["seconds"] >= LEAST_SHARE_S
    longer = report["seconds"] >= WARM_S + LEAST_SLOPE_S
    return [
        ("nothing lost", calls["lost"] == 0 and calls["answered"] > 0),
        ("every picture equal, or alike where no bits are asked for",
         calls["unequal"] == 0),
        ("each part there >= 90 % of the time",
         all(x >= 0.9 for x in report["ready_share"].values())
         if long else None),
        ("memory < 1 MiB an hour",
         all(x < 1 for x in report["memory_mib_per_hour"].values())
         if longer else None),
        ("descriptors equal", equal("descriptors")),
        ("threads equal", equal("threads")),
        ("slots equal", before["slots"] == after["slots"]),
        # A stop that was taken for a death would have killed a worker.
        ("no more deaths than kills",
         report["restarts"] <= sum(report["kills"].values()))]


def tell(report):
    calls = report["calls"]
    print(f"{report['seconds']:g} s, {report['clients']} clients, "
          f"{sum(report['kills'].values())} kills {report['kills']}, "
          f"{report['stops']} stops, "
          f"{report['requests_resumed_total']:g} requests resumed")
    print(", ".join(f"{calls[x]} {x}" for x in calls))
    print("| part | there | memory MiB/h | descriptors | threads |")
    print("| --- | --- | --- | --- | --- |")
    for role, one in report["before"]["parts"].items():
        other = report["after"]["parts"][role]
        share = report["ready_share"].get(role)
        print(f"| {role} | {'' if share is None else f'{100 * share:.2f} %'} | "
              f"{report['memory_mib_per_hour'].get(role, '')} | "
              + " | ".join(f"{one[x]} -> {other[x]}"
                           for x in ("descriptors", "threads")) + " |")
    print(f"memory from {report['memory_from_s']} s on; slots "
          f"{report['before']['slots']:g} -> {report['after']['slots']:g}")
    print("| from a death to | count | p50 s | p95 s | worst s |")
    print("| --- | --- | --- | --- | --- |")
    for name in ("step", "picture"):
        x = report[f"from_death_to_{name}"]
        print(f"| {name} | {x['count']} | {x.get('p50_s', '')} | "
              f"{x.get('p95_s', '')} | {x.get('worst_s', '')} |")
    for what, fine in report["judged"]:
        print(f"{what}: {'too short a run' if fine is None else 'yes' if fine else 'NO'}")
    for fault in report["faults"]:
        print("fault:", fault)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("--seconds", type=float, default=7200)
    words.add_argument("--kill-every", dest="every", type=float, default=10)
    words.add_argument("--clients", type=int, default=4)
    words.add_argument("--pause", type=float, default=0,
                       help="seconds between a client's answer and its next call")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--test-card", action="store_true",
                       help="in place of the shipped models")
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--report")
    words.add_argument("--log", default=os.devnull,
                       help="where the server's log goes")
    given = read_arguments(words)
    more = [x for text in given.set for x in ("--set", text)]
    with open(given.log, "wb") as log:
        server = Server(given.atelier, *more,
                        models="" if given.test_card else None, stderr=log)
        try:
            report = soak(given, server)
            server.process.send_signal(signal.SIGTERM)
            report["exit_status"] = server.process.wait(60)
        finally:
            if server.process.poll() is None:
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
            server.data.cleanup()
    report["judged"] = judge(report) + [
        ("an orderly end", report["exit_status"] == 0)]
    tell(report)
    if given.report:
        with open(given.report, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0 if all(x is not False for _, x in report["judged"]) else 1


if __name__ == "__main__":
    sys.exit(main())
