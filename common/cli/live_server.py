"""Serves the site to this machine, and lets its listings and exercises be edited: what a page sends is compiled here, and
runs in the page or is judged here.

Only pages that this server gave out may ask: each has a token in it, another page cannot read it, and a request under another
name than this machine's own is refused, so that no foreign page gets at the compiler by way of a name.
"""

import functools
import http.server
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import live_compile
from .errors import UserError

COMPILE, OPEN, CHECK, SAVE = "/compile", "/exercise", "/check", "/save"
_EDITORS = ("edit", "exercise")


@dataclass(frozen=True)
class Service:
    """What a page may ask for: `answer` gets a request's JSON and gives the answer's."""

    answer: Callable[[Any], dict[str, Any]]
    alone: bool = False
    """It takes the machine's processors: one such request at a time."""


Services = Mapping[str, Service]
"""By the path that is asked."""


def server(directory: Path, port: int, services: Services | None = None) -> http.server.ThreadingHTTPServer:
    """One for this machine alone. With `services` listings and exercises can be edited."""
    token = secrets.token_urlsafe(24)
    handler = functools.partial(_Handler, directory=str(directory), token=token, services=services or {}, busy=threading.Lock())
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words: Any, token: str, services: Services, busy: threading.Lock, **named: Any) -> None:
        self._token, self._services, self._busy = token, services, busy
        super().__init__(*words, **named)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the reader has a browser to look at."""

    def do_GET(self) -> None:
        if not self._services:
            return super().do_GET()
        if not self._is_own_host():
            return self._answer(403, {"refused": "this site is for this machine alone"})
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() and self.path.endswith("/") else path
        if path.suffix != ".html" or not path.is_file():
            return super().do_GET()
        scripts = "".join(f'<script src="live/{name}.js" defer></script>\n' for name in _EDITORS)
        more = f'<meta name="hopper-compile" content="{self._token}"/>\n<link href="live/exercise.css" rel="stylesheet"/>\n{scripts}</body>'
        text = path.read_text("utf-8").replace("</body>", more, 1)
        self._send(200, "text/html; charset=utf-8", text.encode())

    def do_POST(self) -> None:
        service = self._services.get(urlsplit(self.path).path)
        if service is None:
            return self._answer(404, {"refused": "there is nothing to send to"})
        given = self.headers.get("X-Workbook-Token", "")
        if not self._is_own_host() or not secrets.compare_digest(given.encode(), self._token.encode()):
            return self._answer(403, {"refused": "this page is not from this server: load it again"})
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > live_compile.MOST_BYTES:
            return self._answer(413, {"refused": f"more than {live_compile.MOST_BYTES // 1024} KiB are not taken"})
        if service.alone and not self._busy.acquire(blocking=False):
            return self._answer(429, {"refused": "something is being compiled already"})
        try:
            self._answer(200, service.answer(json.loads(self.rfile.read(int(length)))))
        except (UserError, ValueError) as error:
            self._answer(400, {"refused": str(error)})
        finally:
            if service.alone:
                self._busy.release()

    def _is_own_host(self) -> bool:
        port = self.server.server_address[1]
        return self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        self.close_connection = True  # What was sent and not read is not the next request.
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)
