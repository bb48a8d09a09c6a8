# SPDX-License-Identifier: Apache-2.0
"""Checks that the set-up waits for the locks of another package manager. It installs
nothing: apt-get is a stand-in, or the real one with an empty root.

Usage: packages_test.py --setup CONFIG/SETUP --report FILE
"""
import argparse
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as ElementTree

PATIENCE_S = 60
BEGIN = """set -euo pipefail
root=$1; setup=$2
mkdir -p "$root/build/log" "$root/config"
ln -sfn "$setup" "$root/config/setup"
source "$setup/common.sh"
source "$setup/packages.sh"
package_poll_s=0.05
"""
# It takes the lock of the lists for 'update', and dpkg's for 'install'.
STAND_IN = """#!/usr/bin/env bash
for word; do case $word in update | install) break ;; esac; done
held="Could not get lock $STATE/$word.lock. It is held by process 42 (aptd)"
flock -n "$STATE/$word.lock" true || { echo "E: $held"; exit 100; }
[[ ! -e $STATE/broken ]] || { echo "E: no such package"; exit 100; }
echo "$*" >> "$STATE/calls"
"""


def expect(condition, *what):
    assert condition, " ".join(str(x) for x in what)


class SetUp:
    """The set-up's functions in a folder, with a stand-in for apt-get."""

    def __init__(self, setup, folder):
        self.setup = setup
        self.folder = pathlib.Path(folder)
        self.environment = os.environ | {"STATE": str(self.folder)}

    def stand_in(self):
        tools = self.folder / "bin"
        tools.mkdir()
        for name, text in (("apt-get", STAND_IN),
                           ("dpkg-query", "#!/bin/sh\nexit 1\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self.environment["PATH"] = f"{tools}:{os.environ['PATH']}"

    def start(self, script):
        return subprocess.Popen(
            ["bash", "-c", BEGIN + script, "atelier", str(self.folder),
             self.setup], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, script):
        process = self.start(script)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    @contextlib.contextmanager
    def held(self, path, take=fcntl.flock):
        with open(path, "w") as file:
            take(file, fcntl.LOCK_EX)
            yield


def case_each_lock_is_waited_for_and_told_once(x):
    x.stand_in()
    for word in ("update", "install"):
        with x.held(x.folder / f"{word}.lock"):
            process = x.start(f'apt_get "$logs/a.log" {word} a')
            line = process.stderr.readline()
            expect("waiting for another package manager, process 42 (aptd), "
                   "10 minutes at most" in line, line)
            expect(x.calls() == [], x.calls())
        _, err = process.communicate(timeout=PATIENCE_S)
        expect(process.returncode == 0 and err == "", err)
        expect(len(x.calls()) == 1 and x.calls()[0].endswith(f"{word} a"),
               x.calls())
        (x.folder / "calls").unlink()


def case_without_a_lock_nothing_is_told(x):
    x.stand_in()
    code, out, err = x.run('apt_get "$logs/a.log" update')
    expect((code, out, err) == (0, "", ""), code, out, err)


def case_the_wait_ends(x):
    x.stand_in()
    with x.held(x.folder / "update.lock"):
        code, _, err = x.run('package_wait_s=0; apt_get "$logs/a.log" update')
    expect(code == 100 and "still holds its lock" in err, code, err)
    expect(x.calls() == [], x.calls())


def case_another_failure_is_not_waited_for(x):
    x.stand_in()
    (x.folder / "broken").touch()
    # The log still contains the lock error of an earlier call.
    code, _, err = x.run('echo "Could not get lock" > "$logs/a.log"; '
                         'apt_get "$logs/a.log" install a')
    expect(code == 100 and err == "", code, err)


def case_missing_packages_are_installed_behind_the_lock(x):
    if os.geteuid() != 0:
        return "skipped"
    x.stand_in()
    with x.held(x.folder / "update.lock"):
        process = x.start("ensure_packages run")
        lines = [process.stderr.readline() for _ in range(2)]
        expect("installing" in lines[0] and "waiting" in lines[1], lines)
    process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 0, process.returncode)
    calls = x.calls()
    expect(len(calls) == 2 and calls[0].endswith(" update")
           and "install --yes" in calls[1] and "ninja-build" in calls[1], calls)
    return None


def case_the_real_one_is_waited_for(x):
    if not shutil.which("apt-get"):
        return "skipped"
    for name in ("etc/apt/sources.list.d", "etc/apt/apt.conf.d",
                 "etc/apt/preferences.d", "etc/apt/trusted.gpg.d",
                 "var/lib/apt/lists/partial", "var/lib/dpkg",
                 "var/cache/apt/archives/partial", "var/log/apt"):
        (x.folder / name).mkdir(parents=True)
    for name in ("var/lib/dpkg/status", "etc/apt/sources.list"):
        (x.folder / name).touch()
    (x.folder / "apt.conf").write_text(
        f'Dir "{x.folder}"; Dir::Etc "{x.folder}/etc/apt";\n'
        f'Dir::State::status "{x.folder}/var/lib/dpkg/status";\n'
        f'APT::Sandbox::User "";\n')
    x.environment["APT_CONFIG"] = str(x.folder / "apt.conf")
    with x.held(x.folder / "var/lib/apt/lists/lock", fcntl.lockf):
        process = x.start('apt_get "$logs/a.log" update')
        line = process.stderr.readline()
        log = (x.folder / "build/log/a.log").read_text()
        expect(f"process {os.getpid()}" in line, line, log)
    _, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 0 and err == "", process.returncode, err)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--setup", required=True, type=os.path.abspath)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    suite = ElementTree.Element("TestSuite", name="setup_packages")
    failures = 0
    for name, case in list(globals().items()):
        if not name.startswith("case_"):
            continue
        with tempfile.TemporaryDirectory(prefix="packages-") as folder:
            try:
                result = case(SetUp(options.setup, folder)) or "passed"
            except Exception:  # any exception of a case is its failure
                failures += 1
                result = "failed"
                print(f"failed: {name}\n{traceback.format_exc()}")
        ElementTree.SubElement(suite, "TestCase",
                               name=name.removeprefix("case_"), result=result)
    if options.report:
        ElementTree.ElementTree(suite).write(options.report)
    print(f"{len(suite)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
