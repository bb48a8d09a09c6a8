# SPDX-License-Identifier: Apache-2.0
"""Opens a page of the server in a headless Chromium, with checks for every page."""
import contextlib
import os
import shutil
import sys

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if not CHROMIUM:
    print("skipped: chromium is not installed")
    sys.exit(77)

PATIENCE_MS = 60_000
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1200, "height": 900}

# Names of controls without an accessible name.
NAMELESS = """() => [...document.querySelectorAll(
    'button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((x) => x.checkVisibility() && !(x.labels && x.labels.length)
    && !x.getAttribute('aria-label') && !x.textContent.trim())
  .map((x) => x.outerHTML)"""

# The luminance of the background and the text, 0..1.
LIGHT = """() => ['backgroundColor', 'color'].map((name) => {
  const [r, g, b] = getComputedStyle(document.body)[name].match(/\\d+/g);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
})"""


def is_dark(page):
    ground, ink = page.evaluate(LIGHT)
    assert abs(ground - ink) > 0.5, (ground, ink)
    return ground < ink


@contextlib.contextmanager
def opened(shots):
    """Yields a page, the list of faults on it, and a function that writes a screenshot
    of it to the folder `shots`."""
    from playwright.sync_api import expect, sync_playwright
    os.makedirs(shots, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM,
                                         args=["--no-sandbox"])
        page = browser.new_page(viewport=DESK)
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        troubles = []
        page.on("pageerror", lambda e: troubles.append(str(e)))
        page.on("console", lambda m: m.type == "error"
                and troubles.append(m.text))
        # A page that is left aborts the calls that it still waits for.
        page.on("requestfailed", lambda r: r.url.startswith("blob:")
                or r.failure == "net::ERR_ABORTED"
                or troubles.append(f"{r.url}: {r.failure}"))

        def shot(name, whole=False):
            page.screenshot(path=os.path.join(shots, name + ".png"),
                            full_page=whole)

        yield page, troubles, shot


def fits_a_finger(control):
    box = control.bounding_box()
    assert min(box["width"], box["height"]) >= 44, box


def fits_a_phone(page, what):
    """Checks that nothing is wider than the screen, and that every control has a
    name."""
    found = page.evaluate("document.documentElement.scrollWidth")
    assert found <= PHONE["width"], f"{what} is {found} pixels wide"
    nameless = page.evaluate(NAMELESS)
    assert not nameless, nameless
