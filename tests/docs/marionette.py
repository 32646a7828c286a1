"""A headless Firefox, spoken to in its own protocol, Marionette: JSON with its length before it, over a socket.

It has what browser.Browser has of opening, asking and pressing, so that the same test can be run in both.
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from browser import BrowserError

PREFERENCES = {
    "marionette.port": 0,  # Any that is free; Firefox writes which.
    "app.update.auto": False,
    "app.normandy.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.tabs.remote.autostart": True,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.prefetch-next": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "",
}
"""Nothing is asked of any server, and nothing stands before the page."""

KEYS = {
    "ArrowDown": "\ue015",
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "ArrowUp": "\ue013",
    "End": "\ue010",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Home": "\ue011",
    "Tab": "\ue004",
}
"""As WebDriver writes them ('Keyboard actions')."""

ASKED = """
const [expression, done] = arguments;
Promise.resolve().then(() => (0, eval)(expression)).then(value => done({ value }), error => done({ error: `${error}\\n${error?.stack}` }));
"""

MESSAGES = """
const said = [];
for (const each of Services.console.getMessageArray()) {
    if (each instanceof Ci.nsIScriptError && (each.sourceName.startsWith('file:') || each.sourceName.startsWith('http:')))
        said.push(each.toString());
}
Services.console.reset();
return said;
"""
"""What the browser has noted of a page's own scripts since it was asked last."""


class Firefox:
    """One browser with one page. Use it in a `with` statement."""

    def __init__(self, program: Path, timeout: float = 60) -> None:
        self._program = program
        self._timeout = timeout
        self._number = 0
        self._buffer = b""

    def __enter__(self) -> "Firefox":
        self._profile = Path(tempfile.mkdtemp())
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (self._profile / "user.js").write_text("".join(lines), "utf-8")
        self._process = subprocess.Popen(
            [str(self._program), "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", str(self._profile)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._socket = socket.create_connection(("127.0.0.1", self._port()), self._timeout)
            self._read()  # It says what it is.
            wanted = {"alwaysMatch": {"pageLoadStrategy": "normal", "timeouts": {"script": int(1000 * self._timeout)}}}
            self.call("WebDriver:NewSession", capabilities=wanted)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
            self._process.wait(self._timeout)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            pass
        self._socket.close()
        self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _port(self) -> int:
        file = self._profile / "MarionetteActivePort"
        end = time.monotonic() + self._timeout
        while time.monotonic() < end and self._process.poll() is None:
            if file.is_file() and (text := file.read_text("ascii")):
                return int(text)
            time.sleep(0.05)
        raise BrowserError(f"Firefox did not say within {self._timeout} seconds where it listens")

    def _read(self) -> Any:
        while b":" not in self._buffer:
            self._receive()
        length, _, rest = self._buffer.partition(b":")
        self._buffer = rest
        while len(self._buffer) < int(length):
            self._receive()
        text, self._buffer = self._buffer[: int(length)], self._buffer[int(length) :]
        return json.loads(text)

    def _receive(self) -> None:
        chunk = self._socket.recv(1 << 20)
        if not chunk:
            raise BrowserError("Firefox ended")
        self._buffer += chunk

    def call(self, command: str, **parameters: object) -> Any:
        """Sends a command and returns its result."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters])
        self._socket.sendall(f"{len(text)}:{text}".encode("ascii"))
        _, _, error, result = self._read()
        if error:
            raise BrowserError(f"{command}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def shape(self, width: int, height: int = 900) -> None:
        """Sets the size of the window; what the page gets of it is as wide."""
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def open(self, address: str) -> list[str]:
        """Loads a page; returns what went wrong."""
        self.problems()
        self.call("WebDriver:Navigate", url=address)
        return self.problems()

    def problems(self) -> list[str]:
        """Errors and warnings of the page's scripts since it was asked last; what they write to the console is not among them."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            found = self.call("WebDriver:ExecuteScript", script=MESSAGES, args=[])
        finally:
            self.call("Marionette:SetContext", value="content")
        return list(found)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("WebDriver:ExecuteAsyncScript", script=ASKED, args=[expression], sandbox=None, newSandbox=False)
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer.get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key where the focus is."""
        value = KEYS.get(key, key)
        keys = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": keys}])

    def screenshot(self, file: Path) -> None:
        """Writes a PNG of what the window shows."""
        file.write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)))
