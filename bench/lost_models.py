# SPDX-License-Identifier: Apache-2.0
"""A model of a running server whose files are lost and come back, for
interruptions.py."""
import json
import os
import pathlib
import shutil
import time

from soak_cases import call

PATIENCE_S = 120
CODE = "unavailable"


def two_models(folder, source):
    """Copies the model `source` twice into `folder`; returns the options of a server
    with the models `well` and `frail` on two devices."""
    for name in ("well", "frail"):
        shutil.copytree(source, pathlib.Path(folder) / name)
    models = ",".join(f"{{name='{x}',path='{pathlib.Path(folder) / x}'}}"
                      for x in ("well", "frail"))
    devices = ",".join(f"{{name='cpu:{n}',executor='torch',threads=1,"
                       "variants=['well@4','frail@4']}" for n in range(2))
    return ["--set", f"models=[{models}]", "--set", f"devices=[{devices}]"]


class LostFiles:
    """Takes the weights of `frail` from a server, and gives them back."""

    KINDS = ("removed", "emptied", "cut", "replaced")

    def __init__(self, server, folder, chance):
        self.server = server
        self.chance = chance
        parts = ("unet", "vae", "text_encoder")
        self.weights = [next((folder / "frail" / x).glob("*.safetensors"))
                        for x in parts]
        self.faults = []
        self.worst_refusal_s = 0
        self.counts = dict.fromkeys(self.KINDS, 0)
        self.answers = {"drawn": 0, "refused": 0}
        status, self.whole = self.ask()
        assert status == 200, self.whole

    def ask(self):
        """Returns the status of a request of `frail`, and its image or its error."""
        body = {"prompt": "a red circle", "model": "frail", "size": "64x64",
                "steps": 2, "seed": 5, "deterministic": True}
        status, text = call(self.server.url, "POST", "/v1/images/generations", body)
        reply = json.loads(text)
        return status, (reply["data"][0]["b64_json"] if status == 200
                        else reply["error"])

    def judged(self, lost):
        """Asks once, and notes what is wrong with the answer. Returns whether it was
        drawn."""
        began = time.monotonic()
        status, got = self.ask()
        took = time.monotonic() - began
        if status == 200:
            self.answers["drawn"] += 1
            if got != self.whole:
                self.faults.append(f"{lost}: another image")
            return True
        self.answers["refused"] += 1
        self.worst_refusal_s = max(self.worst_refusal_s, took)
        if got["code"] != CODE or "cannot be loaded" not in got["message"]:
            self.faults.append(f"{lost}: {status} {got}")
        return False

    def lose(self, kill):
        """Loses one file; `kill` ends a worker or not. All is well at the end."""
        file = self.chance.choice(self.weights)
        how = self.chance.choice(self.KINDS)
        self.counts[how] += 1
        kept = file.with_suffix(".kept")
        shutil.copy(file, kept)
        if how == "removed":
            file.unlink()
        elif how == "replaced":
            file.unlink()
            file.write_text("<html>not found</html>", encoding="ascii")
        else:
            size = 0 if how == "emptied" else self.chance.randrange(file.stat().st_size)
            os.truncate(file, size)
        if self.chance.random() < 0.7:
            kill()
        for _ in range(3):
            self.judged(f"{file.parent.name} {how}")
            time.sleep(self.chance.uniform(0, 0.5))
        os.replace(kept, file)
        until = time.monotonic() + PATIENCE_S
        while not self.judged(f"{file.parent.name} {how}, and back"):
            if time.monotonic() > until:
                self.faults.append(f"{how}: not drawn again after {PATIENCE_S} s")
                return
            time.sleep(0.2)
