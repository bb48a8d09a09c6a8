# SPDX-License-Identifier: Apache-2.0
"""Servers that answer from earlier work, as an operator watches them: a
predictor of matches, and prompts that are compared with images.

Usage: earlier_work_test.py --program ATELIER --report FILE [--only PART]
"""
import json
import re
import sys

from cache_warm_test import drawn, prepare, serving
from polling import polled
from process_test import PATIENCE_S, REPOSITORY, expect, main, needs_models
from serve_test import ask

BALL = "a red ball on a table"


def earlier_work(url):
    status, text = ask(url, "/v1/admin/caches")
    expect(status == 200, status, text)
    return json.loads(text)["earlier_work"]


def metric(url, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", ask(url, "/metrics")[1],
                      re.MULTILINE)
    expect(found, f"no metric {name}")
    return float(found[1])


def await_entry(url):
    polled(lambda: earlier_work(url)["entries"] == 1, "no entry was kept",
           PATIENCE_S)


def case_a_predicted_miss_is_drawn_without_a_search(program):
    prepare(program)
    with serving(program, "--set", "policy.name='nirvana-paper'") as (_, url):
        drawn(program, url, BALL, "--cache", "on")
        await_entry(url)

        def trained():
            drawn(program, url, BALL)
            return earlier_work(url)["predictor"]["trained_keys"] == 1

        polled(trained, "no predictor was trained", PATIENCE_S)
        before = earlier_work(url)
        searches = [f'atelier_cache_searches_total{{outcome="{x}"}}'
                    for x in ("hit", "miss")]
        searched = sum(metric(url, x) for x in searches)
        requests = 24
        for i in range(requests):
            x = drawn(program, url, f"xylophone quartet number {i}")
            expect(x["route"] == "scratch" and "reused" not in x, x)
        after = earlier_work(url)
        said = (after["predictor"]["said_misses"]
                - before["predictor"]["said_misses"])
        # One in fifty is drawn without a question, and predictions are checked
        # by searches now and then.
        expect(said >= requests - 6, said, after)
        expect(metric(url, 'atelier_cache_predictions_total{predicted="miss"}')
               == after["predictor"]["said_misses"], after)
        searched = sum(metric(url, x) for x in searches) - searched
        expect(searched < requests / 2, searched)


@needs_models
def case_a_prompt_is_answered_with_the_image_that_shows_it(program):
    models = REPOSITORY / "models"
    if not (models / "turbo").exists():
        return "skipped"
    (program.folder / "p.json").write_text(json.dumps({
        "format": "atelier.profile", "version": 2,
        "variants": [{"name": "turbo@4", "native": {"width": 128, "height": 128},
                      "step": [{"batch": 1, "pixels": 128 * 128, "ms": 50}]}],
        "ladders": [], "cascades": [],
        "reuse": {"full": "turbo@4", "small": ["turbo@4"], "steps": 4,
                  "latents": [], "images": [{"skip": 2, "similarity": 0.25}],
                  "retrieval_ms": 1}}))
    turbo = ("devices=[{name='cpu:0',executor='torch',variants=['turbo@4'],"
             "threads=1}]")
    shown = "a large red circle on a white background"
    model = f"models=[{{name='turbo',path='{models}/turbo'}}]"
    code, _, err = program.run(["generate", shown, "--set", model, "--set", turbo,
                                "-o", "x.png"])
    if code != 0 and "not built in" in err:
        return "skipped"
    expect(code == 0, code, err)
    with serving(program, "--set", model, "--set", "policy.name='crs'",
                 "--set", "cache.compares='images'",
                 "--set", f"cache.encoder='{models}/scorer'",
                 device=turbo) as (_, url):
        first = drawn(program, url, shown, "--size", "128x128", "--cache", "on")
        expect("reused" not in first, first)
        await_entry(url)
        again = drawn(program, url, "a big red disc on a white background",
                      "--size", "128x128")
        expect(again["reused"]["kind"] == "image"
               and 0.25 < again["reused"]["similarity"] < 0.95, again)
        told = earlier_work(url)
        expect(told["compares"] == "images" and told["encoded_images"] == 1
               and told["pending"] == 0 and told["overflowed"] == 0, told)
        expect(metric(url, "atelier_cache_image_encodings_total") == 1, told)
    return None


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_earlier_work", all_cases()))
