# SPDX-License-Identifier: Apache-2.0
"""The places in which the guards look: the one file to edit when a folder of the
repository moves."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

RECORDED = HERE / "recorded"
IMAGES = RECORDED / "images.json"
SIMULATIONS = RECORDED / "simulations.json"
COUNTS = RECORDED / "counts.txt"

TESTS = HERE.parent
MODELS = ROOT / "models"
PROFILES = ROOT / "examples" / "profiles"
README = ROOT / "README.md"

# Top-level folders whose files are not the program's sources.
NOT_SOURCES = {"bench", "build", "docs", "examples", "models", "test"}

# The folder of the modules that read a PNG's pixels and the README's commands.
PNG_READER = ROOT / "test" / "docs"
