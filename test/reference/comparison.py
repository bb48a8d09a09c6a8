# SPDX-License-Identifier: Apache-2.0
"""Compares outputs of networks, and prints by how much they differ."""
import os
import subprocess
import sys

FLOAT32_BOUND = 1e-4
# The permitted error of our bfloat16, relative to that of the peer's own bfloat16.
BFLOAT16_BOUND = 1.5


def difference(ours, theirs):
    """Returns the difference of both tensors, and theirs without infinities."""
    ours, theirs = ours.double(), theirs.double()
    if ours.shape != theirs.shape:
        sys.exit(f"shape {tuple(ours.shape)}, not {tuple(theirs.shape)}")
    same = ours == theirs  # infinities
    return ((ours - theirs).masked_fill(same, 0),
            theirs.masked_fill(theirs.isinf(), 0))


def distance(ours, theirs):
    """Returns the greatest difference in units of the peer's greatest value."""
    off, scale = difference(ours, theirs)
    return float(off.abs().max() / scale.abs().max().clamp_min(1e-30))


def deviation(ours, theirs):
    """Returns the root of the mean square, in units of the peer's."""
    off, scale = difference(ours, theirs)
    return float(off.square().mean().sqrt()
                 / scale.square().mean().sqrt().clamp_min(1e-30))


class Comparison:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.failed = []

    def run(self, *arguments, inputs):
        """Runs our side over `inputs`; returns its outputs."""
        from safetensors.torch import load_file, save_file
        given = os.path.join(self.folder, "in.safetensors")
        made = os.path.join(self.folder, "out.safetensors")
        save_file({k: v.contiguous() for k, v in inputs.items()}, given)
        subprocess.run([self.program, *arguments, given, made], check=True)
        return load_file(made)

    def judge(self, what, key, fine):
        if not fine:
            self.failed.append(f"{what}: {key}")

    def exact(self, what, ours, theirs, bound=FLOAT32_BOUND):
        """Requires outputs to be equal within `bound` of the greatest value."""
        off = {key: distance(ours[key], x) for key, x in theirs.items()}
        print(f"{what}: at most {max(off.values()):.1e}")
        for key, x in off.items():
            self.judge(what, f"{key} by {x:.1e}", x <= bound)

    def rounded(self, what, ours, theirs, truth):
        """Requires our outputs to be about as near to the truth as theirs."""
        worst = 0
        for key, x in truth.items():
            off, peer = deviation(ours[key], x), deviation(theirs[key], x)
            worst = max(worst, off / max(peer, 1e-6))
            self.judge(what, f"{key} by {off:.1e}, peer by {peer:.1e}",
                       off <= BFLOAT16_BOUND * peer + 1e-6)
        print(f"{what}: at most {worst:.2f} times the peer's error")

    def finish(self):
        if self.failed:
            sys.exit("differs: " + "; ".join(self.failed))
