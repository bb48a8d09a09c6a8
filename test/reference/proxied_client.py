# SPDX-License-Identifier: Apache-2.0
"""Runs the package openai, unmodified, against a server with keys behind nginx, which ends
TLS as docs/operations.md says.

Arguments: the program atelier, and the environment of the package. Skips itself (77) if
the package, nginx or openssl is missing.
"""
import io
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request

import served

served.needs(sys.argv[2], "openai", "PIL")

import openai
from PIL import Image
from process_test import PATIENCE_S, Program
from proxy_test import KEY, behind_nginx, nginx_program


def check(fine, *what):
    if not fine:
        sys.exit(f"proxied_client: {what}")


def file_of(size, colour):
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def through(proxy, url):
    """Returns what the address leads to, without a key and without following anything
    but the proxy's certificate."""
    check(url.startswith(proxy.origin + "/"), "not an address of the proxy", url)
    with urllib.request.urlopen(url, timeout=PATIENCE_S,
                                context=proxy.context) as reply:
        kind, image = reply.headers["Content-Type"], reply.read()
    check(kind == "image/png", "type", kind)
    return Image.open(io.BytesIO(image))


def addresses_lead_through(proxy, client):
    """Every image of a reply by URL is where the URL says, for whoever has it."""
    drawn = client.images.generate(prompt="a red circle", n=2, size="64x64",
                                   response_format="url", extra_body={"seed": 1})
    edited = client.images.edit(image=file_of((64, 64), (200, 30, 30)),
                                prompt="a blue square", response_format="url")
    check(len(drawn.data) == 2 and len(edited.data) == 1, drawn, edited)
    urls = [x.url for x in [*drawn.data, *edited.data]]
    check(len(set(urls)) == 3, "one address for two images", urls)
    images = [through(proxy, x) for x in urls]
    check(all(x.size == (64, 64) for x in images), [x.size for x in images])
    check(images[0].tobytes() != images[1].tobytes(), "two seeds draw the same")
    try:
        through(proxy, urls[0][:-1] + ("a" if urls[0][-1] != "a" else "b"))
        check(False, "another address leads to an image too")
    except urllib.error.HTTPError as refused:
        check(refused.code in (400, 403, 404), refused.code)


def keys_count(proxy):
    stranger = openai.OpenAI(base_url=proxy.origin + "/v1", api_key="pear",
                             max_retries=0)
    try:
        stranger.images.generate(prompt="a", size="64x64")
        check(False, "a wrong key draws")
    except openai.AuthenticationError:
        pass


def main():
    if not nginx_program() or not shutil.which("openssl"):
        print("skipped: nginx or openssl is absent")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="proxied-") as folder:
        with behind_nginx(Program(os.path.abspath(sys.argv[1]), folder)) \
                as (proxy, _):
            # As a user has the client trust a certificate of their own.
            os.environ["SSL_CERT_FILE"] = os.path.join(folder, "proxy.pem")
            client = openai.OpenAI(base_url=proxy.origin + "/v1", api_key=KEY,
                                   max_retries=0, timeout=PATIENCE_S)
            addresses_lead_through(proxy, client)
            keys_count(proxy)


if __name__ == "__main__":
    main()
