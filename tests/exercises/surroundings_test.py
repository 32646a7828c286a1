"""What surrounds the learner: the names of directories, the room that is left on disks, and a terminal."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support import ANSWER, HOLE, NAME, ROOT, CloneTest, main

sys.path.insert(0, str(ROOT / "tests" / "cli"))

from pseudo_terminal import PseudoTerminal  # noqa: E402


class Names(CloneTest):
    def test_a_clone_whose_path_is_not_ascii(self) -> None:
        """nvcc writes such a path in octal; the line is quoted, and an editor finds the file, all the same."""
        clone = self.home / "Übungen für „CUDA“ λ"
        self.clone.rename(clone)
        self.clone, self.desk = clone, clone / "workspace"
        self.file = self.desk / f"{NAME}.cu"
        self.write("tile[t] = in[start + t + 1000000];")
        done = self.check()
        lines = self.file.read_text("utf-8").splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "1000000" in text)
        self.assertIn(f"  workspace/{NAME}.cu:{line}  ", done.stdout)
        self.assertIn("      tile[t] = in[start + t + 1000000];\n", done.stdout)
        self.assertNotIn("\\303", done.stdout)
        self.assert_solved()


class Disks(CloneTest):
    def in_a_small_room(self, kilobytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Temporary files have so much room and no more, in a mount of our own."""
        place = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="workbook-small-")))
        mount = f'mount -t tmpfs -o size={kilobytes}k,mode=777 tmpfs "$0" && exec "$@"'
        apart = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(place)]
        if not shutil.which("unshare") or subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine lets nobody mount a small disk")
        return subprocess.run(
            [*apart, str(self.clone / "workbook"), *arguments],
            cwd=self.clone,
            env=self.environment(TMPDIR=str(place)),
            capture_output=True,
            text=True,
            timeout=100,
            stdin=subprocess.DEVNULL,
        )

    def test_a_full_temporary_directory_is_named(self) -> None:
        self.write(ANSWER)
        done = self.in_a_small_room(8, "check", NAME)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^workbook: no room for temporary files in /\S+ \(no space left on device\): free some")
        self.assertEqual(self.in_a_small_room(200_000, "check", NAME).returncode, 0)


class Screens(CloneTest):
    def test_from_a_mistake_to_the_next_exercise(self) -> None:
        watch = PseudoTerminal(["./workbook", "watch"], self.clone, self.environment(), rows=40, columns=100)
        self.addCleanup(watch.close)
        frame = watch.until_frame("reverse_tile: not yet.", "uninitialised-shared", "q quit", without="Checking")
        self.assertIn("Edit and save workspace/reverse_tile.cu", frame[1])
        temporary = self.file.with_suffix(".cu~")
        temporary.write_text(self.file.read_text("utf-8").replace(HOLE, ANSWER), "utf-8")
        temporary.replace(self.file)
        watch.until_frame("Checking reverse_tile ...")
        watch.until_frame("reverse_tile: solved.", "press n", "1 of ")
        watch.type("n")
        watch.until_frame("four_sectors: ", "Edit and save workspace/four_sectors.cu")
        watch.type("q")
        self.assertEqual(watch.end(), 0)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
