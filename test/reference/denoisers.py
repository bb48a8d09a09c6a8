# SPDX-License-Identifier: Apache-2.0
"""Compares random denoisers of ours with diffusers'."""
import os
import subprocess
import tempfile

import torch_reference

FLOAT32_BOUND = 1e-4
BFLOAT16_FACTOR = 1.5


def with_bfloat16_weights(torch, net):
    """Returns the network with distinct biases and weights, so that a mix-up shows.
    Each is a number of bfloat16."""
    net.eval()
    with torch.no_grad():
        for _, x in net.named_parameters():
            if x.ndim == 1:
                x.mul_(0.8).add_(torch.randn_like(x) * 0.2)
            x.copy_(x.to(torch.bfloat16))
    return net


def compare(torch, program, cases, build, peer):
    """Runs every case in both types, and prints the differences; returns the number of
    cases that exceed their bound.

    float32: at most 1e-4 of the largest value of diffusers' result. bfloat16: the mean
    error against diffusers' float32 is at most 1.5 times that of diffusers' own
    bfloat16.

    `build(case)` returns a network and its inputs. `peer(network, inputs, type)`
    returns its result in float32.
    """
    from safetensors.torch import load_file, save_file

    generator = torch_reference.generator()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        truths = {}
        for i, (name, case) in enumerate(cases.items()):
            torch.manual_seed(generator.getrandbits(40))
            net, inputs = build(case)
            at = os.path.join(folder, str(i))
            os.mkdir(at)
            net.save_config(at)
            save_file(dict(net.state_dict()), f"{at}/weights.safetensors")
            save_file(inputs, f"{at}/input.safetensors")
            truth = peer(net, inputs, torch.float32)
            truths[name] = at, truth, peer(net, inputs, torch.bfloat16)
        folders = [at for at, _, _ in truths.values()]
        for dtype in "float32", "bfloat16":
            said = subprocess.run([program, dtype] + folders, check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            print(said, end="")
            failures += bool(said)
        print(f"{'':40} {'float32':>10} {'alone':>10} "
              f"{'bfloat16':>10} {'peer':>10}")
        for name, (at, truth, low) in truths.items():
            try:
                ours = load_file(f"{at}/output.float32.safetensors")
                ours_low = load_file(f"{at}/output.bfloat16.safetensors")
            except FileNotFoundError:
                print(f"{name}: no output")
                failures += 1
                continue
            most = truth.abs().max().item()
            error = (ours["sample"] - truth).abs().max().item() / most
            alone = (ours["alone"] - truth).abs().max().item() / most
            mean = truth.abs().mean().item()
            err_low = (ours_low["sample"] - truth).abs().mean().item() / mean
            err_peer = (low - truth).abs().mean().item() / mean
            bad = (not max(error, alone) <= FLOAT32_BOUND
                   or not err_low <= BFLOAT16_FACTOR * err_peer)
            failures += bad
            print(f"{name:40} {error:10.1e} {alone:10.1e} {err_low:10.1e} "
                  f"{err_peer:10.1e}{'  <- too far' if bad else ''}")
    print(f"{len(cases)} networks, {failures} failures")
    return 1 if failures else 0
