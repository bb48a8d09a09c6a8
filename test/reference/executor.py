# SPDX-License-Identifier: Apache-2.0
"""Runs unlike requests alone, in one batch and cut off and resumed: the
pictures of the same seeds must be equal. The model has random weights."""
import os
import subprocess
import sys
import tempfile

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder, needs=("diffusers", "transformers"))

import tiny_models

seed = torch_reference.generator().getrandbits(63)
wrong = 0
with tempfile.TemporaryDirectory() as work:
    for family in ("sd1", "sdxl"):
        model = os.path.join(work, family)
        tiny_models.FAMILIES[family](model)
        done = subprocess.run(
            [program, model, str(seed), str(torch_reference.scaled(100))])
        print(f"{family}: {'right' if done.returncode == 0 else 'WRONG'}",
              flush=True)
        wrong += done.returncode != 0
sys.exit(1 if wrong else 0)
