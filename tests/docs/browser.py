"""A headless Chromium, spoken to over two pipes in the DevTools protocol."""

import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any


class BrowserError(Exception):
    """The browser did not do what it was asked, or did not answer in time."""


class Browser:
    """One browser with one page. Use it in a `with` statement."""

    def __init__(self, program: Path, timeout: float = 30) -> None:
        self._program = program
        self._timeout = timeout
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> "Browser":
        self._profile = tempfile.TemporaryDirectory()
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        command = [
            str(self._program),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--hide-scrollbars", f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe"),
        ]

        def place_pipes() -> None:
            # Copies first, so that neither overwrites the other where the numbers are 3 and 4 already.
            reading, writing = os.dup(to_child), os.dup(from_child)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=place_pipes,
            start_new_session=True,
        )
        os.close(to_child)
        os.close(from_child)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(self._timeout)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        time.sleep(0.1)  # Its helpers let go of the profile.
        self._profile._ignore_cleanup_errors = True  # type: ignore[attr-defined]
        self._profile.cleanup()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Sends a command and returns its result; events that come in between are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda m: m.get("id") == self._number, method)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _until(self, wanted, what: str) -> dict[str, Any]:
        end = time.monotonic() + self._timeout
        while True:
            while b"\0" in self._buffer:
                text, _, self._buffer = self._buffer.partition(b"\0")
                message = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    return message
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise BrowserError(f"no answer to {what} within {self._timeout} seconds")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise BrowserError(f"the browser ended during {what}")
            self._buffer += chunk

    def shape(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Sets the size of the window and what the system prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> list[str]:
        """Loads a page; returns what went wrong: errors on the console, and requests to another place."""
        self.events.clear()
        result = self.call("Page.navigate", url=address)
        if result.get("errorText"):
            return [f"{address}: {result['errorText']}"]
        if not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self._until(lambda m: m.get("method") == "Page.loadEventFired", address)
        return self.problems()

    def problems(self) -> list[str]:
        """What went wrong since the page was opened."""
        found = []
        for event in self.events:
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in (
                "error",
                "warning",
                "assert",
            ):
                said = [str(a.get("value", a.get("description", ""))) for a in parameters["args"]]
                found.append(f"console: {' '.join(said)}")
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            elif method == "Network.requestWillBeSent":
                address = parameters["request"]["url"]
                if not address.startswith(("file:", "data:", "blob:", "http://127.0.0.1:")):
                    found.append(f"request to another host: {address}")
        return found

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key where the focus is."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self, file: Path, *, whole: bool = True) -> None:
        """Writes a PNG of the page."""
        import base64

        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")["data"]
        file.write_bytes(base64.b64decode(data))
