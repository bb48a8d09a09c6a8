# SPDX-License-Identifier: Apache-2.0
"""Evaluate the reuse of earlier work, as a user would, and stop it on the way.

Usage: evaluate_cache_test.py --program ATELIER --report FILE [--only PART]
"""
import json
import re
import signal
import sys

from process_test import PATIENCE_S, expect, main

DEVICE = "devices=[{name='cpu:0',executor='test_card',test_card_step_ms=%d}]"
COUNT = 16
STUDY = ["evaluate", "--cache", "--variants", "card@10", "--small", "card@4",
         "--turbo", "card@2", "--size", "64x64", "--warm", str(COUNT),
         "--measured", str(COUNT), "--set", "policy.judges=''"]
SYSTEMS = ["full", "nirvana", "random-entry", "fewer-steps", "turbo",
           "nirvana-paper", "gptcache", "pinecone", "small-model"]


def study(folder, systems=SYSTEMS, step_ms=0):
    return [*STUDY, "--set", DEVICE % step_ms, "--systems", ",".join(systems),
            "-o", folder]


def lines(program, folder, system):
    file = program.folder / folder / "card@10" / f"{system}.jsonl"
    if not file.exists():
        return []
    return [json.loads(x) for x in file.read_text().split("\n")
            if x.endswith("}")]


def device_seconds(drawn, times_of):
    """What the requests would have taken at the mean times of others."""
    def mean(part, of):
        return sum(x[part] for x in times_of) / sum(of(x) for x in times_of)
    step = mean("denoise_ms", lambda x: x["steps_run"])
    rest = mean("text_ms", lambda x: 1) + mean("decode_ms", lambda x: 1)
    return sum(rest + step * x["steps_run"]
               for x in drawn if x["steps_run"] > 0) / 1000


def timeless(report):
    """The results without what the machine's speed decides."""
    variant = json.loads(report)["variants"][0]
    for x in variant["systems"]:
        del x["device_ms"]
    return {"systems": variant["systems"],
            "objects": [(x["system"], x["with"], x["among"],
                         x["objects_right"]) for x in variant["compared"]],
            "hits": [(x["system"], x["live_hit_rate"],
                      x["simulated_hit_rate"]) for x in variant["simulated"]]}


def case_every_system_has_its_row(program):
    code, out, err = program.run(study("all"))
    expect(code == 0, code, err)
    report = json.loads((program.folder / "all" / "reuse.json").read_text())
    variant = report["variants"][0]
    expect(variant["variant"] == "card@10" and variant["warm"] == COUNT, variant)
    rows = {x["system"]: x for x in variant["systems"]}
    expect(list(rows) == SYSTEMS, list(rows))
    for name, row in rows.items():
        expect(re.search(rf"^{name} +\d+\.\d", out, re.M), name, out)
        expect(row["requests"] == COUNT and "objects_right" in row, row)
    expect(rows["full"]["steps_run"] == 10, rows["full"])
    expect(0 < rows["nirvana"]["hit_rate"] < 1, rows["nirvana"])
    # The same steps of other entries make other images.
    likely, other = rows["nirvana"], rows["random-entry"]
    expect(likely["skips"] == other["skips"], likely, other)
    expect(likely["distance"] != other["distance"], likely, other)
    expect(abs(rows["fewer-steps"]["steps_run"] - likely["steps_run"]) < 1e-9,
           rows)
    pairs = [(x["system"], x["with"], x["among"]) for x in variant["compared"]]
    for among in ("all", "reused", "K>=4"):
        expect(("nirvana", "random-entry", among) in pairs, pairs)
    for x in variant["simulated"]:
        expect(abs(x["live_hit_rate"] - x["simulated_hit_rate"]) <= 0.02, x)
        wanted = device_seconds(lines(program, "all", x["system"]),
                                lines(program, "all", "full"))
        expect(abs(x["simulated_device_seconds"] / wanted - 1) <= 1e-3, x,
               wanted)
    # Nothing is drawn again.
    again = program.run(study("all"))
    expect(again[0] == 0 and again[1] == out, again)


def case_a_killed_evaluation_goes_on_as_if_it_had_not_been(program):
    systems = ["full", "nirvana", "random-entry"]
    code, _, err = program.run(study("whole", systems))
    expect(code == 0, code, err)
    # The steps take time, so that a kill comes between two requests' lines.
    parts = study("parts", systems, 10)
    for system, count in (("warmed", 2), ("full", 3), ("nirvana", 1),
                          ("nirvana", 4), ("random-entry", 2)):
        process = program.start(parts)
        program.wait_for(lambda: len(lines(program, "parts", system)) >= count,
                         process)
        before = lines(program, "parts", system)
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        kept = lines(program, "parts", system)
        expect(kept[:len(before)] == before, kept, before)
    process = program.start(parts)
    program.wait_for(
        lambda: len(lines(program, "parts", "random-entry")) >= 4, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    code, _, err = program.run(parts)
    expect(code == 0, code, err)
    texts = [(program.folder / x / "reuse.json").read_text()
             for x in ("whole", "parts")]
    expect(timeless(texts[0]) == timeless(texts[1]), *texts)


def case_what_has_no_effect_is_told(program):
    for arguments, pattern in (
            (["--warm", "3"], r"--warm needs --cache"),
            (["--texts", "x"], r"--texts needs --cache"),
            (["--cache"], r"--output is missing"),
            (["--cache", "-o", "x", "--captions", "3"],
             r"--captions has no effect with --cache"),
            (["--cache", "-o", "x", "--force"], r"--force has no effect"),
            (["--cache", "-o", "x", "--warm", "x"], r"--warm: 'x'"),
            (["--cache", "-o", "x", "--measured", "0"], r"--measured: '0'"),
            (["--cache", "-o", "x", "--systems", "full,magic"],
             r"--systems: 'magic' is none of full, nirvana, "),
            (["--cache", "-o", "x", "--variants", "card"],
             r"--variants: .*card"),
            (["--cache", "-o", "x", "--texts", "none"], r"none"),
            (["--cache", "-o", "x", "--variants", "card@1", "--set",
              "devices[0].executor=test_card"],
             r"card@1 has no steps to skip")):
        code, out, err = program.run(["evaluate", *arguments])
        expect(code in (2, 3) and re.search(pattern, err), arguments, code, err)
        expect(out == "", out)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_evaluate_cache", all_cases()))
