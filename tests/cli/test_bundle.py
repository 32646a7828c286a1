"""The bundle: what it carries, that damage is noticed, that nothing is overwritten."""

import os
import subprocess
import tarfile

from support import TreeTest


class Bundles(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        self.bundle = self.tree.parent / "bundle.sh"
        done = self.workbook("bundle", str(self.bundle), "--without-tools", "--without-build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.room = self.tree.parent / "a room"

    def unpack(self) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["sh", str(self.bundle), str(self.room)], capture_output=True, text=True, timeout=60
        )

    def test_it_unpacks_to_a_workbook_that_works(self) -> None:
        done = self.unpack()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Unpacked and verified", done.stdout)
        tree = self.room / "hopper-async-workbook"
        self.assertEqual(self.workbook("list", command=tree / "workbook", cwd=tree).returncode, 0)

    def test_it_never_overwrites(self) -> None:
        self.unpack()
        done = self.unpack()
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("is there already", done.stderr)
        self.assert_one_line(self.workbook("bundle", str(self.bundle)), 1, "exists already")

    def test_damage_is_noticed_before_anything_is_unpacked(self) -> None:
        data = bytearray(self.bundle.read_bytes())
        for at in (-1, len(data) // 2):
            with self.subTest(at=at):
                damaged = bytearray(data)
                damaged[at] ^= 1
                self.bundle.write_bytes(damaged)
                done = self.unpack()
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
                self.assertIn("checksum is wrong", done.stderr)
                self.assertFalse(self.room.exists())
        self.bundle.write_bytes(data[: len(data) - 100])
        self.assertIn("checksum is wrong", self.unpack().stderr)

    def test_what_is_private_stays_here(self) -> None:
        for name in ("workspace", "build", ".workbook"):
            (self.tree / name).mkdir(exist_ok=True)
            (self.tree / name / "mine").touch()
        other = self.tree.parent / "other.sh"
        self.assertEqual(self.workbook("bundle", str(other), "--without-tools", "--without-build").returncode, 0)
        head = int(other.read_bytes().split(b"tail -c +")[1].split()[0])
        payload = self.tree.parent / "payload"
        payload.write_bytes(other.read_bytes()[head - 1 :])
        with tarfile.open(payload) as archive:
            names = archive.getnames()
        self.assertIn("hopper-async-workbook/workbook", names)
        self.assertEqual([name for name in names if name.endswith("mine")], [])
        self.assertEqual([f for f in os.listdir(self.tree.parent) if f.startswith("workbook-bundle-")], [])
