# SPDX-License-Identifier: Apache-2.0
"""Compares core::torch_randn and core::torch_generator with torch.randn, bit for
bit."""
import struct
import subprocess
import sys

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder)
if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
    print("skipped: this CPU has no AVX2, so PyTorch draws other bits")
    sys.exit(77)

random = torch_reference.generator()
seeds = [0, 1, 42, 2**31, 2**32 - 1, 2**32, 2**32 + 5, 2**63, 2**64 - 1]
seeds += [random.getrandbits(64) for _ in range(torch_reference.scaled(200))]
sizes = list(range(101)) + [1000, 4096, 16384, 16385, 65535]
cases = [(seed, [n]) for seed in seeds for n in sizes]
cases += [(random.getrandbits(64), [random.randrange(1 << 20)])
          for _ in range(torch_reference.scaled(500))]
# Calls of both kinds follow each other. Fewer than 16 values are drawn in pairs, and
# half a pair may be left for a later call.
cases += [(random.getrandbits(64),
           [random.randrange(1, random.choice([16, 16, 100, 10000]))
            for _ in range(random.randrange(2, 12))])
          for _ in range(torch_reference.scaled(20000))]

lines = "".join(f"{seed} {' '.join(map(str, calls))}\n"
                for seed, calls in cases)
drawn = memoryview(subprocess.run([program], input=lines.encode(), check=True,
                                  stdout=subprocess.PIPE).stdout)
at = 0
wrong = 0
for seed, calls in cases:
    generator = torch.Generator("cpu").manual_seed(seed)
    for n in calls:
        expected = torch.randn(n, generator=generator, dtype=torch.float32)
        bits = expected.view(torch.int32).tolist()
        ours = struct.unpack_from(f"={n}i", drawn, at)
        at += 4 * n
        if list(ours) != bits:
            wrong += 1
            print(f"seed {seed}, calls {calls}: not the bits of PyTorch")
            break
    if wrong > 10:
        break
if wrong == 0 and at != len(drawn):
    sys.exit(f"{len(drawn)} bytes drawn, {at} expected")
print(f"{len(cases)} cases, {at // 4} values, PyTorch {torch.__version__}, "
      f"{wrong} wrong")
sys.exit(1 if wrong else 0)
