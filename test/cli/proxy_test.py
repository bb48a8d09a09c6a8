# SPDX-License-Identifier: Apache-2.0
"""Uses a server with keys through nginx, which ends TLS as docs/operations.md says.

Usage: proxy_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.parse

from polling import polled
from process_test import PATIENCE_S, REPOSITORY, expect, main
from remote_test import own_certificate
from serve_test import call, end_of, server

KEY = "apple"
PAGE = REPOSITORY / "docs" / "operations.md"

CONFIGURATION = """daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/proxy.pem;
    ssl_certificate_key {folder}/proxy-key.pem;
{location}
  }}
}}
"""


def block_of(language):
    """Returns the page's block of code about proxies in that language."""
    text = PAGE.read_text().split("## Behind a reverse proxy", 1)[1]
    return re.search(f"```{language}\n(.*?)```", text, re.DOTALL)[1]


def nginx_program():
    # Debian's path of users other than root lacks its folder.
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """A client of the proxy."""

    def __init__(self, port, certificate):
        self.port = port
        self.origin = f"https://localhost:{port}"
        self.context = ssl.create_default_context(cafile=certificate)

    def open(self, method, path, body=None, headers=None):
        """Returns a reply whose body is not read."""
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=PATIENCE_S, context=self.context)
        connection.request(method, path, body and json.dumps(body),
                           {"Authorization": f"Bearer {KEY}", **(headers or {})})
        return connection.getresponse()

    def ask(self, method, path, body=None, headers=None):
        reply = self.open(method, path, body, headers)
        return reply.status, reply.read()


@contextlib.contextmanager
def behind_nginx(program, *more):
    """Runs a server with keys behind nginx; yields the proxy and the server's address."""
    keys = program.folder / "keys"
    keys.write_text(f"ann user {hashlib.sha256(KEY.encode()).hexdigest()}\n")
    keys.chmod(0o600)
    (program.folder / "server.toml").write_text(block_of("toml"))
    own_certificate(program, "proxy")
    port = free_port()
    with server(program, "--config", "server.toml", "--set", "http.keys=keys",
                *more) as (process, told):
        location = block_of("nginx").replace("http://127.0.0.1:7860", told["url"])
        expect(told["url"] in location, "another address in the example")
        (program.folder / "nginx.conf").write_text(CONFIGURATION.format(
            port=port, folder=program.folder, location=location))
        nginx = subprocess.Popen(
            [nginx_program(), "-p", str(program.folder), "-c", "nginx.conf",
             "-e", "stderr"],
            stderr=subprocess.PIPE)
        try:
            proxy = Proxy(port, program.folder / "proxy.pem")

            def answers():
                expect(nginx.poll() is None, "nginx ended")
                with contextlib.suppress(OSError):
                    return proxy.ask("GET", "/health")[0] == 200
                return False

            polled(answers, "nginx does not answer", PATIENCE_S, 0.01)
            yield proxy, told["url"]
        finally:
            nginx.terminate()
            nginx.communicate(timeout=PATIENCE_S)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def with_nginx(case):
    """Skips a case where nginx or openssl is absent."""
    def run(program):
        if not nginx_program() or not shutil.which("openssl"):
            print("skipped: nginx or openssl is absent")
            return "skipped"
        return case(program)
    return run


@with_nginx
def case_the_page_and_its_files_come_through(program):
    with behind_nginx(program) as (proxy, _):
        status, page = proxy.ask("GET", "/")
        expect(status == 200 and b"<html" in page, status, page[:200])
        files = set(re.findall(r'(?:src|href)="(/?page/[^"]+)"', page.decode()))
        expect(len(files) >= 2, page[:2000])
        for file in files:
            status, body = proxy.ask("GET", "/" + file.lstrip("/"))
            expect(status == 200 and body, file, status)
        # The page's own calls are of its origin, and those of others are not.
        job = {"prompt": "a", "size": "64x64"}
        status, body = proxy.ask("POST", "/v1/jobs", job, {"Origin": proxy.origin})
        expect(status == 202, status, body)
        status, body = proxy.ask("POST", "/v1/jobs", job,
                                 {"Origin": "https://localhost"})
        expect(status == 403, status, body)
        expect(json.loads(body)["error"]["code"] == "forbidden_origin", body)


@with_nginx
def case_the_address_of_an_image_leads_through_the_proxy(program):
    with behind_nginx(program) as (proxy, _):
        status, body = proxy.ask("POST", "/v1/images/generations", {
            "prompt": "a", "size": "64x64", "response_format": "url"})
        expect(status == 200, status, body)
        url = json.loads(body)["data"][0]["url"]
        expect(url.startswith(proxy.origin + "/"), url)
        # Whoever has the address needs no key.
        status, image = proxy.ask("GET", urllib.parse.urlsplit(url).path,
                                  headers={"Authorization": ""})
        expect(status == 200 and image.startswith(b"\x89PNG"), status, image[:20])


@with_nginx
def case_events_arrive_as_they_happen(program):
    # Few and slow steps: nginx sends what it keeps once it is 1,460 bytes.
    slow = ("devices=[{name='cpu:0',executor='test_card',test_card_step_ms=4000,"
            "variants=['test_card@3']}]")
    with behind_nginx(program, "--set", slow) as (proxy, url):
        expect(call(url, "GET", "/v1/jobs")[0] == 401)
        status, body = proxy.ask("POST", "/v1/jobs", {
            "prompt": "a", "size": "64x64"})
        expect(status == 202, status, body)
        job = "/v1/jobs/" + json.loads(body)["id"]
        events = proxy.open("GET", job + "/events")
        expect(events.status == 200, events.status)
        expect(events.readline().startswith(b"event: status"))
        # The job can still be cancelled: its events were not kept until its end.
        status, body = proxy.ask("POST", job + "/cancel")
        expect(status == 200, status, body)
        rest = events.read()
        expect(b"event: cancelled" in rest, rest[-500:])


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_proxy", all_cases()))
