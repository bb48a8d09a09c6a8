# SPDX-License-Identifier: Apache-2.0
"""Runs simulations and compares the digest of every answer, in order, with the recorded
one.

Usage: simulations.py --program ATELIER [--report FILE] [--only PART]

Virtual time and seeds make the digests the same on every machine.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import places
import simulation_cases
import suite

PATIENCE_S = 120
# The digest, the figures that it does not cover, and those that show where runs
# diverge.
FIGURES = ("digest", "events", "completed", "dropped", "loads", "plans")


def run(program, arguments, folder):
    done = subprocess.run([program, *arguments], cwd=folder,
                          capture_output=True, text=True, timeout=PATIENCE_S,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: exit status "
                           f"{done.returncode}: {done.stderr.strip()}")
    return done.stdout


def figures(told):
    out = {name: told[name] for name in FIGURES}
    quality = told["quality_mean"]
    return out | {"quality": quality and round(quality, 9)}


def simulate(program, case, seed="1"):
    """Returns {policy: figures}."""
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        profile = places.PROFILES / f"{case.profile}.json"
        if case.judge:
            known = json.loads(profile.read_text())
            known["cascades"][0]["judge"] = case.judge
            profile = pathlib.Path(folder, "profile.json")
            profile.write_text(json.dumps(known))
        for name, text in case.files:
            pathlib.Path(folder, name).write_text(text)
        if case.plan:
            policy, demand = case.plan
            run(program, ["plan", "--profiles", str(profile), "--policy",
                          policy, "--demand", demand, "-o", "plan.json"],
                folder)
        out = run(program, ["simulate", "--json", "--profiles", str(profile),
                            "--policy", ",".join(case.policies), "--seed", seed,
                            *case.arguments], folder)
    return {x["policy"]: figures(x) for x in map(json.loads, out.splitlines())}


def simulate_all(program, cases):
    """Returns {name of a case: its figures, or the error's text}; two run at a time."""
    def try_one(case):
        try:
            return simulate(program, case)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip((x.name for x in cases), pool.map(try_one, cases)))


def judge(found, recorded):
    """Returns sentences about the differences between {policy: figures}."""
    if isinstance(found, str):
        return [found]
    faults = []
    for policy in sorted(found.keys() | recorded.keys()):
        now, before = found.get(policy), recorded.get(policy)
        if now is None or before is None:
            faults.append(f"{policy}: {'is gone' if before else 'is new'}")
            continue
        told = [f"{name} {now[name]}, recorded {before.get(name)}"
                for name in now if now[name] != before.get(name)]
        if told:
            faults.append(f"{policy}: {'; '.join(told)}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    suite.add_options(parser)
    options = parser.parse_args()
    recorded = json.loads(places.SIMULATIONS.read_text())
    cases = [x for x in simulation_cases.CASES if options.only in x.name]
    out = suite.Suite("guards_simulations")
    for name, found in simulate_all(options.program, cases).items():
        out.add(name, judge(found, recorded.get(name, {})))
    return out.end(options.report)


if __name__ == "__main__":
    sys.exit(main())
