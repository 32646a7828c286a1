"""`-lineinfo` changes no machine code: what the page 'API versions' says, tried with the nvcc of this build."""

import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "chapters/02_cp_async/main.cu"


def machine_code(cubin: bytes) -> dict[str, bytes]:
    """The .text sections of an ELF file of 64 bits by name."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + i * size) for i in range(count)]
    strings = headers[names][4]

    def name(offset: int) -> str:
        return cubin[strings + offset : cubin.index(b"\0", strings + offset)].decode()

    return {name(h[0]): cubin[h[4] : h[4] + h[5]] for h in headers if name(h[0]).startswith(".text.")}


class LineInfo(unittest.TestCase):
    def compiled(self, *options: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as directory:
            cubin = Path(directory) / "cubin"
            command = [os.environ["NVCC"], "-std=c++20", "-arch=sm_90", "-cubin", *options, f"-I{ROOT}/common/include"]
            subprocess.run([*command, "-o", cubin, SOURCE], check=True, capture_output=True)
            return machine_code(cubin.read_bytes())

    def test_it_changes_no_machine_code(self) -> None:
        plain = self.compiled()
        self.assertGreater(len(plain), 8)
        self.assertTrue(all(plain.values()))
        self.assertEqual(self.compiled("-lineinfo"), plain)

    def test_debug_code_is_other_code(self) -> None:
        self.assertNotEqual(self.compiled("-G"), self.compiled())


if __name__ == "__main__":
    unittest.main()
