# SPDX-License-Identifier: Apache-2.0
"""A prompt's class in its job, by the shipped classifier and models.

A running server whose profile has a ladder answers by `argus`, which requests the
class. The class is in the job, as /openapi.json says, and nothing was left out. With
`instgenie` no policy requests it, and it is in no reply. Argument: the program atelier.
"""
import json
import os
import sys
import tempfile
import urllib.request

import served
from served import polled

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = os.path.join(SOURCE, "models")
LADDER = ["base@50", "base@20", "turbo@4"]
HOSTED = "devices=[{name='cpu:0',executor='torch',variants=%r}]" % LADDER
PATIENCE_S = 120


def check(fine, what):
    if not fine:
        raise AssertionError(what)


def get(url, path):
    with urllib.request.urlopen(url + path) as reply:
        return json.load(reply)


def drawn(url, prompt):
    body = {"prompt": prompt, "seed": 7}
    request = urllib.request.Request(
        url + "/v1/jobs", json.dumps(body).encode(),
        {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        job = json.load(reply)


    def ended():
        seen = get(url, "/v1/jobs/" + job["id"])
        return seen if seen["status"] in ("completed", "failed") else None

    job = polled(ended, "the job never ended", PATIENCE_S, 0.05)
    check(job["status"] == "completed", job)
    return job["result"]["images"][0]


def profile(folder):
    """Writes the shipped family's profile, with a ladder of some of its routes."""
    with open(os.path.join(MODELS, "profile.json"), encoding="utf-8") as file:
        out = json.load(file)
    quality = {x["name"]: x["quality"] for x in out["variants"]}
    out["ladders"] = [{
        "kind": "smaller_models",
        "levels": [{"variant": x, "skip": 0, "quality": quality[x],
                    "class_quality": []} for x in LADDER],
        "class_shares": []}]
    path = os.path.join(folder, "ladder.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(out, file)
    return path


def server(policy, folder):
    return served.Server(
        sys.argv[1], "--set", HOSTED, "--set", f"policy.name='{policy}'",
        "--set", f"planner.profile='{profile(folder)}'",
        "--set", "scheduler.facts_ms=20000", models=MODELS)


def left_out(url):
    with urllib.request.urlopen(url + "/metrics") as reply:
        lines = reply.read().decode().splitlines()
    name = 'atelier_stages_left_out_total{stage="classify"} '
    found = [x for x in lines if x.startswith(name)]
    check(len(found) == 1, f"no {name}")
    return float(found[0].removeprefix(name))


def case_it_stands_in_the_job_as_described():
    with tempfile.TemporaryDirectory() as folder, server("argus", folder) as x:
        classes = [drawn(x.url, p).get("prompt_class")
                   for p in ("a red circle", "a small blue ring above a large "
                             "green star")]
        schema = get(x.url, "/openapi.json")["components"]["schemas"]
        item = schema["PromptClass"]["items"]
        for told in classes:
            check(told and len(told) == 1, told)
            check(set(told[0]) == set(item["required"]), told)
            check(told[0]["ladder"] in item["properties"]["ladder"]["enum"],
                  told)
            check(LADDER[told[0]["level"]] == told[0]["variant"], told)
        check(left_out(x.url) == 0, "the classifier was left out")
        check(get(x.url, "/health")["stages_left_out"] == {}, "left out")


def case_nobody_asks_without_a_ladders_policy():
    with tempfile.TemporaryDirectory() as folder:
        with server("instgenie", folder) as x:
            check("prompt_class" not in drawn(x.url, "a red circle"), "asked")


if __name__ == "__main__":
    served.run([case_it_stands_in_the_job_as_described,
                case_nobody_asks_without_a_ladders_policy])
