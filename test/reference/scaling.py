# SPDX-License-Identifier: Apache-2.0
"""Compares rotating images upright and scaling them with diffusers' image processor,
which uses Pillow, to the byte."""
import io
import os
import subprocess
import sys

program, folder = sys.argv[1:]
python = os.path.join(os.environ.get("ATELIER_TORCH") or folder, "bin/python")
if os.path.exists(python) and "ATELIER_REFERENCE" not in os.environ:
    os.environ["ATELIER_REFERENCE"] = "1"
    os.execv(python, [python] + sys.argv)
try:
    import PIL
    from PIL import Image, ImageOps
except ImportError as error:
    print(f"skipped: no Pillow to compare with ({error})")
    sys.exit(77)
if int(PIL.__version__.split(".")[0]) < 13:
    print(f"skipped: Pillow {PIL.__version__} scales in another order")
    sys.exit(77)


def scale(file, size, by):
    command = [program, "scale", str(size[0]), str(size[1]), by]
    return subprocess.run(command, input=file, check=True,
                          stdout=subprocess.PIPE).stdout


FILTERS = {"lanczos": Image.LANCZOS, "bicubic": Image.BICUBIC,
           "bilinear": Image.BILINEAR}
grain = Image.frombytes("RGBA", (197, 131), bytes(
    (i * i * 31 + i * 7 + (i >> 7) * 91) % 251 for i in range(197 * 131 * 4)))
sizes = ((64, 64), (197, 131), (131, 197), (8, 512), (512, 8), (512, 384),
         (200, 131), (197, 40))
wrong = compared = 0
for orientation in (None, *range(1, 9)):
    for form, mode in (("png", "RGBA"), ("png", "RGB"), ("jpeg", "RGB"),
                       ("webp", "RGBA")):
        file = io.BytesIO()
        exif = Image.Exif()
        if orientation is not None:
            exif[0x0112] = orientation
        exact = {"lossless": True, "exact": True} if form == "webp" else {}
        grain.convert(mode).save(file, form.upper(), exif=exif, **exact)
        # This is what the web UI does with an image to start from: diffusers'
        # load_image shows what transparent pixels hide.
        upright = ImageOps.exif_transpose(
            Image.open(io.BytesIO(file.getvalue())))
        if upright.mode == "RGBA":
            white = Image.new("RGBA", upright.size, "white")
            white.paste(upright, mask=upright)
            upright = white.convert("RGB")
        # Only image towers use the other filters, and never for a rotated file.
        for by in FILTERS if orientation is None else ("lanczos",):
            for size in sizes:
                compared += 1
                theirs = upright.resize(size, FILTERS[by]).tobytes()
                if scale(file.getvalue(), size, by) != theirs:
                    wrong += 1
                    print(f"not equal: {mode} {form}, orientation "
                          f"{orientation}, to {size}, {by}")

print(f"Pillow {PIL.__version__}: {compared} compared, {wrong} wrong")
sys.exit(1 if wrong else 0)
