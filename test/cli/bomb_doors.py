# SPDX-License-Identifier: Apache-2.0
"""Every interface of a server that accepts an image file, and the memory of its
processes. It needs only Python's standard library."""
import base64
import http.client
import json
import pathlib
import urllib.parse

import bombs
from polling import polled

PATIENCE_S = 300


def call(url, method, path, body=None, content_type="application/json"):
    """Returns the status and body of one request."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    try:
        connection.request(method, path, body, {"Content-Type": content_type})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def text_of(file):
    return base64.b64encode(file).decode()


def form(url, path, fields, files):
    line = b"----------------bombs"
    body = b""
    for name, value in fields.items():
        body += b"--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s" \
            b"\r\n" % (line, name.encode(), value.encode())
    for name, file in files.items():
        body += b"--%s\r\nContent-Disposition: form-data; name=\"%s\"; " \
            b"filename=\"x\"\r\nContent-Type: application/octet-stream\r\n\r\n" \
            % (line, name.encode()) + file + b"\r\n"
    body += b"--%s--\r\n" % line
    return call(url, "POST", path, body,
                "multipart/form-data; boundary=" + line.decode())


SMALL = {"prompt": "a circle", "size": "64x64", "num_inference_steps": "2"}
WEB = {"prompt": "a circle", "width": 64, "height": 64, "steps": 2}


def edits(url, file):
    return form(url, "/v1/images/edits", SMALL, {
        "image": file, "mask_image": bombs.tiny("png")})


def edits_mask(url, file):
    return form(url, "/v1/images/edits", SMALL, {
        "image": bombs.tiny("png"), "mask": file})


def edits_white_mask(url, file):
    return form(url, "/v1/images/edits", SMALL, {
        "image": bombs.tiny("png"), "mask_image": file})


def variations(url, file):
    return form(url, "/v1/images/variations",
                {"size": "64x64", "num_inference_steps": "2"}, {"image": file})


def job(url, **files):
    status, body = call(url, "POST", "/v1/jobs", {
        "prompt": "a circle", "size": "64x64", "steps": 2,
        **{name: text_of(x) for name, x in files.items()}})
    if status != 202:
        return status, body
    path = "/v1/jobs/" + json.loads(body)["id"] + "?images=none"

    def ended():
        _, seen = call(url, "GET", path)
        running = json.loads(seen)["status"] in ("queued", "running")
        return None if running else seen

    body = polled(ended, "the job never ended", PATIENCE_S, 0.005)
    now = json.loads(body)
    if now["status"] == "completed":
        return 200, body
    bad = now["error"]["code"] in ("bad_payload", "invalid_argument")
    return 400 if bad else 500, body


def jobs_image(url, file):
    return job(url, image=file)


def jobs_mask(url, file):
    return job(url, image=bombs.tiny("png"), mask=file)


def img2img(url, file):
    return call(url, "POST", "/sdapi/v1/img2img",
                {**WEB, "init_images": [text_of(file)]})


def img2img_masked(url, file):
    return call(url, "POST", "/sdapi/v1/img2img", {
        **WEB, "init_images": [text_of(file)],
        "mask": text_of(bombs.tiny("png"))})


def img2img_mask(url, file):
    return call(url, "POST", "/sdapi/v1/img2img", {
        **WEB, "init_images": [text_of(bombs.tiny("png"))],
        "mask": text_of(file), "inpaint_full_res": False})


def png_info(url, file):
    return call(url, "POST", "/sdapi/v1/png-info", {"image": text_of(file)})


DOORS = (edits, edits_mask, edits_white_mask, variations, jobs_image, jobs_mask,
         img2img, img2img_masked, img2img_mask, png_info)


def status_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    lines = dict(x.split(":", 1) for x in text.splitlines() if ":" in x)
    return {name: 1024 * int(lines[name].split()[0])
            for name in ("VmHWM", "VmRSS", "RssAnon", "RssShmem")}


class Memory:
    """Measures the most memory that processes use from now on, without shared
    memory."""

    def __init__(self, pids):
        self.before = {}
        for pid in pids:
            # This resets the peak.
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
            self.before[pid] = status_of(pid)

    def rise(self):
        """Returns the largest rise of any process, in bytes, and the pid of that
        process."""
        most = 0, 0
        for pid, before in self.before.items():
            now = status_of(pid)
            shared = now["RssShmem"] - before["RssShmem"]
            most = max(most, (now["VmHWM"] - before["VmRSS"] - max(shared, 0),
                              pid))
        return most


# Pixels that decoding may use with a server's default settings. Larger images are
# refused by their header.
MOST_PX = 8192 * 4096


def allowed_rise(pixels):
    promised = pixels if pixels <= MOST_PX else 0
    return 4 * promised + 64 * bombs.MIB
