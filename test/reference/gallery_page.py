# SPDX-License-Identifier: Apache-2.0
"""The page's gallery and large view in a headless Chromium: what survives a reload,
what is fetched and let go, and what is removed from the server.

Arguments: those of page.py.
"""
import re
import sys

import served

served.needs(sys.argv[2], "playwright")

from playwright.sync_api import expect

from browser import opened

# The steps are slow enough to reload meanwhile.
SLOW = ["--set", "devices[0].test_card_step_ms=40"]
LARGE_SEED = "18446744073709551615"

# Counts the object URLs that the page holds.
URLS = """() => {
  const held = new Set();
  window.heldUrls = held;
  const [create, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
  URL.createObjectURL = (x) => {
    const url = create.call(URL, x);
    held.add(url);
    return url;
  };
  URL.revokeObjectURL = (url) => {
    held.delete(url);
    revoke.call(URL, url);
  };
}"""

SUBMIT = """async (jobs) => {
  for (const body of jobs) {
    const reply = await fetch('v1/jobs', {method: 'POST',
      headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
    const {id} = await reply.json();
    for (;;) {
      const job = await (await fetch(`v1/jobs/${id}?images=none`)).json();
      if (job.status === 'completed') break;
      if (job.status === 'failed') throw new Error(job.error.message);
      await new Promise((then) => setTimeout(then, 50));
    }
  }
}"""


