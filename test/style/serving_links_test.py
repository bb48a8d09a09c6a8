#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no program that serves contains code of the training and paper programs.

usage: serving_links_test.py TRAINING PAPERS SERVING...

It looks for names of functions in the files. TRAINING and PAPERS must contain theirs,
so that a changed name is noticed, and SERVING must contain none of them.
"""
import sys
from pathlib import Path

TRAINING = [b"_ZN7atelier3gpu10draw_sceneE", b"_ZN7atelier3gpu11check_imageE",
            b"_ZN7atelier3gpu10export_runE"]
PAPERS = [b"_ZN7atelier7runtime9reproduceE"]


def main() -> int:
    faults: list[str] = []
    training, papers, *serving = sys.argv[1:]
    for file, names in ((training, TRAINING), (papers, PAPERS)):
        text = Path(file).read_bytes()
        faults += [f"{file} has no {x.decode()}" for x in names if x not in text]
    for file in serving:
        text = Path(file).read_bytes()
        faults += [f"{file} has {x.decode()}" for x in TRAINING + PAPERS if x in text]
    print("\n".join(faults) if faults else "none does")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
