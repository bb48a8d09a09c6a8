# SPDX-License-Identifier: Apache-2.0
"""Compares the image codecs with Pillow and piexif, which the web UI uses, in both
directions."""
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
    import piexif
    import piexif.helper
    from PIL import Image, PngImagePlugin
except ImportError as error:
    print(f"skipped: no Pillow or piexif to compare with ({error})")
    sys.exit(77)

TEXTS = ["plain\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1",
         "gr\u00fc\u00df dich", "\u6c34\u58a8, \U0001f3a8", "x" * 30000]
wrong = []


def check(what, ok):
    if not ok:
        wrong.append(what)
        print("not equal:", what)


def picture(mode):
    width, height = 61, 43
    bands = len(mode)
    data = bytes((128 + (x * 3 + y * (band + 1)) // 2) % 256
                 for y in range(height) for x in range(width)
                 for band in range(bands))
    return Image.frombytes(mode, (width, height), data)


def text_of(image):
    if "parameters" in image.info:
        return image.info["parameters"]
    comment = piexif.load(image.info["exif"])["Exif"][
        piexif.ExifIFD.UserComment]
    return piexif.helper.UserComment.load(comment)


def write(image, form, quality, text):
    command = [program, "write", form, str(quality), str(image.width),
               str(image.height), str(len(image.mode)), text]
    return subprocess.run(command, input=image.tobytes(), check=True,
                          stdout=subprocess.PIPE).stdout


def read(file):
    out = subprocess.run([program, "read"], input=file, check=True,
                         stdout=subprocess.PIPE).stdout
    head, rest = out.split(b"\n", 1)
    width, height, channels, length = map(int, head.split())
    mode = "RGB" if channels == 3 else "RGBA"
    image = Image.frombytes(mode, (width, height), rest[length:])
    return image, rest[:length].decode()


def save(image, form, text, **options):
    """Saves an image as the web UI does."""
    file = io.BytesIO()
    if form == "png":
        info = PngImagePlugin.PngInfo()
        info.add_text("parameters", text)
        image.save(file, "PNG", pnginfo=info, **options)
        return file.getvalue()
    image.save(file, form.upper(), **options)
    exif = piexif.dump({"Exif": {
        piexif.ExifIFD.UserComment:
            piexif.helper.UserComment.dump(text, encoding="unicode")}})
    joined = io.BytesIO()
    piexif.insert(exif, file.getvalue(), joined)
    return joined.getvalue()


for mode in ("RGB", "RGBA"):
    original = picture(mode)
    for text in TEXTS:
        for form, quality in (("png", 95), ("jpeg", 95), ("webp", 90),
                              ("webp", 100)):
            name = f"{mode} {form} {quality} {text[:12]!r}"
            file = write(original, form, quality, text)
            theirs = Image.open(io.BytesIO(file))
            theirs.load()
            ours, our_text = read(file)
            check(f"{name}: our text, their reader", text_of(theirs) == text)
            check(f"{name}: our text, our reader", our_text == text)
            check(f"{name}: mode", theirs.mode == ours.mode)
            if form == "png" or quality == 100:
                check(f"{name}: lossless",
                      theirs.tobytes() == original.tobytes())
            if form != "webp" or quality == 100:
                check(f"{name}: our pixels, both readers",
                      theirs.tobytes() == ours.tobytes())
            if form == "jpeg" and mode == "RGBA":
                continue
            options = {"lossless": quality == 100, "exact": True} \
                if form == "webp" else {}
            file = save(original, form, text, **options)
            ours, our_text = read(file)
            theirs = Image.open(io.BytesIO(file)).convert(ours.mode)
            check(f"{name}: their text", our_text == text)
            if form != "webp" or quality == 100:
                check(f"{name}: their pixels",
                      theirs.tobytes() == ours.tobytes())

# These are modes that other programs write.
for mode, form, options in (("L", "png", {}), ("LA", "png", {}),
                            ("P", "png", {}), ("1", "png", {}),
                            ("L", "jpeg", {}), ("CMYK", "jpeg", {}),
                            ("RGB", "jpeg", {"progressive": True})):
    source = picture("RGBA" if mode == "LA" else "RGB").convert(mode)
    file = io.BytesIO()
    source.save(file, form.upper(), **options)
    ours, _ = read(file.getvalue())
    theirs = Image.open(file).convert(ours.mode).tobytes()
    near = max(abs(a - b) for a, b in zip(ours.tobytes(), theirs))
    check(f"{mode} {form}: differs by {near}", near <= 1)

print(f"Pillow {Image.__version__}: {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
