# SPDX-License-Identifier: Apache-2.0
"""The page's form in a headless Chromium: the mask's tools, edits and what they started
from, shapes of images, and the words of a model.

Arguments: those of page.py.
"""
import sys

import served

served.needs(sys.argv[2], "playwright")

from playwright.sync_api import expect

from browser import opened

VOCABULARY = {"shapes": ["circle", "square"], "object_colours": ["red", "blue"],
              "background_colours": ["white"], "sizes": ["small", "large"],
              "textures": ["plain", "striped"],
              "places": ["top left", "top", "top right", "left", "center", "right",
                         "bottom left", "bottom", "bottom right"],
              "objects": ["1", "2", "3"], "synonyms": {}}
NOTES = [{"code": "image_scaled", "text": "drawn at 128x128, the model's own size, and "
          "scaled to 64x64; native_only=off draws at the requested size"},
         {"code": "unknown_word", "text": "prompt: the model does not know 'dog' and "
          "cannot draw it: its shapes are circle and square"},
         {"code": "not_drawable", "text": "prompt: no shape is named: shapes are circle "
          "and square"}]

# The pixels of the image and of the mask over it.
PAINTED = """() => {
  const canvas = document.getElementById('mask');
  const pixels = canvas.getContext('2d').getImageData(
    0, 0, canvas.width, canvas.height).data;
  return [...pixels];
}"""


