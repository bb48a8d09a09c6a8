# SPDX-License-Identifier: Apache-2.0
"""What attackers and honest keys send to the server of attackers.py.

Each function makes one attempt, with the server's address, a key and a source of random
numbers. The text of an attack names the bound that it tries, one of those that
docs/security.md lists.
"""
import base64
import hashlib
import http.client
import json
import pathlib
import socket
import time
import urllib.parse

from soak_cases import png

KEYS = {"honest": "user", "first": "user", "second": "user", "third": "user",
        "fourth": "user", "fifth": "user", "operator": "admin"}


def secret(name):
    return hashlib.sha256(f"a key of {name}".encode()).hexdigest()


def write_keys(folder, share=1):
    """Writes the file of keys. The client's key has `share` parts of the devices where
    each other key has one."""
    def line(name, role):
        more = f" share={share}" if name == "honest" and share != 1 else ""
        return f"{name} {role} {hashlib.sha256(secret(name).encode()).hexdigest()}{more}\n"

    path = pathlib.Path(folder) / "keys"
    path.write_text("".join(line(*x) for x in KEYS.items()), encoding="ascii")
    path.chmod(0o600)
    return path


def call(url, key, method, path, body=None, patience=120):
    """Returns the status and the bytes of a reply."""
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=patience)
    headers = {"X-API-Key": secret(key)} if key else {}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        c.request(method, path, body, headers)
        reply = c.getresponse()
        return reply.status, reply.read()
    finally:
        c.close()


def connected(url):
    at = urllib.parse.urlsplit(url)
    return socket.create_connection((at.hostname, at.port), timeout=30)


def head_of(url, method, path, *lines):
    host = urllib.parse.urlsplit(url).netloc
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "",
                        ""]).encode()


# Attackers without a key.

def invented_methods(url, _, chance):
    """Methods that metrics do not know (http.header_kib)."""
    with connected(url) as s:
        for _ in range(20):
            word = "M" + "".join(chance.choices("ABCDEFGH", k=2000))
            s.sendall(head_of(url, word, "/health"))
            if not s.recv(4096):
                return


def bodies_of_readers(url, _, chance):
    """GETs with a large body that never ends (http.bodies_mib, http.read_ms)."""
    with connected(url) as s:
        s.sendall(head_of(url, "GET", chance.choice(("/health", "/", "/v1")),
                          "Content-Length: 67108864"))
        for _ in range(64):
            s.sendall(b"x" * 65536)
        s.recv(4096)


def half_heads(url, _, __):
    """Connections that stay in the middle of a request (http.connections_of_peer)."""
    held = [connected(url) for _ in range(50)]
    for s in held:
        s.sendall(b"GET /health HTTP/1.1\r\nHo")
    time.sleep(2)
    for s in held:
        s.close()


def wrong_keys(url, _, chance):
    """Guessed keys (30 a minute for each address)."""
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=30)
    for _ in range(100):
        c.request("GET", "/v1/models",
                  headers={"X-API-Key": f"{chance.random()}"})
        c.getresponse().read()
    c.close()


def broken_connections(url, _, __):
    """Requests whose replies are not awaited (http.connections)."""
    for _ in range(100):
        s = connected(url)
        s.sendall(head_of(url, "GET", "/openapi.json"))
        s.close()


# Attackers with a key.

def large_json(url, key, chance):
    """Bodies that take long to parse and are then refused, or echoed
    (http.body_mib, http.bodies_mib)."""
    call(url, key, "POST", "/v1/images/generations",
         b'{"prompt":"a","seed":' + b"1" * 30_000_000 + b"}")
    call(url, key, "POST", "/sdapi/v1/txt2img",
         {"prompt": "a", "steps": 1, "width": 64, "height": 64,
          chance.choice(("junk", "script_name")): "x" * 20_000_000})


def pasted_images(url, key, _):
    """A small repaint of a large image, many times (http.answer_mpx)."""
    call(url, key, "POST", "/sdapi/v1/img2img",
         {"prompt": "a red circle", "init_images": [LARGE], "mask": MASK,
          "width": 64, "height": 64, "steps": 1, "batch_size": 32,
          "inpaint_full_res": True, "denoising_strength": 1})


