# SPDX-License-Identifier: Apache-2.0
"""Gives the built program planning files that are huge, deep or wrong.

Usage: hostile_files_test.py --program ATELIER --report FILE [--only PART]

ATELIER_TEST_SCALE=1 takes ten million lines, the default a hundredth of them.
"""
import json
import os
import re
import signal
import sys
import threading

from process_test import expect, main

LINES = max(10_000, int(10_000_000
                        * float(os.environ.get("ATELIER_TEST_SCALE") or 0.01)))

# The most memory that a command may use, whatever a file contains.
MOST_KIB = 1_500_000

PROFILE = """{"format": "atelier.profile", "version": 1, "variants": [
  {"name": "a@1", "native": {"width": 64, "height": 64},
   "step": [{"batch": 1, "pixels": 4096, "ms": 100}]}]}"""

SIMULATE = ["simulate", "--policy", "vanilla", "--profiles", "p.json"]
PLAN = ["plan", "--policy", "vanilla", "--profiles", "p.json"]


def measured(program, arguments, interrupt_after=None):
    """Returns the status, the ends of both outputs, and the peak of memory in KiB."""
    out = program.folder / "out.txt"
    err = program.folder / "err.txt"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = program.start(arguments, stdout=to_out, stderr=to_err)
        alarm = threading.Timer(interrupt_after or 3600, os.kill,
                                (process.pid, signal.SIGINT))
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    texts = [x.read_bytes()[:100_000].decode() for x in (out, err)]
    expect(usage.ru_maxrss < MOST_KIB, arguments, usage.ru_maxrss)
    return process.returncode, *texts


def refused(program, arguments, *patterns):
    code, out, err = measured(program, arguments)
    expect(code == 2 and out == "", arguments, code, err)
    for pattern in patterns:
        expect(re.search(pattern, err), arguments, pattern, err)


def write(program, name, *parts):
    (program.folder / "p.json").write_text(PROFILE)
    with (program.folder / name).open("w") as file:
        for part in parts:
            file.write(part)


def lines(first, last):
    for n in range(first, last, 100_000):
        yield "".join(f"{k},{k % 5000}\n"
                      for k in range(n, min(n + 100_000, last)))


def case_a_long_trace_is_read_and_run(program):
    write(program, "t.csv", *lines(0, LINES))
    # Ten million requests take an hour. It is enough that the run begins.
    code, _, err = measured(program, [*SIMULATE, "--trace", "t.csv",
                                      "--slo-ms", "200"], 60)
    expect(code in (0, 130), code, err)


def case_one_bad_line_near_the_end_is_told(program):
    for bad in ("nan,1", "-5,1", "inf,1", "x", f"{LINES},", ",3",
                f"{LINES},1.5", f"{LINES},-1", "1e999,1"):
        write(program, "t.csv", *lines(0, LINES - 10), bad + "\n",
              *lines(LINES, LINES + 9))
        refused(program, [*SIMULATE, "--trace", "t.csv"],
                rf"t\.csv:{LINES - 9}: ")


def case_one_line_out_of_order_is_sorted_and_told(program):
    write(program, "t.csv", *lines(0, 5000), "1,1\n", *lines(5000, 5009))
    code, _, err = measured(program, [*SIMULATE, "--trace", "t.csv",
                                      "--slo-ms", "200"])
    expect(code == 0 and "t.csv: 1 of 5010 lines were out of order" in err,
           code, err)