def main():
    with served.Server(sys.argv[1], *SLOW) as server, \
            opened(sys.argv[3]) as (page, troubles, shot):

        fetched = []
        page.add_init_script(f"({URLS})()")
        page.on("request", lambda r: "/images/" in r.url and r.method == "GET"
                and fetched.append(r.url))

        def cards():
            return page.locator("#gallery > .card")

        def prompt():
            return page.get_by_label("Prompt", exact=True)

        def field(name):
            """Returns a field, which may be in a folded part."""
            for part in ("settings", "advanced"):
                page.locator(f"#{part}").evaluate("x => { x.open = true; }")
            return page.get_by_role("spinbutton", name=name, exact=True)

        def seed():
            return page.get_by_role("textbox", name="Seed", exact=True)

        def draw(text, steps="", images="1", number=""):
            prompt().fill(text)
            field("Steps").fill(steps)
            field("Images").fill(images)
            seed().fill(number)
            page.get_by_role("button", name="Draw", exact=True).click()

        def ready(card, text):
            image = card.get_by_role("img", name=text, exact=True)
            expect(image).to_be_visible()
            return image

        def press(card, name):
            card.get_by_role("button", name=name, exact=True).click()

        def jobs():
            return page.evaluate(
                "async () => (await (await fetch('v1/jobs')).json()).data")

        def reload():
            page.goto("about:blank")
            page.goto(server.url)

        def images_survive_a_reload():
            page.goto(server.url)
            expect(page.locator("#nothing")).to_be_visible()
            for text, number in (("the first", "7"), ("the second", LARGE_SEED)):
                draw(text, "1", number=number)
                ready(cards().first, text)
            prompt().fill("not drawn yet")
            reload()
            expect(cards()).to_have_count(2)
            ready(cards().nth(0), "the second")
            ready(cards().nth(1), "the first")
            expect(cards().nth(0)).to_contain_text(f"seed {LARGE_SEED}")
            assert prompt().input_value() == "not drawn yet"
            assert field("Steps").input_value() == "1"
            expect(page.locator("#advanced summary")).to_have_text(
                "Advanced (1 set)")

        def a_large_seed_is_not_rounded():
            press(cards().first, "Reuse settings")
            assert seed().input_value() == LARGE_SEED
            with page.expect_request("**/v1/jobs") as sent:
                page.get_by_role("button", name="Draw", exact=True).click()
            assert f'"seed":{LARGE_SEED}' in sent.value.post_data
            expect(cards()).to_have_count(3)
            ready(cards().first, "the second")
            expect(cards().first).to_contain_text(f"seed {LARGE_SEED}")

        def a_job_goes_on_after_a_reload():
            draw("three at once", "150", "3")
            job = page.locator("#gallery > .job")
            counted = re.compile(r"step \d+ of 150, images? [1-3]\b.* of 3")
            expect(job).to_contain_text(counted)
            expect(job).not_to_contain_text("Waiting")
            reload()
            expect(job).to_contain_text("3 images of “three at once”")
            expect(job).to_contain_text(counted)
            expect(job.get_by_role("button", name="Cancel all 3 images")).to_be_visible()
            shot("gallery-restored")
            for i in range(3):
                ready(cards().nth(i), "three at once")
            expect(job).to_have_count(0)
            expect(cards()).to_have_count(6)

        def a_single_image_says_waiting_or_its_step():
            draw("alone", "100")
            card = cards().first
            expect(card.locator(".state")).to_contain_text(
                re.compile(r"^step \d+ of 100(, \d+\.\d s left)?"))
            expect(card).not_to_contain_text("Waiting")
            ready(card, "alone")

        def an_image_of_another_client_has_its_prompt():
            page.evaluate(SUBMIT, [{"prompt": "ein Fuß, größer", "steps": 1,
                                    "negative_prompt": "żółty"}])
            reload()
            ready(cards().first, "ein Fuß, größer")
            press(cards().first, "Reuse settings")
            assert prompt().input_value() == "ein Fuß, größer"
            assert field("Steps").input_value() == "1"
            negative = page.get_by_label("Negative prompt")
            assert negative.input_value() == "żółty"
            negative.fill("")

        def the_large_view_has_the_facts_and_the_keyboard():
            frame = cards().first.locator("button.frame")
            frame.focus()
            page.keyboard.press("Enter")
            view = page.get_by_role("dialog", name="Image", exact=True)
            expect(view).to_be_visible()
            facts = page.locator("#view-facts")
            for text in ("Prompt", "ein Fuß, größer", "Negative prompt", "żółty", "Seed",
                         "Size", "256 × 256", "Model", "Steps", "Sampler"):
                expect(facts).to_contain_text(text)
            shot("large-view")
            place = page.locator("#view-place")
            expect(place).to_have_text("1 of 8")
            page.keyboard.press("ArrowLeft")
            expect(place).to_have_text("1 of 8")
            page.keyboard.press("ArrowRight")
            expect(place).to_have_text("2 of 8")
            expect(facts).to_contain_text("alone")
            # The focus stays in the view, and returns to the image that was shown.
            for _ in range(12):
                page.keyboard.press("Tab")
                assert page.evaluate("""() => document.activeElement === document.body
                  || !!document.activeElement.closest('#viewer')""")
            page.keyboard.press("Escape")
            expect(view).to_be_hidden()
            expect(cards().nth(1).locator("button.frame")).to_be_focused()

        def a_file_is_named_after_its_prompt():
            with page.expect_download() as saved:
                cards().nth(6).get_by_role("link", name="Save").click()
            name = saved.value.suggested_filename
            assert name == f"the-second-{LARGE_SEED}.png", name

        def variations_differ_in_their_seeds_alone():
            press(cards().nth(1), "Variations")
            expect(cards()).to_have_count(12)
            seeds = set()
            for i in range(4):
                ready(cards().nth(i), "alone")
                text = cards().nth(i).locator(".facts").inner_text()
                assert "100\u00a0steps" in text, text
                seeds.add(re.search(r"seed (\d+)", text)[1])
            assert len(seeds) == 4, seeds

        def an_image_is_removed_from_the_server():
            newest = jobs()[0]["id"]
            # The server removes a job with the last of its images.
            for i in range(4):
                assert any(x["id"] == newest for x in jobs()), i
                press(cards().first, "Remove")
                expect(cards()).to_have_count(11 - i)
            expect(cards().first).to_be_focused()
            assert all(x["id"] != newest for x in jobs())
            # What is hidden of a job stays hidden.
            press(cards().nth(2), "Remove")
            reload()
            expect(cards()).to_have_count(7)

        def a_cancelled_card_is_removed():
            draw("never", "150")
            press(cards().first, "Cancel this image")
            expect(cards().first.locator(".why")).to_have_text("Cancelled")
            press(cards().first, "Remove")
            expect(cards()).to_have_count(7)
            expect(page.locator("#gallery .why")).to_have_count(0)

        def the_view_moves_on_from_a_removed_image():
            cards().first.locator("button.frame").click()
            view = page.get_by_role("dialog", name="Image", exact=True)
            press(view, "Remove")
            expect(page.locator("#view-place")).to_have_text("1 of 6")
            page.keyboard.press("Escape")
            expect(view).to_be_hidden()

        def only_what_is_near_is_fetched():
            page.set_viewport_size({"width": 800, "height": 600})
            page.evaluate(SUBMIT, [{"prompt": f"many {i}", "n": 16, "steps": 1}
                                   for i in range(7)])
            reload()
            ready(cards().first, "many 6")
            # The newest hundred are shown: six jobs of 16 images.
            expect(cards()).to_have_count(96)
            page.wait_for_load_state("networkidle")
            before = len(fetched)
            fetched.clear()
            page.wait_for_load_state("networkidle")
            assert before < 90 and not fetched, (before, fetched)
            cards().last.scroll_into_view_if_needed()
            ready(cards().last, "many 1")
            page.get_by_role("button", name="Show older images").click()
            expect(cards()).to_have_count(96 + 16 + 6)
            cards().nth(96).scroll_into_view_if_needed()
            ready(cards().nth(96), "many 0")

        def finished_images_are_cleared_after_a_question():
            draw("still drawing", "150")
            expect(cards()).to_have_count(119)
            page.get_by_role("button", name="Clear finished").click()
            ask = page.locator("#confirm")
            expect(ask).to_contain_text("all 118 finished images")
            ask.get_by_role("button", name="Keep").click()
            expect(ask).to_be_hidden()
            expect(cards()).to_have_count(119)
            page.get_by_role("button", name="Clear finished").click()
            ask.get_by_role("button", name="Remove").click()
            expect(cards()).to_have_count(1)
            expect(page.locator("#news")).to_have_text(
                "The finished images are removed.")
            assert len(jobs()) == 1
            # Only the image that is left is held.
            ready(cards().first, "still drawing")
            assert page.evaluate("heldUrls.size") == 1
            press(cards().first, "Remove")
            expect(page.locator("#nothing")).to_be_visible()
            assert page.evaluate("heldUrls.size") == 0
            assert jobs() == []

        def nothing_went_wrong_meanwhile():
            assert not troubles, troubles

        served.run([images_survive_a_reload, a_large_seed_is_not_rounded,
                    a_job_goes_on_after_a_reload,
                    a_single_image_says_waiting_or_its_step,
                    an_image_of_another_client_has_its_prompt,
                    the_large_view_has_the_facts_and_the_keyboard,
                    a_file_is_named_after_its_prompt,
                    variations_differ_in_their_seeds_alone,
                    an_image_is_removed_from_the_server,
                    a_cancelled_card_is_removed,
                    the_view_moves_on_from_a_removed_image,
                    only_what_is_near_is_fetched,
                    finished_images_are_cleared_after_a_question,
                    nothing_went_wrong_meanwhile])


main()
