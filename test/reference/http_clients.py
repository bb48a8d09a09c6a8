# SPDX-License-Identifier: Apache-2.0
"""Runs common clients, unmodified, against a running server.

They are every method of client.images of the package openai, and the calls of the
package webuiapi to the AUTOMATIC1111 web UI. Arguments: the program atelier, and the
environment of the packages. Skips itself (77) if one is missing.
"""

import base64
import io
import json
import os
import re
import sys
import threading
import urllib.error
import urllib.request

import served
from served import polled

served.needs(sys.argv[2], "openai", "webuiapi", "PIL", "prometheus_client",
             "openapi_spec_validator")

import openai
import openapi_spec_validator
import webuiapi
from PIL import Image
from prometheus_client.parser import text_string_to_metric_families


def check(fine, what):
    if not fine:
        sys.exit(f"http_clients: {what}")


def picture(b64):
    return Image.open(io.BytesIO(base64.b64decode(b64))).convert("RGB")


def file_of(image, name="a.png"):
    out = io.BytesIO()
    image.save(out, "PNG")
    out.seek(0)
    out.name = name
    return out


METRICS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "docs", "metrics.md")
DASHBOARD = os.path.join(os.path.dirname(METRICS), "grafana-dashboard.json")
# These metrics appear once there is something to count.
UNUSED = ("atelier_request_failures_total", "atelier_request_refusals_total")
RED = (200, 30, 30)
SIZE = (64, 64)


def half_mask():
    """Returns a mask that is transparent, so to be edited, on its left half."""
    mask = Image.new("RGBA", SIZE, (0, 0, 0, 255))
    mask.paste((0, 0, 0, 0), (0, 0, 32, 64))
    return mask


def generations(client):
    names = [m.id for m in client.models.list()]
    check(client.models.retrieve(names[0]).id == names[0], f"models {names}")
    more = {"seed": 7, "num_inference_steps": 8}
    first = client.images.generate(prompt="a cat", n=2, size="64x64",
                                   extra_body=more)
    check([d.seed for d in first.data] == [7, 8], f"seeds {first.data}")
    check(picture(first.data[0].b64_json).size == SIZE, "size of a picture")
    check(first.usage.total_tokens > 0, "usage")
    again = client.images.generate(prompt="a cat", size="64x64",
                                   extra_body=more)
    check(again.data[0].b64_json == first.data[0].b64_json,
          "the same seed gives another picture")
    check(again._request_id.startswith("req_"), "x-request-id")
    named = client.images.generate(
        prompt="a cat", size="64x64", style="natural",
        extra_headers={"X-Request-ID": "mine-7"}, extra_body={"mode": 1})
    check(named._request_id == "mine-7", "the client's own x-request-id")
    check([x["code"] for x in named.data[0].notes].count("field_ignored") == 2,
          f"notes {named.data[0]}")
    check(client.models.retrieve("gpt-image-1").id == "gpt-image-1", "gpt-image")
    kept = client.images.generate(prompt="a cat", model="dall-e-3",
                                  size="64x64")
    with urllib.request.urlopen(kept.data[0].url) as reply:
        check(reply.headers["content-type"] == "image/png", "type of an image")
        check(Image.open(reply).size == SIZE, "image of an address")


def notes(client, api):
    """Checks that every API reports unsupported parts of a prompt."""
    text = "'(red:1.3)' is read as"
    got = client.images.generate(prompt="a (red:1.3) cat", size="64x64")
    found = got.data[0].notes
    check(len(found) == 1 and found[0]["code"] == "prompt_syntax"
          and text in found[0]["text"], f"notes {found}")
    events = list(client.images.generate(prompt="a (red:1.3) cat",
                                         size="64x64", stream=True))
    check(text in events[-1].notes[0]["text"], "notes of a last event")
    got = api.txt2img(prompt="a (red:1.3) [cat|dog]", width=64, height=64,
                      steps=4)
    text = "'[cat|dog]' is read as 'cat'"
    check(text in got.info["comments"], f"comments {got.info['comments']}")
    check("red" not in got.info["comments"], f"{got.info['comments']}")
    check(text in got.info["infotexts"][0], "notes in the file")
    try:
        api.txt2img(prompt="a cat <lora:x:1>", width=64, height=64, steps=4)
    except RuntimeError as x:
        check("<lora:x:1>" in str(x), f"a network: {x}")
    else:
        check(False, "a network in a prompt is not refused")


