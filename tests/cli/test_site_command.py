"""The command that builds and serves the site, as far as it needs no tools."""

import base64
import io
import os
import socket
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from cli import build, live_emulator, main, setup
from cli.commands import site
from cli.errors import USAGE, UserError
from cli.requirements import Found
from cli.workspace import Workspace


ROOT = Path(__file__).resolve().parents[2]


class Site(unittest.TestCase):
    def test_port_that_is_none_is_a_usage_error(self) -> None:
        for word in ("abc", "65536", "-1", "80x"):
            with self.subTest(word), self.assertRaises(SystemExit) as caught, mock.patch("sys.stderr"):
                main.parse(["site", f"--serve={word}"])
            self.assertEqual(caught.exception.code, USAGE)

    def test_serve_has_a_default_port(self) -> None:
        self.assertIsNone(main.parse(["site"]).serve)
        self.assertEqual(main.parse(["site", "--serve"]).serve, site.DEFAULT_PORT)
        self.assertEqual(main.parse(["site", "--serve", "0"]).serve, 0)

    def test_port_in_use_is_one_clear_line(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with self.assertRaisesRegex(UserError, f"cannot serve on port {port} .*--serve PORT"):
                site.serve(Path("."), port, opened=False)

    def test_generator_is_called_with_the_tools_that_were_found(self) -> None:
        found = {key: Found("1", Path(f"/x/{key}")) for key in ("doxygen", "doxygen-theme", "markdown")}
        words = site.command(Workspace(Path("/r"), Path("/b")), setup.Tools(found), Path("/o"))
        self.assertIn("/r/docs/site/build.py", words)
        for option, value in (
            ("--doxygen", "doxygen"),
            ("--theme", "doxygen-theme"),
            ("--markdown", "markdown"),
        ):
            self.assertEqual(words[words.index(option) + 1], f"/x/{value}")

    def test_scripts_go_along_and_the_module_where_it_could_be_compiled(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            html = Path(directory)
            (html / "module").write_bytes(b"\0asm")
            with mock.patch.object(live_emulator, "_build", return_value=html / "module"):
                live_emulator.add(Workspace(ROOT, html), html)
            self.assertEqual((html / "live/emulator.wasm").read_bytes(), b"\0asm")
            self.assertIn(base64.b64encode(b"\0asm").decode(), (html / "live/emulator_wasm.js").read_text("ascii"))
            self.assertTrue((html / "live/emulator_worker.js").is_file())

    def test_missing_compiler_is_one_line_and_no_failure(self) -> None:
        with tempfile.TemporaryDirectory() as directory, mock.patch("sys.stderr", io.StringIO()) as said:
            missing = UserError("missing: Emscripten")
            with mock.patch.object(live_emulator, "_build", side_effect=missing):
                live_emulator.add(Workspace(ROOT, Path(directory)), Path(directory))
            self.assertEqual(said.getvalue(), "site: its pages run no kernels: missing: Emscripten\n")
            self.assertFalse((Path(directory) / "live/emulator.wasm").exists())

    def test_nothing_is_built_where_the_caller_vouches_for_the_build(self) -> None:
        with (
            mock.patch.dict(os.environ, {"WORKBOOK_BUILT": "1"}),
            mock.patch.object(build, "streaming", side_effect=AssertionError("ninja was started")),
        ):
            build.build(Workspace(Path("/r"), Path("/b")), setup.Tools({}))


if __name__ == "__main__":
    unittest.main()
