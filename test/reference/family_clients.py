# SPDX-License-Identifier: Apache-2.0
"""The images that usual clients get from the shipped family with their default bodies.

The share of correct objects, by the image check, of each client is at most 5 points
below that of `generate` with the same captions and seeds. A prompt outside the family's
grammar has a note that names its word. A caption has no note, except about the size,
the guidance and the client's own additions. Arguments: the program atelier, the
environment of the packages, and the program score_images. Skips itself (77) if one is
missing.

ATELIER_TEST_SCALE=1 takes 40 captions for each client, less by default.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import served

served.needs(sys.argv[2], "openai", "webuiapi")

import openai
import webuiapi

SCALE = float(os.environ.get("ATELIER_TEST_SCALE", "0.01"))
CAPTIONS = max(6, round(40 * SCALE))
SIDE = 128
SEED = 1000

# Source: SillyTavern, public/scripts/extensions/stable-diffusion/index.js
# (defaultSettings, generateAutoImage).
SILLY_TAVERN_PREFIX = "best quality, absurdres, aesthetic,"
SILLY_TAVERN = {
    "negative_prompt": "lowres, bad anatomy, bad hands, text, error, cropped, "
                       "worst quality, low quality, normal quality, jpeg "
                       "artifacts, signature, watermark, username, blurry",
    "sampler_name": "DDIM", "steps": 20, "cfg_scale": 7, "width": 512,
    "height": 512, "restore_faces": False, "enable_hr": False,
    "hr_upscaler": "Latent", "hr_scale": 2.0, "denoising_strength": 0.7,
    "hr_second_pass_steps": 0, "save_images": True, "send_images": True,
    "do_not_save_grid": False, "do_not_save_samples": False}
# Source: Open WebUI, backend/open_webui/routers/images.py (automatic1111; openai).
OPEN_WEBUI = {"batch_size": 1, "width": 512, "height": 512}
OPEN_WEBUI_OPENAI = {"n": 1, "size": "512x512", "response_format": "b64_json"}
# Source: LibreChat, api/app/clients/tools/structured/StableDiffusion.js. The model that
# calls it writes both prompts.
LIBRE_CHAT = {"negative_prompt": "", "cfg_scale": 4.5, "steps": 22,
              "width": 1024, "height": 1024}
# Source: LocalAI, core/http/static/image.js, with the first size of its page.
LOCAL_AI = {"n": 1, "size": "512x512", "step": 15}

FOREIGN = [
    ("a cyan circle", "cyan"), ("a red rabbit", "rabbit"),
    ("a red circel", "circel"), ("a golden star", "golden"),
    ("a blue rectangle", "rectangle"), ("a red oval on white", "oval"),
    ("two red circles", "two"), ("green circles", "circles"),
    ("a giant blue ring", "giant"), ("a stripy heart", "stripy"),
    ("a red circle beneath a star", "beneath"),
    ("a purple cross on a yellow background", "yellow"),
    ("a circle on red", "red"),
    ("a star on an orange to navy gradient", "orange"),
    ("a teal hexagon", "teal"), ("a brown square", "brown"),
    ("a pink heart", "pink"), ("a photo of a red circle", "photo"),
    ("a pentagon", "pentagon"), ("a magenta diamond", "magenta")]


def check(fine, what):
    if not fine:
        sys.exit(f"family_clients: {what}")


def post(url, body):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as x:
        sys.exit(f"family_clients: {url}: {x.read().decode()}")


class Client:
    def __init__(self, name, draw):
        self.name = name
        self.draw = draw
        self.seconds = []
        self.notes = []

    def file(self, prompt, seed, folder):
        begin = time.monotonic()
        data, notes = self.draw(prompt, seed)
        self.seconds.append(time.monotonic() - begin)
        self.notes.append(notes)
        path = os.path.join(folder, f"{self.name.replace(' ', '-')}-{seed}.png")
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
        return path


def clients(url):
    host, port = url.removeprefix("http://").split(":")
    web = webuiapi.WebUIApi(host=host, port=int(port))
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    def by_openai(**more):
        def draw(prompt, seed):
            got = client.images.generate(prompt=prompt,
                                         extra_body={"seed": seed}, **more)
            return (got.data[0].b64_json,
                    "\n".join(x["text"] for x in got.data[0].notes))
        return draw

    def by_webuiapi(prompt, seed):
        got = web.txt2img(prompt=prompt, seed=seed)
        return got.json["images"][0], got.info["comments"]

    def by_web_ui(body, prefix=""):
        def draw(prompt, seed):
            text = f"{prefix} {prompt}" if prefix else prompt
            got = post(url + "/sdapi/v1/txt2img",
                       {**body, "prompt": text, "seed": seed})
            return got["images"][0], json.loads(got["info"])["comments"]
        return draw

    def by_generations(body):
        def draw(prompt, seed):
            got = post(url + "/v1/images/generations",
                       {**body, "prompt": prompt, "seed": seed})
            return (got["data"][0]["b64_json"],
                    "\n".join(x["text"] for x in got["data"][0]["notes"]))
        return draw

    return [
        Client("openai", by_openai(model="gpt-image-1", size="1024x1024")),
        Client("webuiapi", by_webuiapi),
        Client("SillyTavern", by_web_ui(SILLY_TAVERN, SILLY_TAVERN_PREFIX)),
        Client("Open WebUI", by_web_ui(OPEN_WEBUI)),
        Client("Open WebUI as OpenAI's", by_generations(OPEN_WEBUI_OPENAI)),
        Client("LibreChat", by_web_ui(LIBRE_CHAT)),
        Client("LocalAI", by_generations(LOCAL_AI))]


def score(program, pairs):
    lines = "".join(f"{path}\t{caption}\n" for path, caption in pairs)
    out = subprocess.run([program, "score", str(SIDE)], input=lines, text=True,
                         check=True, capture_output=True).stdout
    counts = [[int(x) for x in line.split()] for line in out.splitlines()]
    return sum(x[0] for x in counts), sum(x[1] for x in counts)


def generated(captions, folder):
    """Draws them with the command line: one caption after the other, with rising
    seeds."""
    paths = []
    for i, caption in enumerate(captions):
        path = os.path.join(folder, f"own-{i}.png")
        subprocess.run([sys.argv[1], "generate", caption, "-o", path, "--seed",
                        str(SEED + i), "--size", f"{SIDE}x{SIDE}"],
                       check=True, stderr=subprocess.DEVNULL)
        paths.append(path)
    return paths


def main():
    program = sys.argv[3]
    captions = subprocess.run(
        [program, "captions", str(CAPTIONS), "7"], text=True, check=True,
        capture_output=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        right, said = score(program,
                            zip(generated(captions, folder), captions))
        print(f"generate: {right} of {said} objects right")
        with served.Server(sys.argv[1], models=None) as server:
            for x in clients(server.url):
                pairs = [(x.file(c, SEED + i, folder), c)
                         for i, c in enumerate(captions)]
                found, _ = score(program, pairs)
                x.seconds.sort()
                late = x.seconds[max(0, -(-len(x.seconds) * 95 // 100) - 1)]
                print(f"{x.name}: {found} of {said} objects right, P95 "
                      f"{late:.2f} s")
                # With few captions one object is more than 5 points.
                most = max(0.05 * said, 2 if CAPTIONS < 40 else 0)
                check(found >= right - most,
                      f"{x.name}: {found} of {said} right, generate {right}")
                check(all("scaled to" in n for n in x.notes),
                      f"{x.name}: no note on the size")
                if x.name != "SillyTavern":
                    check(not any("not know" in n for n in x.notes),
                          f"{x.name}: {x.notes}")
            url = server.url + "/v1/images/generations"
            for prompt, word in FOREIGN:
                notes = post(url, {"prompt": prompt, "steps": 1,
                                   "seed": 1})["data"][0]["notes"]
                check(any(f"'{word}'" in n["text"] for n in notes),
                      f"{prompt}: {notes}")
            for caption in captions[:20]:
                notes = post(url, {"prompt": caption, "steps": 1,
                                   "seed": 1})["data"][0]["notes"]
                check(not notes, f"{caption}: {notes}")
    print(f"{len(FOREIGN)} foreign prompts have notes, captions have none")


main()
