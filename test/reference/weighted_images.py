# SPDX-License-Identifier: Apache-2.0
"""Draws prompts with weights by a small model through the APIs of a running server: they
change the image in the web UI's calls, and elsewhere only where they are asked for.
Usage: weighted_images.py PROGRAM TORCH"""
import base64
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request

import served
import torch_reference

torch_reference.load(sys.argv[2], needs=("diffusers", "transformers", "PIL"))

import io

import tiny_models
from PIL import Image

SIZE = {"width": 64, "height": 64, "seed": 7, "steps": 3}


def check(fine, what):
    if not fine:
        raise AssertionError(what)


def post(url, path, body):
    request = urllib.request.Request(
        url + path, json.dumps(body).encode(),
        {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def pixels(text):
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return image.convert("RGB").tobytes()


class Drawn:
    def __init__(self, url):
        self.url = url

    def webui(self, prompt, **more):
        status, reply = post(self.url, "/sdapi/v1/txt2img",
                             dict(SIZE, prompt=prompt, **more))
        check(status == 200, reply)
        return pixels(reply["images"][0])

    def openai(self, prompt, **more):
        status, reply = post(self.url, "/v1/images/generations",
                             dict(SIZE, prompt=prompt, **more))
        check(status == 200, reply)
        return pixels(reply["data"][0]["b64_json"])


def weights_change_images_where_they_are_read(draw):
    plain = draw.webui("the red circle")
    strong = draw.webui("the (red:1.5) circle")
    check(plain != strong, "a weight has no effect")
    check(draw.webui("the (red:1.0) circle") == plain, "weight 1")
    check(draw.openai("the red circle") == plain, "plain words")
    literal = draw.openai("the (red:1.5) circle")
    check(literal != strong, "a weight is read where no call asks")
    check(draw.webui("the (red:1.5) circle", prompt_syntax="plain") == literal,
          "the web UI's call in plain syntax")
    check(draw.openai("the (red:1.5) circle", prompt_syntax="webui") == strong,
          "OpenAI's call in the web UI's syntax")
    check(draw.openai("the (red:1.5) circle", emphasis="original") == strong,
          "the rule alone")
    check(draw.openai("the (red:1.5) circle", emphasis="no_norm") != strong,
          "without the mean")


def chunks_and_layers_change_images(draw):
    long = "red " * 100
    check(draw.webui(long) != draw.webui("red " * 75), "a second chunk")
    check(draw.openai(long) == draw.openai("red " * 75), "what was cut")
    check(draw.webui("red BREAK blue") != draw.webui("red blue"), "BREAK")
    last = draw.webui("the red circle")
    for clip_skip in (2, 3, 4):
        other = draw.webui("the red circle", override_settings={
            "CLIP_stop_at_last_layers": clip_skip})
        check(other != last, f"clip skip {clip_skip}")
        check(draw.openai("the red circle", clip_skip=clip_skip) == other,
              f"clip skip {clip_skip} in both APIs")


def what_cannot_be_encoded_is_refused(draw):
    for field in ("prompt", "negative_prompt"):
        body = dict(SIZE, prompt="a") | {field: "red " * 601}
        status, reply = post(draw.url, "/sdapi/v1/txt2img", body)
        check(status == 400, reply)
        check("8 chunks" in reply["detail"], reply)
    status, reply = post(draw.url, "/v1/images/generations",
                         dict(SIZE, prompt="a", clip_skip=5))
    check(status == 400, reply)
    check("clip_skip 5 outside 1..4" in reply["error"]["message"], reply)
    check(draw.webui("a"), "the server draws the next")


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = os.path.join(folder, "toy")
        tiny_models.sd1(at)
        device = "{name='cpu:0',executor='torch',variants=['toy@4']}"
        with served.Server(
                sys.argv[1], "--set", f"models=[{{name='toy',path='{at}'}}]",
                "--set", f"devices=[{device}]") as server:
            draw = Drawn(server.url)

            def case(what):
                def run():
                    what(draw)
                run.__name__ = what.__name__
                return run

            served.run([case(weights_change_images_where_they_are_read),
                        case(chunks_and_layers_change_images),
                        case(what_cannot_be_encoded_is_refused)])


main()
