# SPDX-License-Identifier: Apache-2.0
"""Draws images and compares their pixels and parameters with the recorded ones.

Usage: images.py --program ATELIER [--report FILE] [--only PART]

A printed seed chooses about twelve images; ATELIER_TEST_SCALE=1 draws all. Pixels are
compared with the record only on a machine like the one that made it. Everywhere the
guard checks that some images equal each other, and compares their metadata.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import image_cases
import machine
import places
import suite

sys.path.insert(0, str(places.PNG_READER))

import pixels  # noqa: E402

LEAST = 12
PATIENCE_S = 300
STEPS = "4"
# Fields of the metadata that change with a release, or are prose.
NOT_RECORDED = re.compile(r', (Version|Notes): ("(\\.|[^"\\])*"|[^,\n]*)')


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def png(side, colour_at):
    """Returns a square PNG whose pixels are colour_at(x, y), three numbers."""
    lines = b"".join(
        b"\0" + bytes(c for x in range(side) for c in colour_at(x, y))
        for y in range(side))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def picture(x, y):
    """Returns a pixel of a red disc before a blue slope."""
    disc = (x - 40) ** 2 + (y - 72) ** 2 < 900
    return (220, 40, 30) if disc else (2 * x % 256, 2 * y % 256, 200)


def mask(x, y):
    """Returns a pixel of a mask: the right half, and a half-masked corner."""
    grey = 255 if x >= 64 else 128 if y < 24 else 0
    return (grey, grey, grey)


def parameters(data):
    """Returns the parameters in a PNG, without version and notes."""
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        name, _, text = body.partition(b"\0")
        if name == b"parameters" and kind == b"tEXt":
            return NOT_RECORDED.sub("", text.decode("latin-1"))
        if name == b"parameters" and kind == b"iTXt":
            return NOT_RECORDED.sub("", text.rsplit(b"\0", 1)[1].decode())
        at += 12 + size
    return ""


class Artist:
    """Draws cases in its own folder."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.environment = os.environ | {
            "XDG_DATA_HOME": str(self.folder / "data"), "ATELIER_MODELS": ""}
        (self.folder / "picture.png").write_bytes(png(128, picture))
        (self.folder / "mask.png").write_bytes(png(128, mask))

    def model(self, case):
        """Returns the folder of the case's model. A model that predicts flow is the
        shipped one with another schedule."""
        shipped = places.MODELS / case.model
        if case.folder() == case.model:
            return shipped
        made = self.folder / case.folder()
        if not made.exists():
            shutil.copytree(shipped, made)
            (made / "scheduler" / "scheduler_config.json").write_text(json.dumps(
                {"_class_name": "FlowMatchEulerDiscreteScheduler",
                 "shift": 3.0}))
        return made

    def command(self, case, out):
        prompt = image_cases.PROMPTS[case.model]
        if case.mask:
            what = ["edit", "picture.png", prompt, "--mask",
                    "mask.png" if case.mask == "drawn" else case.mask]
        elif case.start:
            what = ["generate", prompt, "--init", "picture.png"]
        else:
            what = ["generate", prompt]
        usual = {"--steps": STEPS, "--size": case.size,
                 "--native-only": "off", "--processes": "single",
                 "--guidance": image_cases.GUIDANCE[case.model]}
        more = [x for name, value in usual.items()
                if name not in case.arguments for x in (name, value)]
        return [self.program, *what, "--model", str(self.model(case)),
                "--seed", str(case.seed), *more, *case.arguments,
                # The number of threads that share a sum also affects the bits.
                "--set", "devices[0].threads=2", "-o", str(out), "--force"]

    def draw(self, case):
        """Returns {"pixels": digest, "text": parameters}, or the error's text."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run(self.command(case, f"{out}/"), cwd=self.folder,
                              env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        if done.returncode != 0:
            return f"exit status {done.returncode}: {done.stderr.strip()}"
        data = sorted(out.iterdir())[case.number].read_bytes()
        width, height, rows = pixels.read_png(data)
        digest = hashlib.sha256(struct.pack(">II", width, height))
        for row in rows:
            digest.update(bytes(c for colour in row for c in colour))
        return {"pixels": digest.hexdigest()[:32], "text": parameters(data)}


def judge(case, drawn, recorded, same_machine):
    """Returns sentences about the faults of a case. `drawn` contains it, and the case
    that it must equal."""
    now = drawn[case.name]
    if isinstance(now, str):
        return [now]
    before = recorded["images"].get(case.name)
    if before is None:
        return ["is not recorded: record.py images"]
    faults = []
    if same_machine and now["pixels"] != before["pixels"]:
        faults.append(f"pixels {now['pixels']}, recorded {before['pixels']}")
    if now["text"] != before["text"]:
        faults.append(f"metadata '{now['text']}', recorded '{before['text']}'")
    if case.equals:
        other = drawn[case.equals]
        if isinstance(other, str) or now["pixels"] != other["pixels"]:
            faults.append(f"other pixels than '{case.equals}'")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    suite.add_options(parser)
    options = parser.parse_args()
    recorded = json.loads(places.IMAGES.read_text())
    groups = image_cases.groups()
    if options.only:
        groups = [x for x in groups if any(options.only in c.name for c in x)]
    else:
        groups = suite.choose(groups, LEAST, suite.scale(),
                              random.Random(suite.seed()))
    unlike = machine.differences(recorded["machine"],
                                 machine.here(options.program))
    if unlike:
        print("pixels are not compared with the record, only with each other: "
              + "; ".join(unlike))
    out = suite.Suite("guards_images")
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        artist = Artist(options.program, folder)
        for group in groups:
            drawn = {x.name: artist.draw(x) for x in group}
            for x in group:
                out.add(x.name, judge(x, drawn, recorded, not unlike),
                        skipped=unlike and len(group) == 1)
    return out.end(options.report)


if __name__ == "__main__":
    sys.exit(main())
