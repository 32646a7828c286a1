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
        self.check("swizzle")

    def test_tensor_box(self) -> None:
        self.check("tensor_box")

    def test_time_lines(self) -> None:
        build = Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build")
        try:
            require_compiler(build / "chapters/04_pipeline/pipeline")
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.check("mbarrier", "pipeline")

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


def step(
    at: int, name: str, track: int, kind: str, by: str, count: int = 1, tx: int = 0
) -> dict[str, object]:
    args = {"step": kind, "phase": 0, "count": count, "tx": tx, "by": by}
    return event("i", at, cat="mbarrier", name=f"mbarrier {name}", tid=track, args=args)


def text(*events: dict[str, object]) -> str:
    start = event("M", 0, name="process_name", args={"name": "n::kernel(int), launch 1"})
    return json.dumps({"traceEvents": [start, *events, event("b", 0, cat="async") | {"pid": 2}]})


class Traces(unittest.TestCase):
    def test_arrivals_of_a_warp_are_one_step_and_those_with_bytes_are_not(self) -> None:
        lanes = [step(5, "bar", 8, "arrive", f"thread ({i},0,0) of block (0,0,0)") for i in range(31, 34)]
        copy = step(6, "bar", 8, "arrive", "a copy", count=0, tx=-16)
        found = traces.mbarrier_steps(text(*lanes, copy, copy), "kernel")
        self.assertEqual(
            [(s["by"], s["lanes"], s["count"], s["tx"]) for s in found["steps"]],
            [("warp 0", 1, 1, 0), ("warp 1", 2, 2, 0), ("a copy", 1, 0, -16), ("a copy", 1, 0, -16)],
        )

    def test_barriers_of_an_array_have_indices(self) -> None:
        steps = [
            step(1, name, track, "init", "a copy")
            for track, name in ((8, "ready"), (16, "ready + 8"), (24, "bar"))
        ]
        self.assertEqual(
            traces.mbarrier_steps(text(*steps), "kernel")["barriers"], ["ready[0]", "ready[1]", "bar"]
        )
        self.assertEqual(
            traces.mbarrier_steps(text(*steps), "kernel", "full")["barriers"],
            ["full[0]", "full[1]", "full[2]"],
        )

    def test_what_is_not_in_the_time_line_is_an_error(self) -> None:
        for kernel, message in (("other", "no launch of other"), ("kernel", "no steps of an mbarrier")):
            with self.subTest(kernel), self.assertRaisesRegex(traces.Unexpected, message):
                traces.mbarrier_steps(text(), kernel)
        with self.assertRaisesRegex(traces.Unexpected, "do not share out"):
            traces.pipeline_tiles(text(), "kernel", 2)


if __name__ == "__main__":
    unittest.main()
