# SPDX-License-Identifier: Apache-2.0
"""The facts other than the sources that the bits of an image depend on: the processor,
whose extensions choose the kernels (core/instruction_set and LibTorch's own
dispatch), LibTorch, and the compiler."""
import json
import re
import subprocess

# Names of the flags of x86 and ARM that kernels are chosen by.
CHOOSES_KERNELS = re.compile(
    r"(sse|ssse|avx|fma|f16c|amx|asimd|sve|bf16|i8mm)[a-z0-9_]*")


def processor(text):
    """Returns the maker and the flags in /proc/cpuinfo, given as `text`."""
    told = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        told.setdefault(name.strip(), value.strip())
    flags = told.get("flags", told.get("Features", "")).split()
    return {
        "processor": told.get("vendor_id", told.get("CPU implementer", "")),
        "flags": sorted(x for x in flags if CHOOSES_KERNELS.fullmatch(x)),
    }


def build(program):
    """Returns the LibTorch and the compiler that `program` was built with."""
    told = subprocess.run([program, "doctor", "--json"], capture_output=True,
                          text=True, check=False).stdout
    found = {x["subject"]: x["found"] for x in map(json.loads,
                                                   told.splitlines())}
    torch = re.search(r"LibTorch ([^,\s]+)", found["libraries"])
    return {"libtorch": torch[1] if torch else "none",
            "build": found["build"]}


def here(program):
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        return processor(text.read()) | build(program)


def differences(recorded, now):
    """Returns a sentence for each fact that differs from the recorded one."""
    out = []
    for name in sorted(recorded.keys() | now.keys()):
        before, after = recorded.get(name), now.get(name)
        if before == after:
            continue
        if isinstance(before, list) and isinstance(after, list):
            gone = [x for x in before if x not in after]
            new = [x for x in after if x not in before]
            out.append(f"{name}: without {' '.join(gone) or 'none'}, "
                       f"with {' '.join(new) or 'none'} besides")
        else:
            out.append(f"{name}: {after}, recorded with {before}")
    return out
