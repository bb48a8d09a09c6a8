#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the denoiser of Stable Diffusion 1.5 in OpenVINO on the CPU, for unet_bench.

    openvino_peer.py serve unet FOLDER cpu

FOLDER is one that `diffusers_peer.py make` wrote; it takes the same commands as that
program's `serve`. The converted network, with weights of the type of FOLDER, is kept
beside FOLDER in FOLDER-openvino.xml and .bin. Bfloat16 only has effect on a processor
with instructions for it.
"""
import os
import pathlib
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(x.split()[1]) for x in lines
                    if x.startswith(field + ":"))


def convert(folder, model):
    import openvino
    import torch
    from diffusers import UNet2DConditionModel

    class Denoiser(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = UNet2DConditionModel.from_pretrained(folder).float()

        def forward(self, sample, timestep, context):
            return self.net(sample, timestep, context, return_dict=False)[0]

    example = (torch.zeros(2, 4, 32, 32), torch.full((2,), 481.0),
               torch.zeros(2, 77, 768))
    with torch.inference_mode():
        converted = openvino.convert_model(Denoiser().eval(), example_input=example)
    openvino.save_model(converted, model, compress_to_fp16=False)


def serve(folder):
    model = pathlib.Path(folder + "-openvino.xml")
    if not model.exists():
        # In a process of its own: its memory is not that of a user.
        child = os.fork()
        if child == 0:
            convert(folder, model)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{folder} could not be converted")

    import openvino
    from safetensors.numpy import load_file, save_file

    before = status("VmRSS")
    kind = "bf16" if folder.endswith("bfloat16") else "f32"
    threads = os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0)))
    start = time.perf_counter()
    core = openvino.Core()
    net = core.compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": kind, "INFERENCE_NUM_THREADS": int(threads),
        "PERFORMANCE_HINT": "LATENCY"})
    loaded = time.perf_counter() - start
    request = net.create_infer_request()
    print(f"ready {loaded * 1e3} {before}", flush=True)
    for line in sys.stdin:
        command = line.split()
        if command[0] == "peak":
            print(status("VmHWM"), flush=True)
            continue
        x = load_file(command[1])
        start, busy = time.perf_counter(), time.process_time()
        y = request.infer([x["sample"], x["timestep"], x["context"]])[0]
        taken = time.perf_counter() - start, time.process_time() - busy
        if command[2] != "-":
            save_file({"result": y.copy()}, command[2])
        print(*(t * 1e3 for t in taken), flush=True)


if __name__ == "__main__":
    if sys.argv[1:3] != ["serve", "unet"]:
        sys.exit(__doc__)
    serve(sys.argv[3])
