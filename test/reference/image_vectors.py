# SPDX-License-Identifier: Apache-2.0
"""Compares CLIP's image towers and the preparation of images with transformers, at odd,
small sizes with random weights. Usage: image_vectors.py PROGRAM TORCH"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import torch_reference

PROGRAM, TORCH = sys.argv[1:]
torch = torch_reference.load(TORCH, needs=["transformers", "safetensors", "PIL"])
import PIL
import transformers
from PIL import Image
from transformers import CLIPConfig, CLIPModel

if int(PIL.__version__.split(".")[0]) < 13:
    print(f"skipped: Pillow {PIL.__version__} scales in another order")
    sys.exit(77)
try:
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil as Processor
except ImportError:  # transformers 4
    from transformers import CLIPImageProcessor as Processor

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

BOUND = 1e-5
TOWERS = {
    "36 wide, 3 heads, a rest beside the patches": dict(
        hidden_size=36, num_attention_heads=3, num_hidden_layers=2, intermediate_size=50, image_size=31,
        patch_size=7),
    "15 wide, 5 heads, 3 layers, gelu, one patch": dict(
        hidden_size=15, num_attention_heads=5, num_hidden_layers=3, intermediate_size=31, image_size=9,
        patch_size=9, hidden_act="gelu", layer_norm_eps=1e-3),
    "22 wide, 1 head, small patches, tanh": dict(
        hidden_size=22, num_attention_heads=1, num_hidden_layers=1, intermediate_size=64, image_size=24,
        patch_size=2, hidden_act="gelu_new"),
}
MEAN, STD = [0.4, 0.5, 0.6], [0.2, 0.3, 0.25]


def preparations(side):
    """Returns settings of the processor by their names."""
    square = {"height": side, "width": side}
    own = dict(image_mean=MEAN, image_std=STD)
    return {
        "published": dict(size={"shortest_edge": side}, crop_size=square),
        "larger, bilinear": dict(size={"shortest_edge": side + 5}, crop_size=square, resample=2, **own),
        "squeezed, Lanczos": dict(size=square, do_center_crop=False, resample=1, **own),
        "squeezed, bicubic, plain": dict(size=square, do_center_crop=False, do_normalize=False),
    }


wrong = []


def randomise(model):
    with torch.no_grad():
        for name, x in model.named_parameters():
            if name.endswith("bias"):
                x.normal_(0, 0.1)
            elif "norm" in name.lower() or "layrnorm" in name.lower():
                x.normal_(1, 0.2)
            else:
                x.normal_(0, 0.3)
    return model.eval()


def run(folder, images):
    given = b"".join(
        struct.pack("<III", *x.size, len(x.tobytes())) + x.tobytes() for x in images)
    done = subprocess.run([PROGRAM, str(folder)], input=given, capture_output=True, check=False)
    if done.returncode == 3:
        raise ValueError(done.stderr.decode())
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {done.stderr.decode()}")
    size, = struct.unpack_from("<I", done.stdout)
    return torch.frombuffer(bytearray(done.stdout[4:]), dtype=torch.float32).view(-1, size).double()


def some_images(pick, side):
    """Returns smooth and noisy images of many sizes. None is tall and becomes smaller in
    both directions: Pillow 13 then scales columns before rows, and core/image does not."""
    sizes = [(side, side), (side + 1, side), (side, 3 * side), (1, 1), (64, 48), (97, 48), (5, 40), (200, 13)]
    out = []
    for size in sizes:
        noise = Image.frombytes("RGB", size, pick.randbytes(3 * size[0] * size[1]))
        out += [noise, noise.resize((3, 2)).resize(size)]
    return out


def compare(what, folder, network, processor, images):
    with torch.inference_mode():
        pixels = torch.cat([torch.as_tensor(processor(x, return_tensors="np")["pixel_values"]) for x in images])
        truth = network.visual_projection(network.vision_model(pixels).pooler_output)
    truth = torch.nn.functional.normalize(truth.double(), dim=-1)
    made = run(folder, images)
    if made.shape != truth.shape:
        sys.exit(f"{what}: shape {tuple(made.shape)}, not {tuple(truth.shape)}")
    off = float((made - truth).abs().max())
    print(f"{what}: at most {off:.1e}")
    if not off <= BOUND:
        wrong.append(f"{what}: by {off:.1e}")


def check_refusals(folder):
    """Checks that unsupported settings are refused by file, key and value."""
    def changed(name, **values):
        file = folder / name
        before = file.read_text()
        file.write_text(json.dumps({**json.loads(before), **values}))
        return lambda: file.write_text(before)
    vision = json.loads((folder / "config.json").read_text())["vision_config"]
    cases = {
        "config.json: model_type: 'siglip' has no image tower": ("config.json", dict(model_type="siglip")),
        "config.json: vision_config.hidden_act is \"relu\"":
            ("config.json", dict(vision_config={**vision, "hidden_act": "relu"})),
        "vision_model.embeddings.patch_embedding.weight":
            ("config.json", dict(vision_config={**vision, "patch_size": vision["patch_size"] + 1})),
        "preprocessor_config.json: do_resize is false": ("preprocessor_config.json", dict(do_resize=False)),
        "preprocessor_config.json: do_pad is true": ("preprocessor_config.json", dict(do_pad=True)),
    }
    for reason, (name, values) in cases.items():
        undo = changed(name, **values)
        try:
            run(folder, [])
            wrong.append(f"not refused: {reason}")
        except ValueError as why:
            if reason not in str(why):
                wrong.append(f"refused as {why}, not as {reason}")
        undo()


def main():
    pick = torch_reference.generator()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, Pillow {PIL.__version__}")
    with tempfile.TemporaryDirectory() as work:
        for seed, (what, shape) in enumerate(TOWERS.items(), 1):
            torch.manual_seed(seed)
            folder = pathlib.Path(work) / str(seed)
            text = dict(hidden_size=8, intermediate_size=9, num_hidden_layers=1, num_attention_heads=2,
                        vocab_size=20, max_position_embeddings=5)
            network = randomise(CLIPModel(CLIPConfig(text_config=text, vision_config=shape,
                                                     projection_dim=11 + seed)))
            network.save_pretrained(folder)
            images = some_images(pick, shape["image_size"])
            for name, settings in preparations(shape["image_size"]).items():
                processor = Processor(**settings)
                processor.save_pretrained(folder)
                compare(f"{what}, {name}", folder, network, processor, images)
        check_refusals(folder)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
