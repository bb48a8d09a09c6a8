# SPDX-License-Identifier: Apache-2.0
"""Imports the PyTorch for a comparison."""
import importlib.util
import os
import random
import sys


def load(folder, needs=()):
    """Returns the module torch from `folder`, a virtual environment or a folder torch/,
    or otherwise from this interpreter. Leaves with status 77 without it or without one
    of the packages `needs`."""
    # Missing files must not be searched for on the network.
    os.environ["HF_HUB_OFFLINE"] = "1"
    folder = os.environ.get("ATELIER_TORCH") or folder
    python = os.path.join(folder, "bin", "python")
    if os.path.exists(python) and not sys.prefix == os.path.abspath(folder):
        os.execv(python, [python] + sys.argv)
    if os.path.basename(folder) == "torch" and os.path.isdir(folder):
        sys.path.insert(0, os.path.dirname(folder))
    try:
        import torch
        torch.zeros(1)
    except (ImportError, AttributeError) as error:
        print(f"skipped: no PyTorch to compare with ({error})")
        sys.exit(77)
    for name in needs:
        if importlib.util.find_spec(name) is None:
            print(f"skipped: {name} is not installed beside PyTorch")
            sys.exit(77)
    return torch


def scaled(n):
    """Returns how many of `n` cases this run does, as test::scaled does."""
    scale = float(os.environ.get("ATELIER_TEST_SCALE") or 0.01)
    return max(1, int(n * scale))


def generator():
    """Returns a generator of cases and prints its seed."""
    seed = int(os.environ.get("ATELIER_TEST_SEED") or random.getrandbits(64))
    print(f"ATELIER_TEST_SEED={seed}")
    return random.Random(seed)
