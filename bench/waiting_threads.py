#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do OpenMP's waits cost a command that computes beside other programs?

    waiting_threads.py build/release/bin/atelier [--others 0,1,3] [--rounds N]

Draws an image of `base@50` with the program's own waits and with libgomp's default (up
to 300,000 turns, also what a program gets whose environment names no waits), in turns,
beside processes that only use a core each. The images must be equal.
"""
import argparse
import hashlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from measured_program import read_arguments

LIMIT_S = 300


def draw(program, folder, waits):
    """Returns the seconds of a drawing and the hash of its file."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    image = folder / "image.png"
    began = time.monotonic()
    subprocess.run([program, "generate", "a red circle", "--seed", "5", "--force",
                    "-o", image], env=environment | waits, check=True,
                   capture_output=True, timeout=LIMIT_S)
    return time.monotonic() - began, hashlib.sha256(image.read_bytes()).hexdigest()


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("atelier")
    words.add_argument("--others", default="0,1,3",
                       help="numbers of processes beside it (default: 0,1,3)")
    words.add_argument("--rounds", type=int, default=5)
    given = read_arguments(words)
    cases = {"short waits": {}, "libgomp's default": {"GOMP_SPINCOUNT": "300000"}}
    with tempfile.TemporaryDirectory() as name:
        for count in map(int, given.others.split(",")):
            others = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                      for _ in range(count)]
            times = {x: [] for x in cases}
            try:
                images = set()
                for _ in range(given.rounds):
                    for case, waits in cases.items():
                        seconds, image = draw(given.atelier, pathlib.Path(name), waits)
                        times[case].append(seconds)
                        images.add(image)
            finally:
                for x in others:
                    x.kill()
                    x.wait()
            if len(images) != 1:
                sys.exit("the images differ")
            short, default = (statistics.median(x) for x in times.values())
            for case, seconds in times.items():
                print(f"{count} others, {case}: median {statistics.median(seconds):.2f} s"
                      f" (of {' '.join(f'{x:.2f}' for x in sorted(seconds))})")
            print(f"{count} others: short waits take {short / default:.2f} of the "
                  "default's time", flush=True)


if __name__ == "__main__":
    main()
