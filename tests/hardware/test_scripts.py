"""What the scripts make of what Nsight Compute and compute-sanitizer print."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import counters  # noqa: E402
import counters_table  # noqa: E402
import sanitizer  # noqa: E402

CSV = """==PROF== Connected to process 5
"ID","Kernel Name","Block Size","Grid Size","a__b.sum","c__d.sum"
"","","","","sector","byte"
"0","void ns::copy<(int)4>(const float *)","(256, 1, 1)","(1024, 2, 1)","33,554,432","0"
"""


class CountersTest(unittest.TestCase):
    def test_a_launch_is_read_with_its_shape_and_numbers(self) -> None:
        (launch,) = counters.read_csv(CSV)
        self.assertEqual(launch.values, {"a__b": 33554432, "c__d": 0})
        self.assertEqual((launch.grid, launch.block), ([1024, 2, 1], [256, 1, 1]))
        self.assertEqual(counters.short(launch.kernel), "copy")
        self.assertEqual(counters_table.short(launch.kernel), "ns::copy<4>")

    def test_counters_that_do_not_exist_are_left_out(self) -> None:
        groups = {"x": ["sm__sass_a", "l1tex__b"], "y": ["l1tex__c"]}
        self.assertEqual(counters.available(groups, "smsp__sass_a l1tex__c"), {"x": ["smsp__sass_a"], "y": ["l1tex__c"]})
        self.assertEqual(counters.available(groups, ""), groups)

    def test_a_difference_without_a_reason_is_an_error(self) -> None:
        launch = {"kernel": "copy(int)", "hardware": {"sectors": 4}, "emulator": {"sectors": 5}}
        with self.assertRaisesRegex(SystemExit, "copy: sectors: 4 on hardware, 5 on the emulator"):
            list(counters_table.differences([launch]))

    def test_a_reason_has_a_limit(self) -> None:
        reason = counters_table.Reason("copy", "sectors", 0.05, "why")
        launch = {"kernel": "copy(int)", "hardware": {"sectors": 100, "requests": 1}, "emulator": {"sectors": 96, "requests": 2}}
        self.assertTrue(reason.fits(launch, "sectors"))
        self.assertFalse(reason.fits(launch, "requests"))
        launch["emulator"]["sectors"] = 94
        self.assertFalse(reason.fits(launch, "sectors"))

    def test_a_reason_may_ask_for_an_equal_counter(self) -> None:
        reason = counters_table.Reason("", "loads_conflicts", 1, "why", "_exact")
        launch = {"kernel": "k", "hardware": {"loads_conflicts": 5, "loads_wavefronts_exact": 7}}
        launch["emulator"] = {"loads_conflicts": 0, "loads_wavefronts_exact": 7}
        self.assertTrue(reason.fits(launch, "loads_conflicts"))
        launch["emulator"]["loads_wavefronts_exact"] = 8
        self.assertFalse(reason.fits(launch, "loads_conflicts"))


class SanitizerTest(unittest.TestCase):
    def test_a_finding_is_its_first_line(self) -> None:
        text = "========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n========= ERROR SUMMARY: 1 error\n"
        self.assertEqual(sanitizer.outcome(text, 1)["first"], "Invalid __global__ read of size 4 bytes")

    def test_silence_needs_a_summary(self) -> None:
        self.assertEqual(sanitizer.outcome("========= ERROR SUMMARY: 0 errors\n", 0)["result"], "silent")
        self.assertEqual(sanitizer.outcome("cannot start\n", 1)["result"], "failed")

    def test_a_run_without_end_hung(self) -> None:
        self.assertEqual(sanitizer.outcome("========= COMPUTE-SANITIZER\n", 124)["result"], "hung")


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"[summary] {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
