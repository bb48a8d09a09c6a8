#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/reproduction.md says whether it is older than its sources.

usage: reproduction_age.py [--mend] ROOT

The page has the commit of its tables and the digest of the sources that made them, those
of planning, simulation and the experiments. If the sources of ROOT have another digest,
the page must have the sentence AGE, and otherwise it must not. `--mend` adds or removes
the sentence. The digest comes from the contents of the files, so that a copy without
history will do. The program prints how the page is made anew.
"""
import argparse
import hashlib
import re
import textwrap
from pathlib import Path

import tree

PAGE = "docs/reproduction.md"
FOLDERS = ("planning/", "simulation/", "bench/papers/")
ENDINGS = (".cpp", ".hpp", ".in")
AGE = ("These tables are older than the sources: planning, simulation or the experiments "
       "have changed since, so a run of today's tree may give other figures.")
MADE = re.compile(r"made at commit ([0-9a-f]{7,40}), on \d{4}-\d{2}-\d{2}")
DIGEST = re.compile(r"`([0-9a-f]{64})`")
ANEW = "atelier simulate --reproduce all --data DIR -o out"


def digest_of(root: Path) -> str:
    """Returns the SHA-256 of the sources' names, lengths and contents, in the order of
    their names."""
    whole = hashlib.sha256()
    for name in tree.files_of(root, *ENDINGS):
        if name.startswith(FOLDERS):
            content = (root / name).read_bytes()
            whole.update(f"{name}\n{len(content)}\n".encode())
            whole.update(content)
    return whole.hexdigest()


def find_age(text: str) -> re.Match | None:
    """Finds the sentence as a paragraph, however its lines are broken."""
    words = r"\s+".join(re.escape(x) for x in AGE.split())
    return re.search(rf"\n\n{words}(?=\n)", text)


def faults_of(text: str, digest: str) -> list[str]:
    """Returns what is wrong with a page, for sources with this digest."""
    if not MADE.search(text):
        return ["it does not say at which commit, and on which day, it was made"]
    said = DIGEST.findall(text)
    if len(said) != 1:
        return [f"it has {len(said)} digests of sources, and should have one"]
    has = find_age(text) is not None
    if said[0] != digest and not has:
        return ["planning, simulation or bench/papers changed after it was made, and it "
                f"lacks the paragraph: {AGE}"]
    if said[0] == digest and has:
        return ["it says that it is older than the sources, which it is not"]
    return []


def mended(text: str, digest: str) -> str:
    """Returns the page with the sentence behind the paragraph of the digest if, and only
    if, the sources have another one."""
    has = find_age(text)
    if has:
        text = text[:has.start()] + text[has.end():]
    said = DIGEST.search(text)
    if said is None or said[1] == digest:
        return text
    end = text.index("\n\n", said.end())
    return text[:end] + "\n\n" + textwrap.fill(AGE, 90) + text[end:]


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--mend", action="store_true",
                       help="add or remove the sentence")
    words.add_argument("root", type=Path)
    given = words.parse_args()
    digest = digest_of(given.root)
    page = given.root / PAGE
    text = page.read_text()
    if given.mend:
        text = mended(text, digest)
        page.write_text(text)
    faults = faults_of(text, digest)
    for fault in faults:
        print(f"{PAGE}: {fault}")
    if faults:
        print("python3 test/style/reproduction_age.py --mend . adds or removes the "
              "sentence.")
    print(f"The sources have the digest {digest}. The tables are made anew by\n  {ANEW}")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
