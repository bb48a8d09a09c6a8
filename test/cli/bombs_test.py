# SPDX-License-Identifier: Apache-2.0
"""Sends images that hold more than they promise to the built program.

Usage: bombs_test.py --program ATELIER --report FILE [--only PART]

ATELIER_TEST_SCALE=1 sends 200 bombs of each format, the default one of each kind.
ATELIER_TEST_SEED repeats a run.
"""
import json
import os
import random
import socket
import sys
import urllib.parse

import bombs
from bomb_doors import (DOORS, Memory, allowed_rise, call, img2img_mask,
                        jobs_image, png_info, status_of)
from polling import polled
from process_test import PATIENCE_S, expect, main
from serve_test import CARD, Lines, server

SEED = int(os.environ.get("ATELIER_TEST_SEED") or random.randrange(1 << 32))
SCALE = float(os.environ.get("ATELIER_TEST_SCALE") or 0.01)
SPLIT = ["--processes", "split"]


def processes_of(url):
    # /health reports a new process as starting for a while.
    def ready():
        seen = json.loads(call(url, "GET", "/health")[1])
        return seen if seen["status"] == "ok" else None

    health = polled(ready, "never ready", PATIENCE_S)
    return {x["role"]: (x["pid"], x["restarts"]) for x in health["processes"]}


def draw(url):
    status, body = call(url, "POST", "/v1/images/generations",
                        {"prompt": "a circle", "size": "64x64"})
    expect(status == 200, status, body[:500])


def through_every_door(program, kind):
    count = max(len(bombs.FAMILIES[kind]), int(200 * SCALE))
    print(f"{kind}: {count} bombs, ATELIER_TEST_SEED={SEED}")
    with server(program, *SPLIT) as (process, told):
        url = told["url"]
        log = Lines(process)
        draw(url)
        # A valid image is sent first, so that one-time work is not measured.
        for door in DOORS:
            status, body = door(url, bombs.tiny("png with transparency"))
            expect(status == 200, door.__name__, status, body[:500])
        before = processes_of(url)
        pids = {process.pid} | {pid for pid, _ in before.values()}
        for name, file, pixels in bombs.bombs(kind, count, SEED):
            for door in DOORS:
                memory = Memory(pids)
                status, body = door(url, file)
                expect(status == 200 or 400 <= status < 500, name,
                       door.__name__, status, body[:500])
                rise, pid = memory.rise()
                expect(rise <= allowed_rise(pixels), name,
                       door.__name__, "takes", rise >> 20, "MiB of process",
                       pid, "for", pixels, "pixels and", len(file), "bytes")
        draw(url)
        expect(processes_of(url) == before, before, processes_of(url))
        expect(not any("suspected" in x for x in log.all), log.all)


def case_png_bombs_harm_nobody(program):
    through_every_door(program, "png")


def case_jpeg_bombs_harm_nobody(program):
    through_every_door(program, "jpeg")


def case_webp_bombs_harm_nobody(program):
    through_every_door(program, "webp")


def case_data_of_gigabytes_are_refused_by_each_door(program):
    bomb = bombs.png(8, 8, data=bombs.zeros(3000 * bombs.MIB))
    with server(program, *SPLIT) as (_, told):
        url = told["url"]
        before = processes_of(url)
        for door in DOORS[:-1]:
            status, body = door(url, bomb)
            expect(status == 400, door.__name__, status, body[:500])
            expect(b"image cannot be read" in body, door.__name__, body[:500])
        # The file contains no parameters.
        expect(png_info(url, bomb)[0] == 200)
        draw(url)
        expect(processes_of(url) == before, before, processes_of(url))


def case_what_takes_too_long_names_its_option(program):
    large = bombs.png(8192, 4096)
    with server(program, *SPLIT, "--set", "limits.decode_ms=1") as (_, told):
        status, body = jobs_image(told["url"], large)
        expect(status == 400 and b"(limits.decode_ms)" in body, status, body)
        status, body = img2img_mask(told["url"], large)
        expect(status == 400 and b"longer" in body, status, body)
        draw(told["url"])