def streams(client):
    for _ in range(50):
        events = list(client.images.generate(
            prompt="a cat", model="gpt-image-1", stream=True,
            partial_images=3, size="512x512", extra_body={"steps": 40}))
        types = [e.type for e in events]
        check(types[-1] == "image_generation.completed", f"events {types}")
        check(len(types) <= 4, f"events {types}")
        # The test card's steps are so short that a later event may replace a preview.
        if len(types) > 1:
            break
    check(types[0] == "image_generation.partial_image", f"events {types}")
    check([e.partial_image_index for e in events[:-1]]
          == list(range(len(events) - 1)), "indices of partial images")
    check(picture(events[-1].b64_json).size == (512, 512), "streamed picture")
    for event in events[:-1]:
        check(picture(event.b64_json).size[0] > 0, "partial image")


def edits(client):
    image = Image.new("RGB", SIZE, RED)
    got = client.images.edit(image=file_of(image), mask=file_of(half_mask()),
                             prompt="x", size="64x64")
    drawn = picture(got.data[0].b64_json)
    check(drawn.getpixel((60, 60)) == RED, "an edit changed what is kept")
    check(drawn.getpixel((4, 4)) != RED, "an edit changed nothing")
    got = client.images.edit(image=[file_of(image)], prompt="x", size="auto")
    check(got.size == "64x64", "size of an edit")
    types = [e.type for e in client.images.edit(
        image=file_of(image), prompt="x", stream=True)]
    check(types == ["image_edit.completed"], f"events {types}")
    got = client.images.create_variation(image=file_of(image), n=2,
                                         response_format="b64_json")
    check(len(got.data) == 2, "variations")


def refusals(client):
    for status, field, call in [
            (400, "n", {"n": 99}),
            (400, "size", {"size": "7x7"}),
            (400, "background", {"background": "transparent"}),
            (400, "level", {"extra_body": {"level": 3}}),
            (404, "model", {"model": "none"})]:
        try:
            client.images.generate(prompt="x", **call)
        except openai.APIStatusError as x:
            check((x.status_code, x.param) == (status, field),
                  f"{call}: {x.status_code} {x.param}")
        else:
            check(False, f"{call} is not refused")
    try:
        client.chat.completions.create(model="x", messages=[])
    except openai.NotFoundError as x:
        check(x.type == "invalid_request_error" and "/openapi.json" in x.message,
              f"{x}")
    else:
        check(False, "a chat is not refused")


def description(url):
    """Checks the OpenAPI document with its specification's own validator."""
    with urllib.request.urlopen(url + "/openapi.json") as reply:
        whole = json.load(reply)
    openapi_spec_validator.validate(whole)


def web_ui(api):
    got = api.txt2img(prompt="a cat", negative_prompt="d", seed=5, width=64,
                      height=64, steps=8, sampler_name="DPM++ 2M",
                      scheduler="Karras", n_iter=2)
    check(len(got.images) == 2 and got.image.size == SIZE, "txt2img")
    check(got.info["all_seeds"] == [5, 6], f"seeds {got.info['all_seeds']}")
    text = got.info["infotexts"][0]
    check("Schedule type: Karras" in text, f"infotext {text}")
    check(api.png_info(got.image).info == text, "png-info")

    green = (10, 200, 10)
    image = Image.new("RGB", (128, 96), green)
    mask = Image.new("RGB", (128, 96))
    mask.paste((255, 255, 255), (10, 10, 60, 60))
    for full in (True, False):
        got = api.img2img(images=[image], mask_image=mask, prompt="x",
                          width=128, height=96, inpaint_full_res=full,
                          inpainting_fill=1, mask_blur=0, steps=8,
                          sampler_name="Euler")
        check(got.image.size == (128, 96), "size of img2img")
        drawn = got.image.convert("RGB")
        check(drawn.getpixel((100, 80)) == green, "img2img: what is kept")
        check(drawn.getpixel((30, 30)) != green, "img2img: what is repainted")

    model = api.get_options()["sd_model_checkpoint"]
    check(model in [m["title"] for m in api.get_sd_models()], f"model {model}")
    api.set_options({"sd_model_checkpoint": model})
    check("Euler a" in [s["name"] for s in api.get_samplers()], "samplers")
    got = api.txt2img(prompt="a cat", width=64, height=64, steps=2,
                      restore_faces=True,
                      override_settings={"CLIP_stop_at_last_layers": 2})
    check(got.info["clip_skip"] == 2, f"clip skip {got.info['clip_skip']}")
    check(got.info["comments"].count("it has no effect") == 1,
          f"comments {got.info['comments']}")
    for ask in (api.get_upscalers, api.get_cmd_flags, api.get_memory,
                api.get_hypernetworks, api.get_face_restorers,
                api.get_realesrgan_models, api.get_prompt_styles,
                api.get_scripts, api.get_embeddings, api.get_sd_vae,
                api.get_loras, api.refresh_checkpoints):
        ask()