def main():
    with served.Server(sys.argv[1]) as server, \
            opened(sys.argv[3]) as (page, troubles, shot):

        def cards():
            return page.locator("#gallery > .card")

        def prompt():
            return page.get_by_label("Prompt", exact=True)

        def button(name):
            return page.get_by_role("button", name=name, exact=True)

        def draw(text):
            many = cards().count()
            prompt().fill(text)
            button("Draw").click()
            expect(cards()).to_have_count(many + 1)
            expect(cards().first.get_by_role("img", name=text, exact=True)) \
                .to_be_visible()

        def stroke(y):
            box = page.locator("#mask").bounding_box()
            y = box["y"] + box["height"] * y
            page.mouse.move(box["x"] + box["width"] * 0.2, y)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] * 0.8, y, steps=4)
            page.mouse.up()

        def the_tools_of_the_mask_are_above_it_and_in_view():
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(server.url)
            draw("a start")
            cards().first.get_by_role("button", name="Edit").click()
            canvas = page.locator("#mask")
            expect(canvas).to_be_in_viewport(ratio=1)
            below = page.locator("#bar").bounding_box()["y"]
            box = canvas.bounding_box()
            assert box["y"] + box["height"] <= below, (box, below)
            for tool in (page.get_by_label("Brush"), button("Undo"), button("Clear"),
                         button("Invert")):
                expect(tool).to_be_in_viewport(ratio=1)
                at = tool.bounding_box()
                assert at["y"] + at["height"] <= box["y"], at

        def the_brush_has_a_ring_of_two_colours():
            ring = page.locator("#ring")
            box = page.locator("#mask").bounding_box()
            page.mouse.move(box["x"] + 100, box["y"] + 100)
            expect(ring).to_be_visible()
            at = ring.bounding_box()
            assert abs(at["x"] + at["width"] / 2 - box["x"] - 100) <= 2, at
            style = ring.evaluate("""x => [getComputedStyle(x).borderColor,
                                           getComputedStyle(x).boxShadow]""")
            assert style[0] == "rgb(255, 255, 255)" and "rgb(0, 0, 0)" in style[1], style
            page.get_by_label("Brush").fill("30")
            page.mouse.move(box["x"] + 101, box["y"] + 100)
            assert ring.bounding_box()["width"] > 2 * at["width"]
            page.get_by_label("Brush").fill("12")
            page.mouse.move(10, 10)
            # The keyboard has one too.
            page.locator("#mask").focus()
            expect(ring).to_be_visible()
            shot("mask-tools")
            prompt().focus()
            expect(ring).to_be_hidden()

        def an_edit_says_so_and_is_compared():
            stroke(0.5)
            draw("an edit")
            expect(cards().first.locator(".kind")).to_have_text(
                "Edit of an image, within a mask")
            expect(cards().nth(1).locator(".kind")).to_be_hidden()
            cards().first.locator("button.frame").click()
            before = page.locator("#view-before")
            expect(before).to_be_visible()
            page.get_by_label("Before the edit", exact=True).fill("40")
            assert before.evaluate("x => x.style.clipPath") in (
                "inset(0px 60% 0px 0px)", "inset(0 60% 0 0)")
            shot("compare")
            # The arrow keys move the slider, not the images.
            page.keyboard.press("ArrowRight")
            expect(page.locator("#view-place")).to_have_text("1 of 2")
            page.get_by_role("button", name="Older image").click()
            expect(before).to_be_hidden()
            page.keyboard.press("Escape")

        def the_settings_of_an_edit_are_used_again():
            """Checks this in the same page, and after a reload."""
            painted = page.evaluate(PAINTED)
            for _ in range(2):
                if page.locator("#source").is_visible():
                    button("Remove image").click()
                prompt().fill("")
                cards().first.get_by_role("button", name="Reuse settings").click()
                expect(page.locator("#mask")).to_be_visible()
                assert prompt().input_value() == "an edit"
                now = page.evaluate(PAINTED)
                # A mask has no soft edge.
                other = sum(abs(x - y) > 8 for x, y in zip(painted, now))
                assert len(now) == len(painted) and other < len(now) / 50, other
                page.reload()
                expect(cards().first.get_by_role("img", name="an edit")).to_be_visible()
            cards().first.get_by_role("button", name="Variations").click()
            expect(cards()).to_have_count(6)
            expect(cards().first.locator(".kind")).to_be_visible()

        def a_source_that_is_gone_is_told():
            page.locator("#file").set_input_files(
                files={"name": "x.svg", "mimeType": "image/svg+xml", "buffer":
                       b"<svg xmlns='http://www.w3.org/2000/svg' width='64' "
                       b"height='64'><rect width='64' height='64' fill='red'/></svg>"})
            expect(page.locator("#mask")).to_be_visible()
            draw("from a file")
            expect(cards().first.locator(".kind")).to_have_text("Edit of an image")
            page.reload()
            expect(cards().first.get_by_role("img", name="from a file")).to_be_visible()
            cards().first.get_by_role("button", name="Reuse settings").click()
            expect(page.locator("#fault")).to_contain_text("no longer kept")
            assert prompt().input_value() == "from a file"
            expect(page.locator("#source")).to_be_hidden()
            cards().first.locator("button.frame").click()
            expect(page.locator("#view-gone")).to_be_visible()
            page.keyboard.press("Escape")

        def notes_have_the_names_of_the_page():
            def answer(route):
                reply = route.fetch()
                told = reply.json()
                for image in told["result"]["images"]:
                    image["notes"] = NOTES
                route.fulfill(response=reply, json=told)
            page.route("**/v1/jobs/*?images=none", answer)
            page.reload()
            notes = cards().first.locator(".notes")
            expect(notes).to_contain_text("“Non-native sizes: draw directly” draws at")
            expect(notes).not_to_contain_text("native_only")
            # The list of shapes is there once.
            assert notes.inner_text().count("circle and square") == 1
            page.unroute("**/v1/jobs/*?images=none")

        def shapes_are_chosen_for_the_model():
            def answer(route):
                reply = route.fetch()
                told = reply.json()
                told["data"][0].update(width=512, height=512, native_only=native)
                route.fulfill(response=reply, json=told)
            page.route("**/v1/variants", answer)
            for native in (False, True):
                page.reload()
                for name, size in (("Wide", ("680", "384")), ("Portrait", ("440", "592")),
                                   ("Landscape", ("592", "440")),
                                   ("Square", ("512", "512"))):
                    shape = button(name)
                    shape.click()
                    got = tuple(page.get_by_role("spinbutton", name=x).input_value()
                                for x in ("Width", "Height"))
                    assert got == size, (name, got)
                    expect(shape).to_have_attribute("aria-pressed", "true")
                    hint = page.locator("#size-hint")
                    if native and name == "Wide":
                        expect(hint).to_contain_text("44 % of its height is cut off")
                    elif name == "Square" or not native:
                        expect(hint).to_have_text("")
            button("Wide").click()
            page.locator("#advanced").evaluate("x => { x.open = true; }")
            page.get_by_label("Non-native sizes").select_option("off")
            expect(page.locator("#size-hint")).to_contain_text("made for 512 × 512")
            page.get_by_label("Non-native sizes").select_option("")
            page.unroute("**/v1/variants")

        def words_are_those_that_the_model_draws():
            page.route("**/v1/models/*", lambda r: r.fulfill(
                json={"id": "base", "vocabulary": VOCABULARY}))
            page.reload()
            prompt().fill("a red circle at the top")
            page.locator("#words summary").click()
            chips = page.locator("#vocabulary")
            for count in VOCABULARY["objects"]:
                expect(chips.get_by_role("button", name=count)).to_have_count(0)
            expect(chips).to_contain_text("up to 3 in an image")
            gray = chips.locator(".chip.unsure")
            assert gray.all_inner_texts() == ["top left", "top right", "center"]
            expect(chips.locator(".hint")).to_be_visible()
            prompt().fill("a red circle at the bottom left")
            assert gray.all_inner_texts() == ["left", "bottom"]
            prompt().fill("a red circle")
            expect(gray).to_have_count(0)
            expect(chips.locator(".hint")).to_be_hidden()

        def chips_fit_a_phone():
            page.set_viewport_size({"width": 360, "height": 800})
            page.reload()
            if page.locator("#words").get_attribute("open") is None:
                page.locator("#words summary").click()
            chips = page.locator(".chip:visible")
            assert chips.count() > 15
            for box in chips.evaluate_all(
                    "all => all.map((x) => x.getBoundingClientRect().toJSON())"):
                assert box["left"] >= 0 and box["right"] <= 360, box
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            shot("phone-chips")
            cards().first.locator("button.frame").click()
            expect(page.locator("#viewer")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            expect(page.locator("#view-close")).to_be_in_viewport(ratio=1)
            shot("phone-large-view")
            page.keyboard.press("Escape")
            page.unroute("**/v1/models/*")

        def nothing_went_wrong_meanwhile():
            assert not troubles, troubles

        served.run([the_tools_of_the_mask_are_above_it_and_in_view,
                    the_brush_has_a_ring_of_two_colours,
                    an_edit_says_so_and_is_compared,
                    the_settings_of_an_edit_are_used_again,
                    a_source_that_is_gone_is_told, notes_have_the_names_of_the_page,
                    shapes_are_chosen_for_the_model,
                    words_are_those_that_the_model_draws, chips_fit_a_phone,
                    nothing_went_wrong_meanwhile])


main()
