# SPDX-License-Identifier: Apache-2.0
"""The program that a benchmark measures must be a release.

Programs that are built for tests are not optimised everywhere: decoding may take ten
times as long, so that what a benchmark finds says nothing of a release.
"""
import json
import subprocess


def is_quick_build(program):
    """Returns whether a program says that its times are not those of a release; none if
    it says nothing."""
    told = subprocess.run([program, "--version", "--json"], text=True,
                          capture_output=True, check=False)
    try:
        return json.loads(told.stdout)["quick_build"]
    except (ValueError, TypeError, KeyError):
        return None


def read_arguments(words, program="atelier"):
    """Reads the arguments of a benchmark, of which one names the program. The benchmark
    ends with an error if that program is no release, unless --quick-build is given."""
    words.add_argument("--quick-build", action="store_true",
                       help="measure the program although it is no release")
    given = words.parse_args()
    if given.quick_build:
        return given
    path = getattr(given, program)
    try:
        quick = is_quick_build(path)
    except OSError as why:
        words.error(str(why))
    if quick is None:
        words.error(f"{path} does not say whether it is a release; --quick-build "
                    "measures it")
    if quick:
        words.error(f"{path} is a quick build, whose times are not those of a release: "
                    "build the preset release, or measure it with --quick-build")
    return given