def interruption(api):
    calls = []

    def draw():
        calls.append(api.txt2img(prompt="slow", width=1024, height=1024,
                                 steps=150, batch_size=8,
                                 sampler_name="Euler"))

    thread = threading.Thread(target=draw)
    thread.start()

    def begun():
        check(thread.is_alive(), "no progress")
        return api.get_progress()["state"]["job"]

    polled(begun, "no progress", 30, 0.01)
    api.interrupt()
    thread.join(30)
    check(calls and calls[0].info["interrupted"], "interrupted")
    check(len(calls[0].images) < 8, "an interrupted call drew all")


def ended(url, outcome):
    with urllib.request.urlopen(url + "/metrics") as reply:
        text = reply.read().decode()
    found = re.search(f'atelier_requests_total{{outcome="{outcome}"}} (.*)',
                      text)
    return int(float(found[1]))


def wait_until(holds, what):
    polled(holds, what, 60, 0.05)


def retries(program):
    """The SDK tries again after a time-out. It sends no idempotency key unless the
    caller sets one."""
    slow = ("--set", "devices[0].test_card_step_ms=60000")
    with served.Server(program, *slow, "--set",
                       "processes.grace_ms=0") as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none",
                               timeout=0.5)
        check(client.max_retries == 2, f"max_retries {client.max_retries}")
        try:
            client.images.generate(prompt="x", size="64x64")
            check(False, "a picture of an hour came in time")
        except openai.APITimeoutError:
            pass
        # The SDK makes one attempt and two more. All abandoned ones are cancelled.
        wait_until(lambda: ended(server.url, "cancelled") == 3,
                   "an attempt that was given up goes on")
        check(ended(server.url, "answered") == 0, "answered")
    # Each attempt is longer than the client's patience, but all together are not.
    slow = ("--set", "devices[0].test_card_step_ms=700")
    with served.Server(program, *slow) as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none",
                               timeout=2, max_retries=10)
        more = {"extra_body": {"steps": 4, "seed": 1}}
        # The form has a new boundary in each attempt.
        image = file_of(Image.new("RGB", SIZE, RED))
        calls = (lambda k: client.images.generate(
                     prompt="x", size="64x64", extra_headers=k, **more),
                 lambda k: client.images.edit(
                     image=image.getvalue(), prompt="x", extra_headers=k,
                     **more))
        for n, draw in enumerate(calls, 1):
            key = {"Idempotency-Key": f"call {n}"}
            first = draw(key)
            wait_until(lambda n=n: ended(server.url, "answered") == n,
                       f"call {n} was not drawn once")
            again = draw(key)
            check(again.data[0].b64_json == first.data[0].b64_json,
                  "another picture with the same key")
            check(ended(server.url, "answered") == n
                  and ended(server.url, "cancelled") == 0,
                  "a retry with a key was drawn for itself")


def metrics(url):
    with urllib.request.urlopen(url + "/metrics") as reply:
        text = reply.read().decode()
    families = {x.name: x for x in text_string_to_metric_families(text)}
    with open(METRICS, encoding="utf-8") as page:
        told = set(re.findall(r"`(atelier_[a-z_]+)`", page.read()))
    for name, family in families.items():
        whole = name + "_total" if family.type == "counter" else name
        check(whole in told, f"{whole} is not in docs/metrics.md")
        check(family.documentation, f"{whole} says nothing of itself")
    for name in told:
        check(name.removesuffix("_total") in families or name in UNUSED,
              f"docs/metrics.md tells of {name}, /metrics does not")
    with open(DASHBOARD, encoding="utf-8") as board:
        panels = json.load(board)["panels"]
    for name in re.findall(r"atelier_[a-z_]+", json.dumps(panels)):
        check(re.sub("_(bucket|sum|count)$", "", name) in told,
              f"the dashboard asks for {name}")
    drawn = sum(x.value for x in families["atelier_pictures"].samples)
    check(drawn > 10, f"pictures counted: {drawn}")
    check(families["atelier_requests_waiting"].samples[0].value == 0, "waiting")


def main():
    with served.Server(sys.argv[1]) as server:
        url = server.url
        client = openai.OpenAI(base_url=url + "/v1", api_key="none",
                               max_retries=0)
        host, port = url.removeprefix("http://").split(":")
        api = webuiapi.WebUIApi(host=host, port=int(port))
        generations(client)
        notes(client, api)
        streams(client)
        edits(client)
        refusals(client)
        web_ui(api)
        interruption(api)
        metrics(url)
        description(url)
    retries(sys.argv[1])
    print(f"openai {openai.__version__} and webuiapi are served")


main()
