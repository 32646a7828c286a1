"""The data of the interactive pictures is what the programs say."""

import contextlib
import importlib.util
import io
import json
import os
import sys
import unittest
from pathlib import Path

import tools
from weaving.errors import Unavailable
from weaving.machine_code import require_compiler

sys.path.insert(0, str(tools.ROOT / "docs/site/data"))
import traces  # noqa: E402

_SPEC = importlib.util.spec_from_file_location("make_data", tools.ROOT / "docs/site/data/make.py")
assert _SPEC is not None and _SPEC.loader is not None
make = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make)


class Current(unittest.TestCase):
    def check(self, *names: str) -> None:
        build = Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            status = make.main(["--check", "--build", str(build), *names])
        self.assertEqual((status, said.getvalue()), (0, ""))

    def test_swizzle(self) -> None:
        self.check("xor_bits", "bank_turns")

    def test_tensor_box(self) -> None:
        self.check("tensor_box", "map_rules", "im2row")

    def test_bulk_stores(self) -> None:
        self.check("proxies", "store_waits")

    def test_rungs(self) -> None:
        build = Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build")
        try:
            require_compiler(build / "chapters/08_transpose/transpose")
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.check("rungs")

    def test_loads_of_a_warp(self) -> None:
        self.check("coalescing")

    def test_groups_and_tails(self) -> None:
        self.check("groups", "zero_fill")

    def test_waits_for_parities_and_hand_overs(self) -> None:
        self.check("parity", "fence")

    def test_time_lines(self) -> None:
        build = Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build")
        try:
            require_compiler(build / "chapters/04_pipeline/pipeline")
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.check("ring")

    def test_clusters_roles_and_wgmma(self) -> None:
        build = Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build")
        try:
            require_compiler(build / "docs/site/data/clusters_data")
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.check(*make.cluster_data.MAKERS, *make.roles_data.MAKERS, *make.wgmma_data.MAKERS)

    def test_what_comes_from_measurements(self) -> None:
        self.check(*make.gemm_data.MAKERS, "register_budget")


def event(phase: str, at: int, **more: object) -> dict[str, object]:
    return {"pid": 1, "ts": at, "ph": phase, **more}


def text(*events: dict[str, object]) -> str:
    start = event("M", 0, name="process_name", args={"name": "n::kernel(int), launch 1"})
    return json.dumps({"traceEvents": [start, *events, event("b", 0, cat="async") | {"pid": 2}]})


class Traces(unittest.TestCase):
    def test_what_is_not_in_the_time_line_is_an_error(self) -> None:
        with self.assertRaisesRegex(traces.Unexpected, "no launch of other"):
            traces.pipeline_tiles(text(), "other", 2)
        with self.assertRaisesRegex(traces.Unexpected, "do not share out"):
            traces.pipeline_tiles(text(), "kernel", 2)


if __name__ == "__main__":
    unittest.main()
