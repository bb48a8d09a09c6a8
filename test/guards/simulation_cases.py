# SPDX-License-Identifier: Apache-2.0
"""The guarded simulations: every policy, with the loads, edits, caches, kinds of
devices and faults that its decisions depend on."""
import dataclasses
import json

import places


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    profile: str
    policies: tuple
    arguments: tuple
    # Name and text of the files that the arguments name.
    files: tuple = ()
    # The policy whose plan is in plan.json, and the requests a second that it is made
    # for.
    plan: tuple = ()
    # The judge that replaces the one of the profile's cascade.
    judge: str = ""


def faults(*rows):
    return ("faults.json", json.dumps({
        "format": "atelier.faults", "version": 1,
        "faults": [dict(zip(("kind", "at_s", "for_s"), row[:3]), **row[3])
                   for row in rows]}))


def trace():
    """Returns four requests a second from three tenants that want different images."""
    lines = ["ms,content,n,steps,size,tenant,deadline_ms"]
    for i in range(1200):
        lines.append(
            f"{i * 250 + i * i % 311},{i * i % 97},{1 + (i % 7 == 0)},"
            f"{20 if i % 4 == 0 else ''},{'512x768' if i % 5 == 0 else ''},"
            f"{'abc'[i % 3]},{30000 if i % 11 == 0 else ''}")
    return ("trace.csv", "\n".join(lines) + "\n")


def slowed(profile):
    """Returns the profile with devices that take two and a half times as long for a
    step."""
    known = json.loads((places.PROFILES / f"{profile}.json").read_text())
    for variant in known["variants"]:
        for row in variant["step"]:
            row["ms"] *= 2.5
    return ("slow.json", json.dumps(known))


CASES = (
    Case("ladder", "argus-a100",
         ("argus", "argus-paper", "pac", "proteus", "sommelier",
          "clipper-heavy", "clipper-light"),
         ("--load", "bursty:1-3:1500", "--workers", "8")),
    Case("ladder with faults", "argus-a100",
         ("argus", "argus-no-classifier", "argus-no-shift", "argus-no-switch"),
         ("--load", "steady:2-2:1500", "--workers", "8", "--faults",
          "faults.json", "--classifier-accuracy", "0.8"),
         files=(faults(("crash", 200, 120, {"worker": 0, "workers": 4}),
                       ("slow_cache", 500, 200, {"factor": 30}),
                       ("lost_cache", 900, 200, {})),)),
    Case("cascade", "diffserve-sd-turbo",
         ("diffserve", "diffserve-paper", "diffserve-static",
          "diffserve-proteus", "random-cascade", "atelier"),
         ("--load", "ramp:4-32:200", "--workers", "16", "--period-ms",
          "10000")),
    Case("cascade's ablations", "diffserve-sdxs",
         ("no-queueing", "no-waits", "aimd", "diffserve-peak",
          "static-threshold", "light-aimd", "heavy-aimd"),
         ("--load", "bursty:8-24:200", "--workers", "16", "--faults",
          "faults.json"),
         files=(faults(("load_jump", 100, 30, {"factor": 2}),
                       ("solver_late", 140, 30, {"factor": 4})),)),
    Case("cascade by scores", "diffserve-sdxl-lightning", ("score-cascade",),
         ("--load", "steady:4-4:600", "--workers", "16"), judge="pickscore"),
    Case("edits", "instgenie-sdxl-h800",
         ("instgenie", "instgenie-paper", "request-balance", "token-balance",
          "first-fit", "static-batching", "full-recompute"),
         ("--load", "steady:4-4:500", "--workers", "8", "--edits", "1,0.19",
          "--max-batch", "8")),
    Case("edits with faults", "instgenie-flux-h800",
         ("instgenie", "atelier", "vanilla"),
         ("--load", "bursty:0.5-2:1500", "--workers", "8", "--edits", "0.7",
          "--faults", "faults.json"),
         files=(faults(("hang", 100, 60, {"worker": 1, "workers": 2}),
                       ("slow_worker", 400, 300, {"worker": 4, "factor": 3}),
                       ("lost_cache", 900, 100, {})),)),
    Case("images found", "modm-mi210",
         ("modm", "modm-paper", "modm-paper-quality", "atelier"),
         ("--load", "steady:0.3-0.3:7000", "--workers", "16", "--slo-ms",
          "400000", "--period-ms", "300000", "--window-ms", "60000")),
    Case("images in a cache", "modm-mi210", ("modm", "modm-cache-large", "crs"),
         ("--load", "ramp:0.1-0.4:8000", "--workers", "16", "--slo-ms",
          "400000", "--cache", "entries=500,replace=fifo,scale=0.32",
          "--similarity", "0.85,0.06")),
    Case("latents found", "nirvana-a10g",
         ("nirvana", "nirvana-paper", "nirvana-no-predictor", "small-model",
          "atelier"),
         ("--load", "bursty:0.5-2:2000", "--workers", "16", "--slo-ms",
          "60000", "--period-ms", "30000")),
    Case("latents in a cache", "nirvana-a10g",
         ("nirvana-no-predictor", "gptcache", "pinecone"),
         ("--load", "steady:1-1:2500", "--workers", "16", "--slo-ms", "60000",
          "--cache", "entries=1000,replace=lcbfu", "--similarity",
          "0.8,0.12")),
    Case("kinds, a plan and a trace", "argus-a100",
         ("fixed", "argus", "atelier", "vanilla"),
         ("--trace", "trace.csv", "--kind", "quick=6", "--kind",
          "slow=6:slow.json", "--plan", "plan.json", "--noise", "0.1",
          "--period-ms", "60000"),
         files=(trace(), slowed("argus-a100")), plan=("argus", "2")),
)