def case_what_takes_too_long_by_the_clock_names_its_option(program):
    large = bombs.png(8192, 4096)
    # Two milliseconds by the clock, of which two seconds of a processor are not used up.
    with server(program, *SPLIT, "--set", "limits.decode_ms=2000",
                "--set", "http.decode_factor=0.001") as (_, told):
        status, body = img2img_mask(told["url"], large)
        expect(status == 400 and b"(http.decode_factor)" in body, status, body)
        draw(told["url"])


def case_a_text_of_many_fields_is_read_at_once(program):
    with server(program, *SPLIT) as (_, told):
        text = b"parameters\0" + b"ab:x," * 200_000
        file = bombs.png(8, 8, [bombs.chunk(b"tEXt", text)])
        status, body = png_info(told["url"], file)
        expect(status == 200, status, body[:500])
        expect(len(json.loads(body)["parameters"]) <= 3, body[-500:])
        status, body = call(told["url"], "POST", "/sdapi/v1/txt2img", {
            "infotext": "x" * (1 << 20) + "x"})
        expect(status == 400 and b"infotext has 1048577 bytes" in body, status,
               body[:500])


def case_a_long_prompt_goes_through_the_metadata(program):
    # The text is Latin and non-Latin, which PNG stores in two forms.
    for letter in ("x", "\u6c34"):
        prompt = letter * (100_000 // len(letter.encode()))
        with server(program, *SPLIT) as (_, told):
            before = processes_of(told["url"])
            for format in ("png", "jpeg", "webp"):
                status, body = call(told["url"], "POST",
                                    "/v1/images/generations", {
                                        "prompt": prompt, "size": "64x64",
                                        "output_format": format})
                expect(status == 200, status, body[:500])
                image = json.loads(body)["data"][0]["b64_json"]
                status, body = call(told["url"], "POST", "/sdapi/v1/png-info",
                                    {"image": image})
                info = json.loads(body)
                expect(info["parameters"]["Prompt"] == prompt, format,
                       info["info"][:200])
            expect(processes_of(told["url"]) == before)


def own_memory(process):
    return status_of(process.pid)["RssAnon"]


def case_freed_memory_goes_back_to_the_system(program):
    patient = ["--set", "http.read_ms=3000000"]
    with server(program, *SPLIT, *patient) as (process, told):
        at = urllib.parse.urlsplit(told["url"])

        def connected(text):
            out = socket.create_connection((at.hostname, at.port), PATIENCE_S)
            out.sendall(text)
            return out

        draw(told["url"])
        before = own_memory(process)
        host = f"Host: {at.netloc}\r\n".encode()
        body = (b"POST /v1/jobs HTTP/1.1\r\n" + host
                + b"Content-Type: application/json\r\nContent-Length: 100001\r\n\r\n"
                + b"x" * 100_000)
        bodies, others = [], []
        for _ in range(800):
            bodies.append(connected(body))
            # What another connection holds lies behind it, and stays.
            others.append(connected(b"GET /health HTTP/1.1\r\n" + host))
        polled(lambda: own_memory(process) > before + 64 * bombs.MIB,
               lambda: f"{own_memory(process)} bytes hold all", PATIENCE_S)
        for x in bodies:
            x.close()
        polled(lambda: own_memory(process) < before + 16 * bombs.MIB,
               lambda: f"{own_memory(process)} bytes stay, {before} before",
               PATIENCE_S)
        for x in others:
            x.close()
        draw(told["url"])


def case_the_command_line_tells_what_is_wrong(program):
    (program.folder / "b.png").write_bytes(
        bombs.png(8, 8, data=bombs.zeros(400 * bombs.MIB)))
    (program.folder / "i.png").write_bytes(bombs.tiny("png"))
    for arguments in (["generate", "a", "--init", "b.png"],
                      ["edit", "i.png", "--mask", "b.png", "a"]):
        code, out, err = program.run([*arguments, *SPLIT, *CARD[:2],
                                      "-o", "x.png"])
        expect(code == 2 and "image cannot be read" in err, code, err)
        expect(not (program.folder / "x.png").exists())


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_bombs", all_cases()))
