#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digest of the sources that draw changes with each of them, and only then.

    digest_of_sources_test.py cmake config/cmake/digest_of_sources.cmake
"""

import pathlib
import re
import subprocess
import sys
import tempfile

CMAKE, SCRIPT = sys.argv[1:]


def digest(root, names):
    (root / "list").write_text("".join(f"{name}\n" for name in names))
    (root / "template").write_text('"@digest@"')
    subprocess.run([CMAKE, f"-DROOT={root}", f"-DLIST={root / 'list'}",
                    f"-DTEMPLATE={root / 'template'}",
                    f"-DOUTPUT={root / 'output'}", "-P", SCRIPT], check=True)
    made = (root / "output").read_text().strip()
    assert re.fullmatch('"[0-9a-f]{64}"', made), made
    return made


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "a.cpp").write_text("a")
        (root / "b.cpp").write_text("b")
        first = digest(root, ["a.cpp", "b.cpp"])
        assert digest(root, ["b.cpp", "a.cpp"]) == first
        assert digest(root, ["a.cpp"]) != first
        (root / "b.cpp").write_text("a")
        (root / "a.cpp").write_text("b")
        assert digest(root, ["a.cpp", "b.cpp"]) != first
        (root / "a.cpp").write_text("a")
        (root / "b.cpp").write_text("b")
        assert digest(root, ["a.cpp", "b.cpp"]) == first


main()
