"""What `meson install` gives: an empty directory, headers, libraries, a pkg-config file, and programs built with these alone."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EMULATOR = ROOT / "common/emulator"
BUILD = Path(os.environ["BUILD_ROOT"])
COMPILER = os.environ["CXX_COMMAND"].split()
MESON = [*([sys.executable] if os.environ["MESON"].endswith(".py") else []), os.environ["MESON"]]


def run(*command: str | Path, status: int = 0, **settings: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")} | settings
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env, check=False)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def exported(library: Path) -> set[str]:
    """Demangled names that the library defines for others."""
    lines = run("nm", "--dynamic", "--defined-only", "--demangle", "--no-sort", library).splitlines()
    return {re.sub(r"@@?.*$", "", line.split(maxsplit=2)[2]) for line in lines}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.work = Path(cls.directory.name)
        run(*MESON, "install", "-C", BUILD, "--no-rebuild", "--skip-subprojects", "--destdir", cls.work / "dest")
        (pc,) = (cls.work / "dest").rglob("hopper_emulator.pc")
        cls.libraries = pc.parents[1]
        recorded = re.search(r"^prefix=(.*)$", pc.read_text("utf-8"), re.MULTILINE)[1]
        cls.prefix = Path(f"{cls.work / 'dest'}{recorded}")
        cls.pc = pc

    def config(self, *options: str) -> list[str]:
        said = run("pkg-config", f"--define-variable=prefix={self.prefix}", *options, "hopper_emulator",
                   PKG_CONFIG_PATH=str(self.pc.parent))
        return said.split()

    def compiled(self, name: str) -> Path:
        program = self.work / name
        run(*COMPILER, "-std=c++20", EMULATOR / f"examples/{name}.cpp", *self.config("--cflags", "--libs"), "-o", program)
        return program

    def test_nothing_but_the_emulator_is_installed(self) -> None:
        files = {str(path.relative_to(self.prefix)) for path in (self.work / "dest").rglob("*") if not path.is_dir()}
        library = str(self.libraries.relative_to(self.prefix))
        headers = {f"include/hopper_emulator/{path.name}" for path in (EMULATOR / "include/hopper_emulator").glob("*.hpp")}
        version, soversion = self.version(), self.soversion()
        self.assertEqual(files, headers | {"include/hopper_emulator/finding_kinds.inc"} | {f"{library}/{name}" for name in (
            "libhopper_emulator.so", f"libhopper_emulator.so.{soversion}", f"libhopper_emulator.so.{version}",
            "pkgconfig/hopper_emulator.pc", "hopper_emulator/libhopper_emulator_cuda.so",
            "hopper_emulator/libcudart.so.13", "hopper_emulator/libcudart.so.12", "hopper_emulator/libcuda.so.1")})

    def version(self) -> str:
        return self.config("--modversion")[0]

    def soversion(self) -> str:
        return self.version().rsplit(".", 1)[0]

    def test_version_is_one(self) -> None:
        source = self.work / "version.cpp"
        source.write_text("#include <hopper_emulator/version.hpp>\n#include <cstdio>\n"
                          "int main() { std::printf(\"%s\\n\", emu::version().data()); }\n", "utf-8")
        program = self.work / "version"
        run(*COMPILER, "-std=c++20", source, *self.config("--cflags", "--libs"), "-o", program)
        said = run(program, LD_LIBRARY_PATH=str(self.libraries)).strip()
        self.assertEqual(said, self.version())
        dynamic = run("readelf", "--dynamic", self.libraries / "libhopper_emulator.so")
        self.assertIn(f"soname: [libhopper_emulator.so.{self.soversion()}]", dynamic)

    def test_the_examples_do_what_the_readme_says(self) -> None:
        readme = (EMULATOR / "README.md").read_text("utf-8")
        for name in ("embed", "listen"):
            with self.subTest(name):
                program = self.compiled(name)
                said = run(program, status=1 if name == "embed" else 0, LD_LIBRARY_PATH=str(self.libraries))
                self.assertIn(f"```\n{said}```", readme)

    def test_a_program_of_the_library_has_no_cuda_function(self) -> None:
        needed = run("readelf", "--dynamic", self.compiled("embed"))
        self.assertNotIn("cuda", needed.lower())
        self.assertFalse([name for name in exported(self.libraries / "libhopper_emulator.so")
                          if re.match(r"(__)?cu(da)?[A-Z]", name)])

    def test_only_what_public_headers_declare_is_exported(self) -> None:
        text = "".join(path.read_text("utf-8") for path in (EMULATOR / "include/hopper_emulator").glob("*.hpp"))
        visible = {f"emu::{name}" for name in re.findall(r"^(?:class|struct|enum class) (\w+)[^;]*$", text, re.MULTILINE)}
        functions = {f"emu::{name}" for name in re.findall(r"^[\w:<>,*& ]+[ *&](\w+)\(", text, re.MULTILINE)}
        names = exported(self.libraries / "libhopper_emulator.so")
        self.assertIn("emu::version[abi:cxx11]()" if "emu::version[abi:cxx11]()" in names else "emu::version()", names)
        strange = []
        for name in names:
            plain = re.sub(r"^(?:non-virtual thunk to |virtual thunk to |vtable for |typeinfo (?:name )?for |"
                           r"guard variable for )", "", name)
            match = re.match(r"(emu::\w+)", plain)
            if not match or match[1] not in visible | functions:
                strange.append(name)
        self.assertEqual(strange, [])
        self.assertTrue(any(name.startswith("emu::Device::launch(") for name in names))

    def test_the_cuda_libraries_export_functions_of_cuda_only_and_find_the_library(self) -> None:
        cuda = Path(self.config("--variable=cudadir")[0])
        self.assertEqual(cuda, self.libraries / "hopper_emulator")
        names = exported(cuda / "libhopper_emulator_cuda.so")
        self.assertGreater(len(names), 500)
        self.assertEqual([name for name in names if not re.match(r"(__cuda|cuda|cu[A-Z])\w*$", name)], [])
        program = self.work / "driver_version"
        source = self.work / "driver_version.cpp"
        # As programs reach a driver that they were not linked with.
        source.write_text('#include <cstdio>\n#include <dlfcn.h>\nint main() { int v = 0; void* cuda = dlopen("libcuda.so.1", '
                          'RTLD_NOW); if (!cuda) { std::puts(dlerror()); return 1; } '
                          'reinterpret_cast<int (*)(int*)>(dlsym(cuda, "cuDriverGetVersion"))(&v); '
                          'std::printf("%d\\n", v); }\n', "utf-8")
        run(*COMPILER, "-std=c++20", source, "-ldl", "-o", program)
        # Only the one directory is named; the libraries find each other.
        self.assertEqual(run(program, LD_LIBRARY_PATH=str(cuda)).strip(), "13000")


if __name__ == "__main__":
    for tool in ("pkg-config", "nm", "readelf"):
        if not shutil.which(tool):
            print(f"{tool} is not installed")
            raise SystemExit(77)
    unittest.main()
