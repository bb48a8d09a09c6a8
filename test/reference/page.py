# SPDX-License-Identifier: Apache-2.0
"""The page in a headless Chromium: draw, edit with a mask, cancel, with chips and the
keyboard, at a desk and on a phone.

Arguments: the program atelier, the environment of the package playwright, and the
folder for screenshots. Skips itself (77) without the package or Chromium.
"""
import sys

import served

served.needs(sys.argv[2], "playwright")

from playwright.sync_api import expect

from browser import (DESK, NAMELESS, PHONE, fits_a_finger, fits_a_phone, is_dark,
                     opened)

# The steps are slow enough to press Cancel.
SLOW = ["--set", "devices[0].test_card_step_ms=40"]
# This is the vocabulary of a model of the shipped family.
VOCABULARY = {"shapes": ["circle", "square", "star", "ring"],
              "object_colours": ["red", "orange", "yellow", "green", "blue"],
              "background_colours": ["white", "black", "gray", "pink", "navy"],
              "sizes": ["small", "large"], "textures": ["plain", "striped"],
              "synonyms": {"disc": "circle"}}


def main():
    with served.Server(sys.argv[1], *SLOW) as server, \
            opened(sys.argv[3]) as (page, troubles, shot):

        def cards():
            return page.locator("#gallery > .card")

        def prompt():
            return page.get_by_label("Prompt", exact=True)

        def draw():
            page.get_by_role("button", name="Draw", exact=True).click()

        def number(name):
            return page.get_by_role("spinbutton", name=name, exact=True)

        def seed():
            return page.get_by_role("textbox", name="Seed", exact=True)

        def unfold(name):
            part = page.locator(f"#{name}")
            if part.get_attribute("open") is None:
                part.locator("summary").click()

        def an_image_is_drawn_with_previews():
            page.goto(server.url)
            prompt().fill("a red circle")
            seed().fill("42")
            # The text shows for less than a second, so polling may miss it.
            page.evaluate("""() => {
                const observer = new MutationObserver(() => {
                    const shown = document.querySelector(
                        "#gallery > .card img[alt=preview]");
                    if (shown?.checkVisibility()) {
                        observer.disconnect();
                        document.body.dataset.previewed = "yes";
                    }
                });
                observer.observe(document.body, {
                    childList: true, subtree: true, attributes: true});
            }""")
            page.keyboard.press("Control+Enter")
            expect(page.locator("body[data-previewed]")).to_be_attached()
            shot("drawing")
            made = cards().first.get_by_role("img", name="a red circle")
            expect(made).to_be_visible()
            assert "seed 42" in cards().first.inner_text()
            assert made.evaluate("x => x.naturalWidth") == 256

        def what_a_prompt_does_not_do_is_told():
            prompt().fill("a (red:1.3) circle")
            draw()
            expect(cards().first.locator(".notes li")).to_contain_text(
                "'(red:1.3)' is read as plain text")
            expect(cards()).to_have_count(2)
            assert cards().nth(1).locator(".notes").is_hidden()
            cards().first.get_by_role("button", name="Remove").click()
            expect(cards()).to_have_count(1)

        def its_parameters_are_used_again():
            prompt().fill("something else")
            seed().fill("")
            cards().first.get_by_role("button", name="Reuse settings").click()
            assert prompt().input_value() == "a red circle"
            assert seed().input_value() == "42"

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
            # The keyboard works too: it draws a dot at the bottom, and undoes it.
            canvas.focus()
            for _ in range(12):
                page.keyboard.press("ArrowDown")
            page.keyboard.press("Space")
            page.get_by_role("button", name="Undo").click()
            prompt().fill("a wall")
            draw()
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
            page.get_by_role("button", name="Remove image").click()

        def a_request_is_cancelled():
            prompt().fill("never")
            unfold("advanced")
            number("Steps").fill("150")
            draw()
            expect(cards()).to_have_count(3)
            assert page.locator("#gallery > .job").count() == 0
            cards().first.get_by_role("button", name="Cancel this image").click()
            expect(cards().first.locator(".why")).to_have_text("Cancelled")
            expect(page.get_by_role("button", name="Cancel")).to_have_count(0)

        def a_job_of_several_images_is_cancelled_by_one_button():
            prompt().fill("never three")
            number("Images").fill("3")
            draw()
            expect(cards()).to_have_count(6)
            job = page.locator("#gallery > .job")
            expect(job).to_contain_text("3 images of “never three”")
            expect(job).to_contain_text("of 150")
            shot("job")
            cancel = job.get_by_role("button", name="Cancel all 3 images")
            expect(cancel).to_have_text("Cancel all")
            own = cards().first.get_by_role("button", name="Cancel image 1 of 3")
            expect(own).to_have_text("Cancel")
            for button in (cancel, own):
                fits_a_finger(button)
            cancel.click()
            expect(page.locator("#gallery .why")).to_have_count(4)
            expect(job).to_have_count(0)
            number("Images").fill("1")

        def one_image_of_a_job_is_cancelled_alone():
            prompt().fill("one of four")
            number("Steps").fill("150")
            number("Images").fill("4")
            draw()
            expect(cards()).to_have_count(10)
            job = page.locator("#gallery > .job")
            buttons = [cards().nth(i).get_by_role(
                "button", name=f"Cancel image {i + 1} of 4") for i in range(4)]
            # The keyboard works too, and its focus moves on from there.
            job.get_by_role("button", name="Cancel all 4 images").focus()
            for button in buttons[:2]:
                page.keyboard.press("Tab")
                expect(button).to_be_focused()
            page.keyboard.press("Enter")
            why = cards().nth(1).locator(".why")
            expect(why).to_have_text("Cancelled")
            expect(cards().nth(1)).to_be_focused()
            page.keyboard.press("Tab")
            expect(cards().nth(1).get_by_role("button", name="Remove")).to_be_focused()
            page.keyboard.press("Tab")
            expect(buttons[2]).to_be_focused()
            # Another client cancels, and the page receives the event.
            assert page.evaluate("""async () => {
              const all = (await (await fetch('/v1/jobs')).json()).data;
              const path = `/v1/jobs/${all[0].id}/images/3/cancel`;
              const reply = await fetch(path, {method: 'POST'});
              await reply.text();
              return reply.status;
            }""") == 200
            expect(cards().nth(3).locator(".why")).to_have_text("Cancelled")
            shot("job-without-two")
            # The others are drawn.
            for i in (0, 2):
                expect(cards().nth(i).get_by_role(
                    "img", name="one of four")).to_be_visible()
            expect(job).to_have_count(0)
            expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
            expect(page.locator("#gallery .why")).to_have_count(6)
            told = page.evaluate("""async () =>
              (await (await fetch('/v1/jobs')).json()).data[0]""")
            assert told["cancelled_images"] == [1, 3], told
            assert told["pictures_done"] == 2, told
            number("Images").fill("1")

        def faults_are_told_with_their_field():
            number("Steps").fill("100000")
            draw()
            expect(page.locator("#fault")).to_contain_text("steps")
            troubles.clear()  # the browser's own line about the status 400
            number("Steps").fill("")

        def an_empty_prompt_draws_nothing():
            many = cards().count()
            prompt().fill(" ")
            draw()
            expect(page.locator("#fault")).to_have_text("Enter a prompt.")
            expect(prompt()).to_be_focused()
            assert cards().count() == many

        def what_is_folded_still_shows():
            summary = page.locator("#advanced summary")
            number("Steps").fill("4")
            number("Deadline (s)").fill("30")
            expect(summary).to_have_text("Advanced (2 set)")
            for name in ("Steps", "Deadline (s)"):
                number(name).fill("")
            expect(summary).to_have_text("Advanced")
            # A browser does not report faults in a folded part.
            number("Guidance").fill("-1")
            summary.click()
            expect(number("Guidance")).to_be_hidden()
            prompt().fill("a circle")
            draw()
            guidance = number("Guidance")
            expect(guidance).to_be_visible()
            guidance.fill("")
            summary.click()

        def words_of_the_model_make_a_prompt():
            # The test card reads any text, so there are only examples.
            expect(page.locator("#words")).to_be_hidden()
            assert page.locator("#examples button").count() >= 3
            model = "**/v1/models/*"
            page.route(model, lambda r: r.fulfill(
                json={"id": "base", "vocabulary": VOCABULARY}))
            page.reload()
            expect(page.locator("#words")).to_be_visible()
            examples = page.get_by_role("group", name="Example prompts")
            known = {word for words in VOCABULARY.values() for word in words}
            for text in examples.get_by_role("button").all_inner_texts():
                rest = set(text.split()) - known
                assert rest <= {"a", "above", "on", "background"}, text
            examples.get_by_role("button", name="a red circle").click()
            assert prompt().input_value() == "a red circle"
            unfold("words")
            for group in ("object colours", "background colours"):
                expect(page.locator("#vocabulary")).to_contain_text(group)
            chips = page.locator("#vocabulary")
            expect(chips.get_by_role("button", name="disc")).to_have_count(0)
            # The word is inserted at the end, then at the caret.
            prompt().evaluate("x => x.setSelectionRange(12, 12)")
            chips.get_by_role("button", name="star").click()
            assert prompt().input_value() == "a red circle star"
            prompt().evaluate("x => x.setSelectionRange(2, 5)")
            chips.get_by_role("button", name="blue").click()
            assert prompt().input_value() == "a blue circle star"
            assert not page.evaluate(NAMELESS)
            page.unroute(model)

        def a_phone_shows_what_is_drawn():
            page.evaluate("""async () => {
              const all = (await (await fetch('v1/jobs')).json()).data;
              for (const {id} of all)
                await fetch(`v1/jobs/${id}`, {method: 'DELETE'});
            }""")
            page.set_viewport_size(PHONE)
            page.goto("about:blank")
            page.goto(server.url)
            for name in ("settings", "advanced"):
                assert page.locator(f"#{name}").get_attribute("open") is None
            # Before any image is drawn, the form and the place of images are visible.
            expect(page.locator("#nothing")).to_be_in_viewport(ratio=1)
            button = page.get_by_role("button", name="Draw", exact=True)
            expect(button).to_be_in_viewport(ratio=1)
            # This also holds if the form is taller than the screen.
            for name in ("settings", "advanced"):
                unfold(name)
            expect(button).to_be_in_viewport(ratio=1)
            prompt().fill("a phone")
            seed().fill("3")
            button.click()
            made = cards().first.get_by_role("img", name="a phone")
            expect(made).to_be_in_viewport(ratio=1)
            expect(button).to_be_in_viewport(ratio=1)
            low = made.bounding_box()
            assert low["y"] + low["height"] <= button.bounding_box()["y"], low
            shot("phone-result")
            fits_a_phone(page, "the form")
            page.set_viewport_size(DESK)

        def the_keyboard_reaches_the_prompt_first():
            prompt().fill("")
            page.goto("about:blank")
            page.goto(server.url)
            page.keyboard.press("Tab")
            skip = page.get_by_role("link", name="Skip to prompt")
            expect(skip).to_be_focused()
            expect(skip).to_be_in_viewport()
            # The link also works from the other view.
            page.get_by_role("tab", name="Cluster").click()
            skip.focus()
            page.keyboard.press("Enter")
            expect(prompt()).to_be_focused()
            page.keyboard.type("typed")
            assert prompt().input_value() == "typed"
            # The file chooser, which has no box of its own, shows its focus.
            page.get_by_label("Start from an image").focus()
            page.keyboard.press("Tab")
            page.keyboard.press("Shift+Tab")
            style = page.locator("#file-label").evaluate(
                "x => getComputedStyle(x).outlineStyle")
            assert style == "solid", style

        def it_is_dark_where_that_is_preferred():
            assert not is_dark(page)
            page.emulate_media(color_scheme="dark")
            assert is_dark(page)
            shot("dark-create")

        def nothing_went_wrong_meanwhile():
            assert not troubles, troubles

        served.run([an_image_is_drawn_with_previews,
                    what_a_prompt_does_not_do_is_told,
                    its_parameters_are_used_again,
                    a_mask_is_painted_and_the_rest_kept,
                    a_request_is_cancelled,
                    a_job_of_several_images_is_cancelled_by_one_button,
                    one_image_of_a_job_is_cancelled_alone,
                    faults_are_told_with_their_field,
                    an_empty_prompt_draws_nothing, what_is_folded_still_shows,
                    words_of_the_model_make_a_prompt,
                    a_phone_shows_what_is_drawn,
                    the_keyboard_reaches_the_prompt_first,
                    it_is_dark_where_that_is_preferred,
                    nothing_went_wrong_meanwhile])


main()
