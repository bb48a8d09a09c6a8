# SPDX-License-Identifier: Apache-2.0
"""A reader who follows a document: its blocks, and a scratch folder in which its
commands run."""
import json
import os
import pathlib
import re
import shlex
import signal
import ssl
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import pixels
from polling import polled
from process_test import expect

PATIENCE_S = 1200
ADDRESS = "http://127.0.0.1:7860"
SEED = "1"

STAND_IN = """#!/bin/sh
command=$1
case $command in
  generate | edit)
    case " $* " in *" --seed "*) ;; *) set -- "$@" --seed {seed} ;; esac ;;
  serve) set -- "$@" --json --listen 127.0.0.1:0 ;;
esac
exec {program} "$@"
"""


class Block:
    """A fenced block. Its markers are the comments directly above it, such as `<!-- not
    run: REASON -->`, by name."""

    def __init__(self, line, language, text, markers):
        self.line, self.language, self.text = line, language, text
        self.markers = markers

    def commands(self):
        """Returns the commands of a block, without comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        found = [re.sub(r"\s+#\s.*$", "", x).strip() for x in lines]
        return [re.sub(r"\s+", " ", x) for x in found if x]


def markers_above(lines, begin):
    """Returns the markers in the comments directly above line `begin`."""
    markers = {}
    while begin > 0 and (comment := re.fullmatch(
            r"<!-- ([a-z ]+): (.+) -->", lines[begin - 1])):
        markers[comment[1]] = comment[2]
        begin -= 1
    return markers


def blocks_of(text):
    """Returns the fenced blocks of a Markdown text."""
    found, begin = [], None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = number
        else:
            found.append(Block(begin + 1, lines[begin][3:].strip(),
                               "\n".join(lines[begin + 1:number]) + "\n",
                               markers_above(lines, begin)))
            begin = None
    expect(begin is None, "a block has no end")
    return found


class Reader:
    """A reader who follows the README."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.server = self.url = None
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith("ATELIER_")}
        self.environment |= {
            "XDG_DATA_HOME": str(self.folder / ".data"),
            "ATELIER_MODELS": str(options.source / "models")}
        for name in ("config", "examples", "models"):
            (self.folder / name).symlink_to(options.source / name)
        stand_in = self.folder / "atelier"
        stand_in.write_text(STAND_IN.format(
            seed=SEED, program=shlex.quote(options.program)))
        stand_in.chmod(0o755)
        self.packages = options.packages / "bin" / "python"

    def has(self, package):
        return self.packages.exists() and subprocess.run(
            [self.packages, "-c", f"import {package}"],
            capture_output=True).returncode == 0

    def path(self, name):
        return self.folder / name

    def run(self, command, status=0, **options):
        if self.url:
            command = command.replace(ADDRESS, self.url)
        done = subprocess.run(["bash", "-c", command], cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE_S,
                              **options)
        out, err = done.stdout.decode(), done.stderr.decode()
        expect(done.returncode == status, command, "ended with",
               done.returncode, out[-2000:], err[-4000:])
        return out, err

    def serve(self, command):
        """Starts a server, which runs until `end_server`."""
        self.end_server()
        self.server = subprocess.Popen(
            ["bash", "-c", "exec " + command], cwd=self.folder,
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.server.stdout.readline()
        expect(line, self.server.communicate() if not line else "")
        self.url = json.loads(line)["url"]
        # The document makes its own certificate, which nothing here trusts.
        context = (ssl._create_unverified_context()
                   if self.url.startswith("https:") else None)
        polled(lambda: json.loads(urllib.request.urlopen(
            self.url + "/health", timeout=PATIENCE_S,
            context=context).read())["status"] == "ok",
            "never ready", PATIENCE_S, 0.1)

    def end_server(self):
        """Ends the server as Ctrl-C does."""
        if self.server is None:
            return
        server, self.server, self.url = self.server, None, None
        server.send_signal(signal.SIGINT)
        try:
            _, err = server.communicate(timeout=PATIENCE_S)
        finally:
            server.kill()
        expect(server.returncode == 0, "serve:", server.returncode, err)

    def close(self):
        if self.server is not None:
            self.server.kill()
            self.server.communicate()

    def image(self, name):
        """Returns an image's pixels, or None if a library is missing."""
        data = self.path(name).read_bytes()
        if name.endswith(".png"):
            return pixels.read_png(data)[2]
        expect(data[:4] == b"RIFF" and data[8:12] == b"WEBP", name)
        if not self.has("PIL"):
            return None
        script = ("import sys; from PIL import Image; "
                  "Image.open(sys.argv[1]).convert('RGB').save(sys.argv[2])")
        copy = self.path(name + ".check.png")
        subprocess.run([self.packages, "-c", script, self.path(name), copy],
                       check=True, capture_output=True)
        return pixels.read_png(copy.read_bytes())[2]
