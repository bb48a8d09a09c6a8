# SPDX-License-Identifier: Apache-2.0
"""The page in a headless Chromium: draw, edit by a mask, cancel, watch.

Arguments: the program atelier, the environment of the package playwright, and
the folder for screenshots. Skips itself (77) without the package or Chromium.
"""
import os
import shutil
import sys

import served

served.needs(sys.argv[2], "playwright")

from playwright.sync_api import expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if not CHROMIUM:
    print("skipped: chromium is not installed")
    sys.exit(77)

PATIENCE_MS = 60_000
# Slow enough for a person, and for a test, to press Cancel.
SLOW = ["--set", "devices[0].test_card_step_ms=40"]


def main():
    shots = sys.argv[3]
    os.makedirs(shots, exist_ok=True)
    with served.Server(sys.argv[1], *SLOW) as server, \
            sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM,
                                         args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        troubles = []
        page.on("pageerror", lambda e: troubles.append(str(e)))
        page.on("console", lambda m: m.type == "error"
                and troubles.append(m.text))
        page.on("requestfailed", lambda r: r.url.startswith("blob:")
                or troubles.append(f"{r.url}: {r.failure}"))

        def shot(name):
            page.screenshot(path=os.path.join(shots, name + ".png"))

        def cards():
            return page.locator("#gallery > li")

        def a_picture_is_drawn_with_previews():
            page.goto(server.url)
            page.get_by_label("Prompt").fill("a red circle")
            page.get_by_label("Seed").fill("42")
            page.keyboard.press("Control+Enter")
            preview = cards().first.locator("img[alt=preview]")
            expect(preview).to_be_visible()
            shot("drawing")
            made = cards().first.get_by_role("img", name="a red circle")
            expect(made).to_be_visible()
            assert "seed 42" in cards().first.inner_text()
            assert made.evaluate("x => x.naturalWidth") == 256

        def what_a_prompt_does_not_do_is_told():
            page.get_by_label("Prompt").fill("a (red:1.3) circle")
            page.get_by_role("button", name="Draw").click()
            expect(cards().first.locator(".notes li")).to_contain_text(
                "'(red:1.3)' is read as plain text")
            expect(cards()).to_have_count(2)
            assert cards().nth(1).locator(".notes").is_hidden()
            page.evaluate(
                "document.querySelector('#gallery > li').remove()")

        def its_parameters_are_used_again():
            page.get_by_label("Prompt").fill("something else")
            page.get_by_label("Seed").fill("")
            cards().first.get_by_role("button", name="Use again").click()
            assert page.get_by_label("Prompt").input_value() == "a red circle"
            assert page.get_by_label("Seed").input_value() == "42"

        def a_mask_is_painted_and_the_rest_kept():
            cards().first.get_by_role("button", name="Edit").click()
            canvas = page.locator("#mask")
            expect(canvas).to_be_visible()
            canvas.scroll_into_view_if_needed()
            box = canvas.bounding_box()
            y = box["y"] + box["height"] * 0.5
            page.mouse.move(box["x"] + box["width"] * 0.2, y)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] * 0.8, y, steps=8)
            page.mouse.up()
            shot("mask")
            # By the keyboard too: a dot at the bottom, and taken back.
            canvas.focus()
            for _ in range(12):
                page.keyboard.press("ArrowDown")
            page.keyboard.press("Space")
            page.get_by_role("button", name="Undo").click()
            page.get_by_label("Prompt").fill("a wall")
            page.get_by_role("button", name="Draw").click()
            expect(cards()).to_have_count(2)
            made = cards().first.get_by_role("img", name="a wall")
            expect(made).to_be_visible()
            changed = page.evaluate("""() => {
              const pixels = (image) => {
                const c = document.createElement('canvas');
                c.width = c.height = 256;
                const x = c.getContext('2d');
                x.drawImage(image, 0, 0);
                return x.getImageData(0, 0, 256, 256).data;
              };
              const [after, before] =
                [...document.querySelectorAll('#gallery img')].map(pixels);
              const rows = new Set();
              after.forEach((v, i) => {
                if (v !== before[i]) rows.add(Math.floor(i / 1024));
              });
              return [...rows];
            }""")
            # The stroke is 31 pixels wide.
            assert changed, "nothing was repainted"
            assert 110 <= min(changed) and max(changed) <= 146, changed
            page.get_by_role("button", name="Without a picture").click()

        def a_request_is_cancelled():
            page.get_by_label("Prompt").fill("never")
            page.get_by_label("Steps").fill("150")
            page.get_by_role("button", name="Draw").click()
            expect(cards()).to_have_count(3)
            cards().first.get_by_role("button", name="Cancel").click()
            expect(cards().first.locator(".why")).to_have_text("cancelled")

        def faults_are_told_with_their_field():
            page.get_by_label("Steps").fill("100000")
            page.get_by_role("button", name="Draw").click()
            expect(page.locator("#fault")).to_contain_text("steps")
            troubles.clear()  # the browser's own line on the status 400
            page.get_by_label("Steps").fill("")

        def the_cluster_is_shown():
            page.get_by_role("tab", name="Create").focus()
            page.keyboard.press("ArrowRight")
            workers = page.locator("#workers")
            expect(workers).to_contain_text("cpu:0")
            expect(workers).to_contain_text("test_card@20")
            expect(page.locator("#totals")).to_contain_text("pictures")
            expect(page.locator("#plan")).to_contain_text("policy")
            expect(page.locator("#plot-plan")).to_contain_text("planned")
            expect(page.locator("#plot-plan .share").first).to_be_visible()
            # The two pictures by their one way, as a picture and as a table.
            expect(page.locator("#ways")).to_contain_text("test_card@20")
            expect(page.locator("#ways")).to_contain_text("100 %")
            expect(page.locator("#plot-ways .band")).to_have_count(1)
            label = page.locator("#plot-ways").get_attribute("aria-label")
            assert label.startswith("100 %"), label
            latency = page.locator("#plot-latency")
            for text in ("p50", "p95", "test_card@20", "s", "min ago"):
                expect(latency).to_contain_text(text)
            # Two pictures, the legend's dot, and perhaps a lone window's.
            assert latency.locator(".dot").count() >= 3
            shot("cluster")
            page.screenshot(path=os.path.join(shots, "cluster-whole.png"),
                            full_page=True)

        def plots_are_read_by_the_keyboard():
            for name, unit in (("latency", " s"), ("queue", "requests"),
                               ("rate", "pictures/min"), ("rows", "rows"),
                               ("batches", "steps")):
                plot = page.locator(f"#plot-{name}")
                out = page.locator(f"figure:has(#plot-{name}) output")
                plot.focus()
                expect(out).to_have_text("")
                page.keyboard.press("End")
                expect(out).to_contain_text(unit)
                expect(plot.locator(".cursor")).to_have_count(1)
                last = out.inner_text()
                page.keyboard.press("ArrowLeft")
                # Batches had one size alone.
                assert (out.inner_text() == last) == (name == "batches"), last
                page.keyboard.press("Escape")
                expect(out).to_have_text("")

        def ways_are_told_apart():
            """A cascade of two models beside a direct way, as a server with
            such a plan would tell it."""
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
            expect(page.locator("#plan")).to_have_text(
                "Plan 7 of the policy diffserve")
            # Two classes and what came, of two routes each.
            expect(page.locator("#plot-plan .share")).to_have_count(6)
            plan = page.locator("#plot-plan")
            expect(plan).to_contain_text("cascade: turbo@4, then base@50")
            expect(plan).to_contain_text("class 1")
            label = plan.get_attribute("aria-label")
            assert "class 1: 30 % by cascade, 70 % by small@20" in label, label
            assert "as it came: 75 % by cascade" in label, label
            expect(page.locator("#plot-ways .band")).to_have_count(3)
            label = page.locator("#plot-ways").get_attribute("aria-label")
            assert "20 % by cascade, drawn by base@50" in label, label
            expect(page.locator("#ways tr")).to_have_count(4)
            expect(page.locator("#plot-ways")).to_contain_text("cascade 75 %")
            page.screenshot(path=os.path.join(shots, "ways.png"),
                            full_page=True)

        def it_fits_a_phone_and_the_dark():
            page.set_viewport_size({"width": 390, "height": 844})
            for name in ("Cluster", "Create"):
                page.get_by_role("tab", name=name).click()
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= 390, f"{name} is {wide} pixels wide"
                page.screenshot(
                    path=os.path.join(shots, f"phone-{name.lower()}.png"),
                    full_page=True)
            page.set_viewport_size({"width": 1200, "height": 900})
            page.emulate_media(color_scheme="dark")
            shot("dark-create")
            page.get_by_role("tab", name="Cluster").click()
            expect(page.locator("#plot-ways .band")).to_have_count(3)
            page.screenshot(path=os.path.join(shots, "dark-cluster.png"),
                            full_page=True)

        def nothing_went_wrong_meanwhile():
            assert not troubles, troubles

        served.run([a_picture_is_drawn_with_previews,
                    what_a_prompt_does_not_do_is_told,
                    its_parameters_are_used_again,
                    a_mask_is_painted_and_the_rest_kept,
                    a_request_is_cancelled, faults_are_told_with_their_field,
                    the_cluster_is_shown, plots_are_read_by_the_keyboard,
                    ways_are_told_apart,
                    it_fits_a_phone_and_the_dark,
                    nothing_went_wrong_meanwhile])


main()
