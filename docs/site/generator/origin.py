"""The address that `git clone <this repository>` stands for: that of the clone which the site is built from, if git knows one."""

import re
import subprocess
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from .render import Rendered

_PLACE = escape("git clone <this repository>")
_LISTING = re.compile(rf'<div class="fragment[^"]*">(?:(?!</div>\n</div>).)*{re.escape(_PLACE)}.*?</div>\n</div>', re.DOTALL)
_UNKNOWN = (
    "<p>Git knew no address of the repository where this site was built. Whoever gave you the site has it; in a clone "
    '<code>git remote get-url origin</code> says it. A <a href="setup.html#setup-without-network">bundle</a> needs none.</p>\n'
)


def fill_in(root: Path, rendered: list[Rendered]) -> None:
    """Puts the address into the listings; where there is none, their words stay, and a paragraph below says who has it."""
    known = address(root)
    for result in rendered:
        for section in result.sections:
            if known:
                section.html = section.html.replace(_PLACE, escape(f"git clone {known}"))
            else:
                section.html = _LISTING.sub(lambda match: f"{match[0]}\n{_UNKNOWN}", section.html)


def address(root: Path) -> str:
    """The address of this clone's origin as it may be shown; nothing if there is none. A clone around `root` has no say in it."""
    command = ["git", f"--git-dir={root / '.git'}", "config", "--local", "--get", "remote.origin.url"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return public(done.stdout.strip()) if done.returncode == 0 else ""


def public(given: str) -> str:
    """
    An http(s) or ssh address without user and password; nothing for any other, such as a path of this machine. The user `git` of an
    ssh address stays: it is the service, nobody's name, and without it no clone is given out.
    """
    if match := re.fullmatch(r"(?:(?P<user>[^@/:]+)(?::[^@/]*)?@)?(?P<rest>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+:[^/:@][^@]*)", given):
        shown = f"{_service(match['user'])}{match['rest']}"  # As scp writes it: host:path.
    else:
        try:
            parts = urlsplit(given)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            return ""
        if parts.scheme not in ("http", "https", "ssh") or not parts.hostname:
            return ""
        user = _service(parts.username) if parts.scheme == "ssh" else ""
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        shown = f"{parts.scheme}://{user}{host}{port}{parts.path}"  # What follows a `?` may be a password, too.
    return shown if re.fullmatch(r"[\w.~/:@%+\[\]-]+", shown, re.ASCII) else ""  # It stands in a line that people paste into a shell.


def _service(user: str | None) -> str:
    return "git@" if user == "git" else ""
