# SPDX-License-Identifier: Apache-2.0
"""Runs different requests by themselves, in one batch, and interrupted and resumed. The
images of the same seeds must be equal, for every sampler. The models have random
weights."""
import json
import os
import subprocess
import sys
import tempfile

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder, needs=("diffusers", "transformers"))

import tiny_models



def flow(folder):
    """Makes a model that is treated as one that predicts flow."""
    tiny_models.sd1(folder)
    with open(os.path.join(folder, "scheduler", "scheduler_config.json"),
              "w", encoding="utf-8") as out:
        json.dump({"_class_name": "FlowMatchEulerDiscreteScheduler",
                   "shift": 3.0}, out)


FAMILIES = {**tiny_models.FAMILIES, "flow": flow}
seed = torch_reference.generator().getrandbits(63)
wrong = 0
with tempfile.TemporaryDirectory() as work:
    for family in ("sd1", "sd2", "sdxl", "lcm", "flow", "sd3"):
        model = os.path.join(work, family)
        FAMILIES[family](model)
        # Each kind of run is deterministic in every second group.
        done = subprocess.run(
            [program, model, str(seed), str(2 * torch_reference.scaled(50))])
        print(f"{family}: {'right' if done.returncode == 0 else 'WRONG'}",
              flush=True)
        wrong += done.returncode != 0
sys.exit(1 if wrong else 0)
