"""The server of the site on one's own machine: who may have something compiled, judged or saved, and what becomes of it."""

import http.client
import json
import tempfile
import threading
import unittest
from pathlib import Path

from cli import live_compile, live_exercise, live_server
from cli.errors import UserError
from cli.learner import Learner
from cli.records import Book, Record
from cli.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]


class Server(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        Path(directory.name, "index.html").write_text("<html><body>Text</body></html>", "utf-8")
        Path(directory.name, "other.txt").write_text("plain", "utf-8")
        self.asked: list[object] = []
        self.start(Path(directory.name), {"/compile": live_server.Service(self.compile, alone=True), "/open": live_server.Service(self.compile)})

    def start(self, directory: Path, services: live_server.Services | None) -> None:
        self.directory = directory
        server = live_server.server(directory, 0, services)
        self.port = server.server_address[1]
        self.assertEqual(server.server_address[0], "127.0.0.1")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def compile(self, request: object) -> dict[str, object]:
        self.asked.append(request)
        if request == "wrong":
            raise UserError("no such file")
        return {"ptx": "text"}

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, body or None, {name.replace("_", "-"): text for name, text in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def token(self) -> str:
        return self.ask("GET", "/")[1].split('name="hopper-compile" content="')[1].split('"')[0]

    def test_a_page_has_the_token_and_the_file_has_not(self) -> None:
        self.assertGreaterEqual(len(self.token()), 24)
        self.assertEqual(self.token(), self.token())
        self.assertNotIn("hopper-compile", (self.directory / "index.html").read_text("utf-8"))
        self.assertEqual(self.ask("GET", "/other.txt"), (200, "plain"))

    def test_what_a_page_of_this_server_sends_is_compiled(self) -> None:
        status, text = self.ask("POST", "/compile", b'{"a": 1}', X_Workbook_Token=self.token())
        self.assertEqual((status, json.loads(text)), (200, {"ptx": "text"}))
        self.assertEqual(self.asked, [{"a": 1}])

    def test_one_thing_is_compiled_at_a_time_and_the_rest_goes_on(self) -> None:
        begun, end = threading.Event(), threading.Event()

        def slow(_: object) -> dict[str, object]:
            begun.set()
            end.wait(10)
            return {}

        self.start(self.directory, {"/slow": live_server.Service(slow, alone=True), "/open": live_server.Service(self.compile)})
        token = self.token()
        first = threading.Thread(target=self.ask, args=("POST", "/slow", b"1"), kwargs={"X_Workbook_Token": token})
        first.start()
        self.addCleanup(first.join)
        self.addCleanup(end.set)
        self.assertTrue(begun.wait(10))
        self.assertEqual(self.ask("POST", "/slow", b"2", X_Workbook_Token=token)[0], 429)
        self.assertEqual(self.ask("POST", "/open", b"3", X_Workbook_Token=token)[0], 200)

    def test_nobody_else_gets_at_the_compiler(self) -> None:
        token = self.token()
        self.assertEqual(self.ask("POST", "/compile", b"{}")[0], 403)
        self.assertEqual(self.ask("POST", "/compile", b"{}", X_Workbook_Token="x" + token)[0], 403)
        self.assertEqual(self.ask("POST", "/compile", b"{}", X_Workbook_Token=token, Host="example.org")[0], 403)
        self.assertEqual(self.ask("GET", "/", Host="example.org")[0], 403)
        self.assertEqual(self.ask("POST", "/open", b"{}")[0], 403)
        self.assertEqual(self.ask("POST", "/other", b"{}", X_Workbook_Token=token)[0], 404)
        self.assertEqual(self.asked, [])

    def test_what_is_too_large_or_no_request_is_one_clear_line(self) -> None:
        token = self.token()
        status, text = self.ask("POST", "/compile", b"x" * (live_compile.MOST_BYTES + 1), X_Workbook_Token=token)
        self.assertEqual((status, json.loads(text)["refused"]), (413, "more than 256 KiB are not taken"))
        self.assertEqual(self.ask("POST", "/compile", b"{", X_Workbook_Token=token)[0], 400)
        self.assertEqual(json.loads(self.ask("POST", "/compile", b'"wrong"', X_Workbook_Token=token)[1]), {"refused": "no such file"})

    def test_without_a_compiler_pages_are_as_they_are(self) -> None:
        self.start(self.directory, None)
        self.assertEqual(self.ask("GET", "/"), (200, "<html><body>Text</body></html>"))
        self.assertEqual(self.ask("POST", "/compile", b"{}")[0], 404)


class Compile(unittest.TestCase):
    def test_errors_have_their_lines(self) -> None:
        said = """chapters/01_a/a.cuh(12): error: identifier "x" is undefined
      x = 1;
chapters/01_a/a.cuh(12): error: identifier "x" is undefined
chapters/01_a/a.cuh(14): warning #177-D: unused
common/include/workbook/launch.hpp(3): fatal error: no such thing
2 errors detected"""
        self.assertEqual(
            [(each["file"], each["line"], each["text"]) for each in live_compile.messages(said)],
            [("chapters/01_a/a.cuh", 12, 'identifier "x" is undefined'), ("common/include/workbook/launch.hpp", 3, "no such thing")],
        )

    def test_only_files_of_a_chapters_program_are_compiled(self) -> None:
        workspace = Workspace(ROOT, ROOT / "build")
        self.assertEqual(live_compile.chapter_of(workspace, "chapters/05_tma_1d/tma_1d.cuh").name, "tma_1d")
        for name in ("../x.cuh", "chapters/05_tma_1d/../../x.cu", "common/include/workbook/launch.hpp", "/etc/passwd", "", "chapters/05_tma_1d"):
            with self.subTest(name), self.assertRaisesRegex(UserError, "no file of a chapter"):
                live_compile.chapter_of(workspace, name)

    def test_a_request_needs_a_file_and_a_text(self) -> None:
        for request in (None, [], {}, {"file": "x"}, {"file": "x", "source": 1}):
            with self.subTest(request), self.assertRaisesRegex(UserError, "expected the name of a file"):
                live_compile.compiled(Workspace(ROOT, ROOT / "build"), Path("/nvcc"), request)


class Exercise(unittest.TestCase):
    """What needs no compiler: which exercise is meant, and the learner's file."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.learner = Learner(Workspace(ROOT, ROOT / "build"))
        self.learner.desk.directory = Path(directory.name)
        self.learner.desk.book = Book(Path(directory.name) / "progress.toml")
        self.file = Path(directory.name) / "reverse_tile.cu"

    def save(self, text: str) -> dict[str, object]:
        return live_exercise.saved(self.learner, {"exercise": "reverse_tile", "source": text})

    def test_only_exercises_are_opened_and_saved(self) -> None:
        for name in ("../reverse_tile", "reverse_tile.cu", "", None, 3):
            for ask in (live_exercise.opened, live_exercise.saved):
                with self.subTest(name=name, ask=ask), self.assertRaisesRegex(UserError, "expected the name of an exercise"):
                    ask(self.learner, {"exercise": name, "source": "x"})
        with self.assertRaisesRegex(UserError, "expected the text"):
            live_exercise.saved(self.learner, {"exercise": "reverse_tile"})
        self.assertEqual(list(self.file.parent.iterdir()), [])

    def test_a_saved_text_replaces_none_that_is_not_kept(self) -> None:
        self.assertIsNone(live_exercise.opened(self.learner, {"exercise": "reverse_tile"})["mine"])
        self.assertIsNone(self.save("first")["backup"])
        self.assertIsNone(self.save("first\n")["backup"])
        for number, text in ((1, "second"), (2, "third")):
            self.assertTrue(str(self.save(text)["backup"]).endswith(f"backups/reverse_tile.{number}.cu"))
        self.assertEqual(live_exercise.opened(self.learner, {"exercise": "reverse_tile"})["mine"], "third\n")
        kept = [(self.file.parent / f"backups/reverse_tile.{number}.cu").read_text("utf-8") for number in (1, 2)]
        self.assertEqual(kept, ["first\n", "second\n"])

    def test_a_saved_text_changes_no_progress(self) -> None:
        exercise = self.learner.chosen("reverse_tile")
        self.learner.desk.note(exercise, lambda record: setattr(record, "checks", 3))
        self.save("first")
        record = self.learner.desk.record(exercise)
        self.assertEqual((record.checks, record.solved), (3, Record().solved))

    def test_where_it_cannot_be_written_the_file_is_as_it_was(self) -> None:
        self.save("first")
        (self.file.parent / "backups").write_text("in the way", "utf-8")
        with self.assertRaisesRegex(UserError, "cannot keep a copy"):
            self.save("second")
        self.assertEqual(self.file.read_text("utf-8"), "first\n")


if __name__ == "__main__":
    unittest.main()
