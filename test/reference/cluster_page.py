# SPDX-License-Identifier: Apache-2.0
"""The page's view of the cluster in a headless Chromium, and the report of `simulate`,
which has the same style: at a desk and on a phone, light and dark.

Arguments: those of page.py.
"""
import pathlib
import subprocess
import sys
import tempfile

import served

served.needs(sys.argv[2], "playwright")

from playwright.sync_api import expect

from browser import DESK, PHONE, fits_a_phone, is_dark, opened

# The steps are slow enough for the page to show them.
SLOW = ["--set", "devices[0].test_card_step_ms=40"]
PROFILE = (pathlib.Path(__file__).resolve().parents[2]
           / "examples/profiles/diffserve-sd-turbo.json")


def main():
    with served.Server(sys.argv[1], *SLOW) as server, \
            opened(sys.argv[3]) as (page, troubles, shot):

        def draw(seed, steps=20):
            """Draws without the page's form."""
            page.evaluate("""([seed, steps]) => fetch('v1/images/generations', {
              method: 'POST', headers: {'Content-Type': 'application/json'},
              body: JSON.stringify({prompt: 'x', steps, seed})})
              .then((x) => x.json())""", [seed, steps])

        def the_cluster_is_shown():
            page.goto(server.url)
            for seed in (1, 2):
                draw(seed)
            page.get_by_role("tab", name="Create").focus()
            page.keyboard.press("ArrowRight")
            workers = page.locator("#workers")
            expect(workers).to_contain_text("cpu:0")
            expect(workers).to_contain_text("test_card@20")
            expect(page.locator("#totals")).to_contain_text("Images")
            # With one route the page shows text, not a plot, for the plan and for the
            # requests.
            expect(page.locator("#plan")).to_contain_text("Policy ")
            expect(page.locator("#plan")).to_contain_text(
                "Every request takes the route test_card@20.")
            expect(page.locator("#plot-plan")).to_be_hidden()
            expect(page.locator("#ways-missing")).to_contain_text(
                "images took one route")
            expect(page.locator("#plot-ways")).to_be_hidden()
            expect(page.locator("#ways")).to_contain_text("test_card@20")
            expect(page.locator("#ways")).to_contain_text("100 %")
            latency = page.locator("#plot-latency")
            for text in ("p50", "p95", "test_card@20", "s", "min ago"):
                expect(latency).to_contain_text(text)
            # These are two images, the legend's dot, and perhaps that of a lone window.
            assert latency.locator(".dot").count() >= 3
            shot("cluster")
            shot("cluster-whole", True)

        def plots_without_values_say_what_is_missing():
            rows = page.locator("figure:has(#plot-rows)")
            expect(rows.locator(".missing")).to_contain_text(
                "No step has run since")
            expect(rows.locator("svg")).to_be_hidden()
            # The drawing takes long enough for several readings.
            draw(3, 150)
            draw(4, 150)
            for name in ("rows", "queue"):
                figure = page.locator(f"figure:has(#plot-{name})")
                expect(figure.locator("svg")).to_be_visible()
                expect(figure.locator(".missing")).to_be_hidden()

        def plots_are_read_by_the_keyboard():
            for name, unit in (("latency", " s"), ("queue", "requests"),
                               ("rate", "images/min"), ("rows", "images"),
                               ("batches", "steps")):
                plot = page.locator(f"#plot-{name}")
                out = page.locator(f"figure:has(#plot-{name}) output")
                plot.focus()
                expect(out).to_have_text("")
                page.keyboard.press("End")
                expect(out).to_contain_text(unit)
                expect(plot.locator(".cursor")).to_have_count(1)
                page.keyboard.press("Home")
                expect(out).to_contain_text(unit)
                page.keyboard.press("Escape")
                expect(out).to_have_text("")

        def an_idle_server_has_no_empty_plot():
            body = page.evaluate("async () => (await fetch('v1/cluster')).json()")
            body.update(recent=[], batches=[0, 0])
            page.route("**/v1/cluster", lambda r: r.fulfill(json=body))
            page.reload()
            for name in ("latency", "rate", "batches"):
                figure = page.locator(f"figure:has(#plot-{name})")
                expect(figure.locator(".missing")).to_contain_text("No ")
                expect(figure.locator("svg")).to_be_hidden()
            expect(page.locator("#ways-missing")).to_contain_text("No image")
            expect(page.locator("#ways")).to_be_hidden()
            page.unroute("**/v1/cluster")

        def totals_wrap_by_threes():
            def per_row():
                tops = [x["y"] for x in page.evaluate(
                    """() => [...document.querySelectorAll('#totals > div')]
                      .map((x) => x.getBoundingClientRect().toJSON())""")]
                assert len(tops) == 9, tops
                return sorted(tops.count(y) for y in set(tops))
            assert per_row() == [9], per_row()
            for narrow in (PHONE["width"], 900):
                page.set_viewport_size({"width": narrow, "height": 844})
                assert per_row() == [3, 3, 3], per_row()
            page.set_viewport_size(DESK)

        def only_another_plan_is_told():
            body = page.evaluate("async () => (await fetch('v1/cluster')).json()")
            asked = []

            def answer(r):
                # The plot is made anew each time, with the same result.
                asked.append(body["plan_version"])
                body["plan_version"] += 1
                r.fulfill(json=body)
            page.route("**/v1/cluster", answer)
            page.reload()
            plan = page.locator("#plan")
            expect(plan).to_contain_text("unchanged since this page was opened")
            while len(asked) < 3:
                page.wait_for_timeout(100)
            expect(plan).to_contain_text("unchanged since this page was opened")
            body["saturated"] = True
            expect(page.locator("#plan-trouble")).to_contain_text(
                "cannot serve all")
            expect(plan).to_contain_text("unchanged")
            body["saturated"] = False
            body["workers"][0]["variants"] = ["another@4"]
            expect(plan).to_contain_text("changed at")
            expect(plan).not_to_contain_text("unchanged")
            expect(page.locator("#plan-trouble")).to_be_hidden()
            page.unroute("**/v1/cluster")

        def a_cluster_that_does_not_answer_is_told():
            page.route("**/v1/cluster", lambda r: r.fulfill(
                status=403, json={"error": {"message": "for admins"}}))
            page.reload()
            expect(page.locator("#cluster-fault")).to_be_visible()
            expect(page.locator("#cluster-fault")).to_contain_text("for admins")
            page.unroute("**/v1/cluster")
            expect(page.locator("#cluster-fault")).to_be_hidden()
            troubles.clear()  # the browser's own line about the status 403

        def ways_are_told_apart():
            """Checks the page with a cascade of two models and a direct route, as a
            server with such a plan would report them."""
            ways = [("cascade", "turbo@4", 0.4, 55), ("cascade", "base@50", 3.5,
                                                      20),
                    ("small@20", "small@20", 1.1, 25)]
            recent = [{"age_s": 590 * i / n, "seconds": s * (1 + 0.3 * (i % 3)),
                       "variant": variant, "route": route}
                      for route, variant, s, n in ways for i in range(n)]
            body = page.evaluate("async () => (await fetch('v1/cluster')).json()")
            routes = [{"name": "cascade", "stages": [["turbo@4"], ["base@50"]],
                       "shares": [0.8, 0.3]},
                      {"name": "small@20", "stages": [["small@20"]],
                       "shares": [0.2, 0.7]}]
            body.update(policy="diffserve", plan_version=7, recent=recent,
                        routes=routes, thresholds=[0.6], saturated=False,
                        batches=[0, 40, 22, 31, 90])
            page.route("**/v1/cluster", lambda r: r.fulfill(json=body))
            expect(page.locator("#plan")).to_contain_text("Policy diffserve")
            # There are two classes and the requests, with two routes each.
            expect(page.locator("#plot-plan .share")).to_have_count(6)
            plan = page.locator("#plot-plan")
            expect(plan).to_contain_text("cascade: turbo@4, then base@50")
            expect(plan).to_contain_text("class 1")
            label = plan.get_attribute("aria-label")
            assert "class 1: 30 % by cascade, 70 % by small@20" in label, label
            assert "observed: 75 % by cascade" in label, label
            expect(page.locator("#plot-ways .band")).to_have_count(3)
            label = page.locator("#plot-ways").get_attribute("aria-label")
            assert "20 % by cascade, drawn by base@50" in label, label
            expect(page.locator("#ways tr")).to_have_count(4)
            expect(page.locator("#plot-ways")).to_contain_text("cascade 75 %")
            # A variant has one colour, wherever it is drawn.
            for name in ("turbo@4", "base@50", "small@20"):
                colours = page.evaluate("""(name) => {
                  const legends = [...document.querySelectorAll('.plots svg text')]
                    .filter((x) => x.textContent === name)
                    .map((x) => x.previousElementSibling);
                  const bands = [...document.querySelectorAll('#plot-ways .band')]
                    .filter((x) => x.textContent.includes(`drawn by ${name}:`));
                  const direct = [...document.querySelectorAll('#plot-plan .share')]
                    .filter((x) => x.textContent.endsWith(` by ${name}`));
                  return [...legends, ...bands, ...direct].map((x) =>
                    x.getAttribute(x.matches('.series') ? 'stroke' : 'fill'));
                }""", name)
                assert len(colours) >= 3 and len(set(colours)) == 1, (name, colours)
            shot("ways", True)

        def it_fits_a_phone_and_the_dark():
            page.set_viewport_size(PHONE)
            fits_a_phone(page, "the cluster")
            shot("phone-cluster", True)
            # Rows are blocks there, but still have the roles of tables.
            cell = page.locator("#workers td").first
            expect(cell).to_have_attribute("role", "cell")
            assert "Device" in cell.evaluate(
                "x => getComputedStyle(x, '::before').content")
            page.set_viewport_size(DESK)
            assert not is_dark(page)
            page.emulate_media(color_scheme="dark")
            assert is_dark(page)
            expect(page.locator("#plot-ways .band")).to_have_count(3)
            shot("dark-cluster", True)
            page.emulate_media(color_scheme="light")

        def the_report_of_simulate_looks_alike():
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(
                    [sys.argv[1], "simulate", "--profiles", PROFILE, "--load",
                     "steady:2-2:60", "--workers", "2", "--policy",
                     "diffserve,vanilla", "-o", folder],
                    check=True, stdout=subprocess.DEVNULL)
                page.goto(f"file://{folder}/report.html")
            assert not is_dark(page)
            page.emulate_media(color_scheme="dark")
            assert is_dark(page)
            shot("dark-report", True)
            columns = page.evaluate("""() => new Set(
              [...document.querySelectorAll('figure')].map(
                (x) => x.getBoundingClientRect().x)).size""")
            assert columns > 1, "plots stand in one column at a desk"
            page.set_viewport_size(PHONE)
            fits_a_phone(page, "the report")
            small = page.evaluate("""() => Math.min(
              ...[...document.querySelectorAll('svg')].map((x) =>
                12 * x.getBoundingClientRect().width / x.viewBox.baseVal.width))""")
            assert small >= 9, f"letters of plots are {small} pixels high"
            # The table scrolls beside its first column.
            head = page.get_by_role("rowheader", name="vanilla")
            before = head.bounding_box()["x"]
            page.get_by_role("region", name="Policies").evaluate(
                "x => { x.scrollLeft = 200; if (!x.scrollLeft) throw 'all fits'; }")
            assert abs(head.bounding_box()["x"] - before) <= 1
            shot("phone-report")

        def nothing_went_wrong_meanwhile():
            assert not troubles, troubles

        served.run([the_cluster_is_shown,
                    plots_without_values_say_what_is_missing,
                    plots_are_read_by_the_keyboard,
                    an_idle_server_has_no_empty_plot, totals_wrap_by_threes,
                    only_another_plan_is_told,
                    a_cluster_that_does_not_answer_is_told,
                    ways_are_told_apart, it_fits_a_phone_and_the_dark,
                    the_report_of_simulate_looks_alike,
                    nothing_went_wrong_meanwhile])


main()
