"""What a confined program can do, by each way of confinement that this machine has."""

import os
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from cli import confine
from cli.confine import Cage, Method
from cli.errors import UserError


class Confined(unittest.TestCase):
    """Run for each method by the classes below."""

    method: Method

    @classmethod
    def setUpClass(cls) -> None:
        if (reason := confine._problem(Cage(cls.method))) is not None:
            raise unittest.SkipTest(f"{cls.method.value}: {reason}")

    def setUp(self) -> None:
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="confined "))).resolve()
        self.place = self.home / "place"
        self.place.mkdir()

    def run_shell(self, script: str, *readable: Path, **env: str) -> "subprocess.CompletedProcess[str]":
        cage = Cage(self.method)
        command = cage.command(["sh", "-c", script], self.place, readable=readable, writable=[self.place])
        return subprocess.run(
            command,
            env=cage.environment({**os.environ, **env}),
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def test_it_reads_what_it_is_given_and_nothing_else(self) -> None:
        mine, other = self.home / "mine", self.home / "other"
        for file in (mine, other):
            file.write_text(file.name, "utf-8")
        done = self.run_shell(f"cat '{mine}'; cat '{other}' || echo none; ls '{self.home}'", mine)
        self.assertEqual(done.stdout.split(), ["minenone", "mine", "place"], done.stderr)
        self.assertEqual(self.run_shell("cat /etc/passwd; ls /root /home /var").stdout, "")

    def test_it_writes_to_its_own_directory_and_nowhere_else(self) -> None:
        given = self.home / "given"
        given.write_text("", "utf-8")
        home = Path.home()
        done = self.run_shell(
            f"echo a > kept; for f in '{given}' '{home}/escaped' /escaped /usr/escaped; do "
            f"(echo x > $f) && echo $f; done; rm -f '{given}'; echo x > '{self.home}/new'; exit 0",
            given,
        )
        self.assertEqual(done.stdout, "")
        self.assertEqual((self.place / "kept").read_text("utf-8"), "a\n")
        self.assertEqual(given.read_text("utf-8"), "")
        self.assertEqual(sorted(os.listdir(self.home)), ["given", "place"])

    def test_its_temporary_files_vanish(self) -> None:
        done = self.run_shell('echo x > "$TMPDIR/left_by_a_test" && ls /tmp/left_by_a_test; echo y > /dev/null && echo $HOME')
        self.assertEqual(done.stdout.split(), ["/tmp/left_by_a_test", "/tmp"], done.stderr)
        self.assertFalse(Path("/tmp/left_by_a_test").exists())

    def test_there_is_no_network(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
            python = "/usr/bin/python3"
            if not Path(python).exists():
                self.skipTest("needs the system's Python")
            outside = subprocess.run([python, "-c", code], capture_output=True, timeout=60)
            self.assertEqual(outside.returncode, 0, outside.stderr)
            done = self.run_shell(f'{python} -c "{code}"')
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "unreachable|refused")

    def test_it_sees_no_other_process_and_has_no_rights(self) -> None:
        done = self.run_shell("ls /proc | grep -c '^[0-9]'; id -u; grep CapEff /proc/self/status")
        number, user, *_, rights = done.stdout.split()
        self.assertLess(int(number), 8)
        self.assertEqual((user, int(rights, 16)), ("1000", 0))

    def test_grandchildren_end_with_it(self) -> None:
        begin = time.monotonic()
        self.run_shell(f"(setsid sh -c 'sleep 1; echo x > \"{self.place}/late\"' >/dev/null 2>&1 </dev/null &) ; exit 0")
        time.sleep(max(0, 2 - (time.monotonic() - begin)))
        self.assertEqual(os.listdir(self.place), [])

    def test_its_end_is_told(self) -> None:
        for script, status in (("exit 0", 0), ("exit 3", 3), ("kill -ABRT $$", 134), ("kill -KILL $$", 137)):
            self.assertEqual(self.run_shell(script).returncode, status, script)

    def test_secrets_of_the_environment_stay_outside(self) -> None:
        done = self.run_shell("env", SECRET_TOKEN="abc", EMULATOR_ORDER="late")
        self.assertNotIn("abc", done.stdout)
        self.assertIn("EMULATOR_ORDER=late", done.stdout)

    def test_a_program_that_is_killed_leaves_nothing(self) -> None:
        cage = Cage(self.method)
        words = cage.command(["sh", "-c", "echo > begun; setsid sleep 1; echo > ended"], self.place, writable=[self.place])
        process = subprocess.Popen(words, env=cage.environment(os.environ), start_new_session=True)
        deadline = time.monotonic() + 30
        while not (self.place / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, 9)
        process.wait()
        time.sleep(2)
        self.assertEqual(os.listdir(self.place), ["begun"])


class ByNamespaces(Confined):
    method = Method.NAMESPACES


class ByBubblewrap(Confined):
    method = Method.BUBBLEWRAP


del Confined  # which is no test by itself


class Choice(unittest.TestCase):
    def test_the_first_that_works_is_taken(self) -> None:
        with mock.patch.object(confine, "_problem", side_effect=["no", None]):
            self.assertIs(confine.cage().method, Method.BUBBLEWRAP)

    def test_without_any_it_says_why(self) -> None:
        with (
            mock.patch.object(confine, "_problem", side_effect=["Operation not permitted", "not installed"]),
            self.assertRaisesRegex(UserError, "confines no programs .*Operation not permitted; bubblewrap: not installed"),
        ):
            confine.cage()