def unread_replies(url, key, _):
    """Large replies that are never read (http.replies_mib)."""
    status, got = call(url, key, "POST", "/v1/jobs",
                       {"prompt": "a red circle", "n": 16, "steps": 1,
                        "size": "256x256"})
    if status != 202:
        return
    name = json.loads(got)["id"]
    held = []
    for _ in range(40):
        s = connected(url)
        s.sendall(head_of(url, "GET", f"/v1/jobs/{name}",
                          f"X-API-Key: {secret(key)}"))
        held.append(s)
    time.sleep(3)
    for s in held:
        s.close()


def much_queued(url, key, _):
    """An hour of work of the highest priority, kept in the queue (limits.queue_s)."""
    for _ in range(40):
        status, _ = call(url, key, "POST", "/v1/jobs",
                         {"prompt": "a blue square", "n": 64,
                          "priority": "high"})
        if status != 202:
            time.sleep(1)
            return


def cancelled_jobs(url, key, chance):
    """Jobs that are cancelled at once, with listeners (http.jobs, limits.request_mib)."""
    for _ in range(50):
        status, got = call(url, key, "POST", "/v1/jobs",
                           {"prompt": "x" * 60_000 + str(chance.random()),
                            "n": 4})
        if status == 202:
            name = json.loads(got)["id"]
            with connected(url) as s:
                s.sendall(head_of(url, "HEAD", f"/v1/jobs/{name}/events",
                                  f"X-API-Key: {secret(key)}"))
                s.recv(1024)
            call(url, key, "DELETE", f"/v1/jobs/{name}")


LARGE = png(768, lambda x, y: (x * y % 251, (x ^ y) % 256, (x + 7 * y) % 256))
MASK = png(768, lambda x, y: (255, 255, 255) if x < 32 and y < 32 else (0, 0, 0))

# Honest keys: they use the client's model, and come later when asked to.

# The field that names the model; attackers.py fills it.
MODEL = {}


def ask(url, key, method, path, body=None):
    """Returns the bytes of a reply, or None if the server asks to come later."""
    status, got = call(url, key, method, path, body)
    if status == 429:
        time.sleep(1)
        return None
    assert status in (200, 202), (path, status, got[:200])
    return got


def hour_of_work(url, key, _):
    """Jobs until the queue takes no more, and again once it does."""
    while ask(url, key, "POST", "/v1/jobs",
              {"prompt": "a blue square", "n": 64, **MODEL}):
        pass


def fetched_results(url, key, _):
    """A finished job, whose images are fetched again and again."""
    got = ask(url, key, "POST", "/v1/jobs",
              {"prompt": "a red circle", "n": 4, **MODEL})
    if not got:
        return
    name = json.loads(got)["id"]
    # The stream ends with the job.
    ask(url, key, "GET", f"/v1/jobs/{name}/events?images=url")
    for number in range(200):
        ask(url, key, "GET", f"/v1/jobs/{name}/images/{number % 4}")
        ask(url, key, "GET", f"/v1/jobs/{name}")


def masked_edits(url, key, chance):
    settings = {"override_settings": {"sd_model_checkpoint": MODEL["model"]}} \
        if MODEL else {}
    ask(url, key, "POST", "/sdapi/v1/img2img",
        {"prompt": "a red circle", "init_images": [SMALL], "mask": SMALL_MASK,
         "width": 128, "height": 128, "seed": chance.randrange(1 << 31),
         **settings})


SMALL = png(128, lambda x, y: (x * y % 251, (x ^ y) % 256, (x + 7 * y) % 256))
SMALL_MASK = png(128, lambda x, y: (255, 255, 255) if x < 64 else (0, 0, 0))

HONEST = [(hour_of_work, "first"), (fetched_results, "second"),
          (masked_edits, "third")]

ATTACKS = [(invented_methods, None), (bodies_of_readers, None),
           (half_heads, None), (wrong_keys, None), (broken_connections, None),
           (large_json, "first"), (pasted_images, "second"),
           (unread_replies, "third"), (much_queued, "fourth"),
           (cancelled_jobs, "fifth")]