def case_what_no_number_tells_is_refused_by_name(program):
    write(program, "t.csv", *lines(0, 20))
    profile = json.loads(PROFILE)
    profile["version"] = 2
    profile["variants"][0]["name"] = "a@50"
    profile["reuse"] = {"full": "a@50", "small": [], "retrieval_ms": 20,
                        "latents": [{"skip": 5, "similarity": 0.65}]}
    (program.folder / "p.json").write_text(json.dumps(profile))
    command = ["simulate", "--profiles", "p.json", "--trace", "t.csv",
               "--slo-ms", "200000", "--policy"]
    refused(program, [*command, "nirvana-no-predictor"],
            "nirvana-no-predictor compares prompts.*--similarity")
    refused(program, [*command, "nirvana-no-predictor", "--similarity", "0.8"],
            "--similarity: '0.8' is not MEAN,SPREAD")
    near = ["--similarity", "0.8,0.1"]
    refused(program, [*command, "nirvana-paper", *near],
            "nirvana-paper asks a predictor of hits.*--hit-predictor")
    code, _, err = measured(program, [*command, "nirvana-paper", *near,
                                      "--hit-predictor", "0.9,0.2"])
    expect(code == 0, code, err)


def case_only_bad_lines_are_told_to_a_limit(program):
    write(program, "t.csv", *("?\n" * 100_000
                              for _ in range(LINES // 100_000 or 1)))
    refused(program, [*SIMULATE, "--trace", "t.csv"], r"t\.csv:1: '\?'",
            "more faults follow")


def case_more_than_ten_million_arrivals_are_refused(program):
    if LINES < 10_000_000:
        return
    write(program, "t.csv", *lines(0, LINES + 3))
    refused(program, [*SIMULATE, "--trace", "t.csv"],
            rf"t\.csv:{LINES + 1}: more than {LINES} arrivals")


def case_files_without_an_end_are_refused(program):
    write(program, "x")
    os.mkfifo(program.folder / "pipe")
    for name, kind in (("/dev/zero", "a device"), ("pipe", "a pipe"),
                       ("/proc/kmsg", "a file of the kernel|permitted|denied"),
                       ("/proc/self/status", "a file of the kernel")):
        quoted = "'" + name + "': .*(" + kind + ")"
        refused(program, [*SIMULATE, "--trace", name],
                "--trace: cannot read " + quoted)
        refused(program, [*PLAN, "--demand", name],
                "--demand: cannot read " + quoted)
        refused(program, ["plan", "--policy", "vanilla", "--demand", "1",
                          "--profiles", name],
                "--profiles: cannot read " + quoted)
        refused(program, ["simulate", "--policy", "fixed", "--load",
                          "steady:1-1:10", "--profiles", "p.json", "--plan",
                          name], "--plan: cannot read " + quoted)
        refused(program, ["generate", "a", "-o", "x.png", "--set",
                          f"planner.profile='{name}'"],
                f"planner.profile: .*cannot read .*{name}: .*({kind})")
        refused(program, ["edit", name, "a", "--mask", name, "-o", "x.png"],
                "cannot read " + quoted)
        refused(program, ["generate", "a", "--init", name, "-o", "x.png"],
                "--init: cannot read " + quoted)
        refused(program, ["generate", "--prompts", name, "-o", "x"],
                "--prompts: cannot read " + quoted)
        refused(program, ["generate", "a", "--config", name, "-o", "x.png"],
                name)


# Faulty documents of any format: the text, and the error that must be reported.
DOCUMENTS = {
    "nothing": ("", r":1: is not JSON"),
    "broken off": ('{"format":\n "atelier.', r":2: is not JSON"),
    "a number that is none": ('{"version": NaN}', r":1: is not JSON"),
    "a number beyond all": ('{"version": 1e999}', r"number overflow"),
    "a list": ("[]", "is not a JSON object"),
    "a deep one": ('{"a":' * 200_000, "nested more than 64 deep"),
    "one of many lists": ('{"a":[' + "[]," * (LINES - 1) + "[]]}", None),
    "one of many objects": ('{"a":[' + "{}," * (LINES - 1) + "{}]}", None),
    "one of many texts": ('{"a":[' + '"",' * (LINES - 1) + '""]}', None),
    "one of many keys": ("{" + ",".join(f'"{k}":0' for k in range(LINES // 2))
                         + "}", r"more than (1024 keys|\d+ bytes)"),
    "a key twice": ('{"format": "x",\n "format": "y"}',
                    r":2: the key 'format' occurs twice"),
}


def commands_for(name):
    yield [*PLAN, "--demand", name]
    yield ["plan", "--policy", "vanilla", "--demand", "1", "--profiles", name]
    yield ["simulate", "--policy", "fixed", "--load", "steady:1-1:10",
           "--profiles", "p.json", "--plan", name]
    yield [*SIMULATE, "--load", "steady:1-1:10", "--faults", name]


def case_documents_that_are_none_are_told(program):
    for what, (text, pattern) in DOCUMENTS.items():
        write(program, "d.json", text)
        for arguments in commands_for("d.json"):
            # Small enough to be read, they are documents with unknown keys.
            refused(program, arguments,
                    pattern or r"more than \d+ (values|bytes)"
                               r"|\.a: is not a known key")


def case_long_lists_of_a_format_are_read_or_refused(program):
    window = '{"seconds":1,"arrived":1}'
    write(program, "d.json", '{"format":"atelier.demand","version":1,'
          '"windows":[', (window + ",") * (LINES - 1), window, "]}")
    code, _, err = measured(program, [*PLAN, "--demand", "d.json"])
    if LINES <= 100_000:
        expect(code == 0, code, err)
    else:
        expect(code == 2 and "more than" in err, code, err)
    variant = '{"name":"%d@1","step":[{"batch":1,"pixels":1,"ms":1}]}'
    count = LINES // 10
    write(program, "q.json", '{"format":"atelier.profile","version":1,'
          '"variants":[', ",".join(variant % k for k in range(count)), "]}")
    refused(program, ["plan", "--policy", "vanilla", "--demand", "1",
                      "--profiles", "q.json"],
            "profile.variants: is not a list of 1..4096|more than")
    route = '{"route":%d,"name":"a","stages":[{"any_of":["a@1"]}]}'
    write(program, "d.json", '{"format":"atelier.plan","version":1,'
          '"policy":"vanilla","workers":[],"routes":[',
          ",".join(route % k for k in range(count)), '],"share":[]}')
    refused(program, ["simulate", "--policy", "fixed", "--load",
                      "steady:1-1:10", "--profiles", "p.json", "--plan",
                      "d.json"], r"plan\.routes: .* is not a list of 1\.\.1024"
                                 "|more than")


def case_a_profile_of_an_unknown_stage_is_told(program):
    write(program, "s.json", '{"format":"atelier.profile","version":2,'
          '"variants":[{"name":"a@1","step":[{"batch":1,"pixels":1,"ms":1}]}],'
          '"stages":{"upscal":{"ms":1}}}')
    told = "s.json.*stages.upscal: there is no stage 'upscal'"
    refused(program, ["plan", "--policy", "vanilla", "--demand", "1",
                      "--profiles", "s.json"], told)
    refused(program, ["simulate", "--policy", "vanilla", "--load",
                      "steady:1-1:10", "--profiles", "s.json"], told)
    refused(program, ["simulate", "--policy", "vanilla", "--load",
                      "steady:1-1:10", "--profiles", "p.json", "--kind",
                      "quick=1:s.json"], told)


def case_a_profile_without_what_is_named_is_told(program):
    write(program, "d.json", '{"format":"atelier.plan","version":1,'
          '"policy":"vanilla","workers":[{"count":1,"hosting":["b@1"],'
          '"batch":1}],"routes":[{"route":0,"name":"a","stages":'
          '[{"any_of":["a@1"]}]}],"share":[{"0":1}]}')
    refused(program, ["simulate", "--policy", "fixed", "--load",
                      "steady:1-1:10", "--profiles", "p.json", "--plan",
                      "d.json"],
            r'workers\[0\]\.hosting\[0\]: "b@1" is not a variant of the profile, '
            "which has a@1")
    code, _, err = measured(program, [*SIMULATE, "--load", "steady:1-1:10",
                                      "--mix", "model=b"])
    expect(code == 3 and "model not found: 'b'" in err, code, err)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_hostile_files", all_cases()))
