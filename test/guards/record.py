# SPDX-License-Identifier: Apache-2.0
"""Records the values that the guards compare with.

Usage: record.py images --program ATELIER
       record.py simulations --program ATELIER
       record.py counts

It prints the differences from the record before. Counts are only lowered. A count that
must rise is edited by hand, in the commit that gives the reason.
"""
import argparse
import json
import os
import sys
import tempfile

import image_cases
import images
import includes
import machine
import names
import places
import simulation_cases
import simulations


def read(path, otherwise):
    return json.loads(path.read_text()) if path.exists() else otherwise


def write(path, what):
    path.write_text(json.dumps(what, indent=1, ensure_ascii=False) + "\n")


def draw_all(program):
    """Returns {name: the drawn image}. Exits if an image fails, or differs from the one
    that it should equal."""
    drawn = {}
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        artist = images.Artist(program, folder)
        for case in image_cases.all_cases():
            drawn[case.name] = artist.draw(case)
            print(".", end="", flush=True)
    print()
    same = {"images": drawn}
    faults = [f"{case.name}: {x}" for case in image_cases.all_cases()
              for x in images.judge(case, drawn, same, True)]
    if faults:
        sys.exit("\n".join(["not recorded:", *faults]))
    return drawn


def record_images(program):
    before = read(places.IMAGES, {"machine": {}, "images": {}})
    now = {"machine": machine.here(program), "images": draw_all(program)}
    for x in machine.differences(before["machine"], now["machine"]):
        print(x)
    for name in sorted(before["images"].keys() | now["images"].keys()):
        old, new = before["images"].get(name), now["images"].get(name)
        if old != new:
            print(f"{name}: {old} -> {new}")
    write(places.IMAGES, now)


def record_simulations(program):
    before = read(places.SIMULATIONS, {})
    now = simulations.simulate_all(program, simulation_cases.CASES)
    broken = [f"{name}: {x}" for name, x in now.items() if isinstance(x, str)]
    if broken:
        sys.exit("\n".join(["not recorded:", *broken]))
    for name in sorted(before.keys() | now.keys()):
        for x in simulations.judge(now.get(name, {}), before.get(name, {})):
            print(f"{name}: {x}")
    write(places.SIMULATIONS, now)


def record_counts():
    text = places.COUNTS.read_text()
    recorded = names.read_counts(text)
    higher = False
    found = names.find(places.ROOT) | includes.find(names.sources(places.ROOT))
    for name, files in found.items():
        before = recorded[name]
        if len(files) < before:
            print(f"{name}: {before} -> {len(files)}")
            text = text.replace(f"{name} {before}\n", f"{name} {len(files)}\n")
        elif len(files) > before:
            higher = True
            print(f"{name}: {len(files)} places now, and stays {before}")
    places.COUNTS.write_text(text)
    return 1 if higher else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.
                                     RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("images", "simulations", "counts"))
    parser.add_argument("--program", type=os.path.abspath)
    options = parser.parse_args()
    if options.what == "counts":
        return record_counts()
    if not options.program:
        parser.error("--program is missing")
    {"images": record_images,
     "simulations": record_simulations}[options.what](options.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
