# SPDX-License-Identifier: Apache-2.0
"""Runs what a document shows, block by block, in one scratch folder.

Usage: documents_test.py --program ATELIER --source DIR --packages DIR
                         [--report FILE] DOCUMENT...

`atelier` and `./atelier` are replaced by a stand-in (see readme_test.py), and curl
fails if the server rejects a request. The language of a block decides how it is
checked:

    (none), sh   the commands run in bash; each must end with status 0. A line
                 that starts with `atelier serve` starts a server at a free port,
                 which later commands reach at the port 7860
    text         lines that the block before printed, in order; ... stands for
                 anything
    toml         a configuration that `atelier config` accepts
    json         valid JSON, or members of an object
    python       runs if the package openai is installed
    others       not run

A comment directly above the block changes that:

    <!-- not run: REASON -->        left out
    <!-- file: NAME -->             a toml or json block, written to NAME
    <!-- exit status: N -->         the commands end with status N

The folder contains the files photo.png and mask.png; the mask is white in its middle.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import struct
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree as ElementTree
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from process_test import expect
from reader import PATIENCE_S, Reader, blocks_of

SIDE = 128
SHELL = {"", "sh", "bash"}
NOT_RUN = {"cpp", "cmake", "ini", "nginx"}
MARKERS = {"not run", "file", "exit status"}
# Variables that a block sets remain set for the blocks after it.
VARIABLES = ".variables"
CURL = "#!/bin/sh\nexec /usr/bin/curl --fail-with-body \"$@\"\n"


def write_png(path, pixel):
    """Writes SIDE x SIDE pixels of grey levels."""
    def chunk(kind, body):
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body \
            + struct.pack(">I", check)

    rows = b"".join(b"\0" + bytes(pixel(x, y) for x in range(SIDE))
                    for y in range(SIDE))
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
                     + chunk(b"IDAT", zlib.compress(rows))
                     + chunk(b"IEND", b""))


def in_middle(x, y):
    return 255 if SIDE // 4 <= min(x, y) and max(x, y) < SIDE * 3 // 4 else 0


def runs_in(commands):
    """Splits commands at each start of a server: (command, whether it starts one)."""
    found = []
    for command in commands:
        if re.match(r"(\./)?atelier serve\b", command):
            found.append((command, True))
        elif found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + command, False)
        else:
            found.append((command, False))
    return found


class Follower(Reader):
    """A reader who follows a document."""

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.printed = ""
        self.environment |= {
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / ".local" / "share"),
            "PATH": f"{self.folder}:{self.environment['PATH']}"}
        curl = self.folder / "curl"
        curl.write_text(CURL)
        curl.chmod(0o755)
        for name in ("bench", "docs"):
            (self.folder / name).symlink_to(options.source / name)
        write_png(self.folder / "photo.png", lambda x, y: (x + y) % 256)
        write_png(self.folder / "mask.png", in_middle)

    def here(self, text):
        """Returns `text` with the address of the running server."""
        if self.url is None:
            return text
        port = self.url.rsplit(":", 1)[1]
        return re.sub(r"\b(127\.0\.0\.1|localhost|HOST):7860\b",
                      lambda x: x[1].replace("HOST", "127.0.0.1") + ":" + port,
                      text)

    def follow(self, block):
        """Runs what a block shows. Returns 'skipped' if that is not possible."""
        unknown = set(block.markers) - MARKERS
        expect(not unknown, "unknown markers:", unknown)
        if "not run" in block.markers or block.language in NOT_RUN:
            return "skipped"
        if block.language in SHELL:
            return self.follow_commands(block)
        follow = getattr(self, "follow_" + block.language, None)
        expect(follow, f"a block of {block.language} is neither run nor known")
        return follow(block)

    def follow_commands(self, block):
        status = int(block.markers.get("exit status", 0))
        self.printed = ""
        # A line that is only a comment contains no command.
        commands = [x for x in block.commands() if not x.startswith("#")]
        for text, serves in runs_in(commands):
            if serves:
                text = re.sub(r" --(listen \S+|json\b)", "", text)
                self.serve(self.keeping_variables(text))
            else:
                self.run_script(text, status)
        return None

    def keeping_variables(self, command):
        """Returns a server's command that sees the variables set before."""
        if not self.path(VARIABLES).exists():
            return command
        return f"bash -c {shlex.quote(f'. ./{VARIABLES}; exec {command}')}"

    def run_script(self, text, status):
        names = re.findall(r"^(\w+)=", text, re.MULTILINE)
        script = "set -euo pipefail\n"
        if self.path(VARIABLES).exists():
            script += f". ./{VARIABLES}\n"
        script += self.here(text) + "\n"
        if names:
            script += f"declare -p {' '.join(names)} >> {VARIABLES}\n"
        out, err = self.run(script, status=status)
        self.printed += out + err
        if re.search(r"\batelier stop\b", text):
            self.end_server()

    def follow_text(self, block):
        lines = self.printed.splitlines()
        for wanted in block.text.splitlines():
            form = ".*".join(re.escape(x) for x in wanted.split("..."))
            while lines and not re.fullmatch(form, lines[0].rstrip()):
                lines.pop(0)
            expect(lines, f"not printed: {wanted}\n{self.printed}")
            lines.pop(0)

    def follow_toml(self, block):
        name = block.markers.get("file", ".shown.toml")
        self.path(name).write_text(block.text)
        self.run(f"./atelier config --config {shlex.quote(name)}")

    def follow_json(self, block):
        try:
            json.loads(block.text)
        except ValueError:
            json.loads("{" + block.text + "}")
        if "file" in block.markers:
            self.path(block.markers["file"]).write_text(block.text)

    def follow_python(self, block):
        if not self.has("openai"):
            return "skipped"
        expect(self.url, "no server runs")
        self.path(".shown.py").write_text(self.here(block.text))
        self.run(f"{shlex.quote(str(self.packages))} .shown.py")
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("documents", nargs="+")
    options = parser.parse_args()
    options.source = options.source.resolve()
    # The link is kept, because the python of a virtual environment depends on it.
    options.packages = options.packages.absolute()

    suite = ElementTree.Element("TestSuite", name="docs")
    failures = 0

    def run_case(name, case):
        nonlocal failures
        begin = time.monotonic()
        try:
            result = case() or "passed"
        except Exception:  # any exception of a block is its failure
            failures += 1
            result = "failed"
            print(f"failed: {name}\n{traceback.format_exc()}")
        print(f"{result} in {time.monotonic() - begin:.1f} s: {name}",
              flush=True)
        ElementTree.SubElement(suite, "TestCase", name=name, result=result)

    for document in options.documents:
        blocks = blocks_of((options.source / document).read_text())
        with tempfile.TemporaryDirectory(prefix="document-") as folder:
            reader = Follower(options, folder)
            for block in blocks:
                first = block.text.splitlines()[0] if block.text else ""
                run_case(f"{document}:{block.line}: {first}",
                         lambda block=block: reader.follow(block))
            if reader.server is not None:
                run_case(f"{document}: the server ends", reader.end_server)
            reader.close()
    if options.report:
        ElementTree.ElementTree(suite).write(options.report)
    print(f"{len(suite)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
