"""The comparison of counters as Markdown tables, and why some counters cannot be equal."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RESULT = Path("docs/measurements/h200_counters.json")
Sums = dict[str, dict[str, int]]  # What the emulator counts under other names, and how often each of them.


@dataclass
class Launch:
    kernel: str
    grid: list[int]
    block: list[int]
    values: dict[str, int]


@dataclass(frozen=True)
class Reason:
    """Why a counter (a regular expression) of a kernel (another) differs. `limit` is the greatest share it may. With
    `exact`, the same counter followed by it must be equal."""

    kernel: str
    counter: str
    limit: float
    text: str
    exact: str = ""

    def fits(self, launch: dict, counter: str) -> bool:
        ours, theirs = launch["emulator"], launch["hardware"]
        if self.exact:  # A conflict is a wavefront too many.
            other = re.sub("conflicts|wavefronts", "wavefronts", counter) + self.exact
            if ours.get(other, 0) != theirs.get(other, 0):
                return False
        matches = re.fullmatch(self.counter, counter) and re.search(self.kernel, launch["kernel"])
        return bool(matches) and share(theirs[counter], ours[counter]) <= self.limit


ALL_SHARED = "shared_(load|store)_(requests|wavefronts|conflicts)(_by_instruction)?"
REASONS = (
    Reason("hand_over", "shared_load_.*", 1, "threads read a flag until it is set; how often is a matter of time"),
    Reason(
        "",
        "shared_(load|store)_(wavefronts|conflicts)",
        1,
        "the unit counts an access again that had to make room for others; counted by instruction both are equal",
        "_by_instruction",
    ),
    Reason("chase_shared", ALL_SHARED, 0.75, "the PTX stores four words, which the assembler joins to one of 16 bytes"),
    Reason("tma_persistent", ALL_SHARED, 1, "the PTX stores one of four vectors as four words, which the assembler joins"),
    Reason("entanglement", ALL_SHARED, 0.25, "the PTX loads two neighbouring words, which the assembler joins"),
    Reason("mix_prints", ALL_SHARED, 0.75, "the PTX loads 16 words, which the assembler joins to four loads of 16 bytes"),
    Reason("shared_tile_gemm", "shared_load_.*", 0.375, "the PTX loads 16 words for a step, which the assembler joins to ten loads: two have 16 bytes"),
    Reason(
        "read_fragments|tile_by_mma|a_in_registers|warp_products|(stored|overlapped|tuned)_gemm",
        "shared_(load|store)_(requests|wavefronts_by_instruction)",
        1,
        "`LDSM` and `STSM` are none of the loads and stores that hardware counts by instruction",
    ),
    Reason(
        "(stored|overlapped|tuned)_gemm",
        "shared_store_(wavefronts|conflicts)",
        1,
        "probably, as above, accesses that had to make room; nothing counts these stores by instruction",
    ),
    Reason(
        r"four_at_a_time|entanglement|(meeting|roles|unicast|multicast)_ring|registers_as_launched|groups_in_turns|_panels|prints_then_next|naive_gemm|chase_dsmem|stream_batches|(shared|padded)_tile<|micro_tiles<|column_walk<|kept_reads<",
        "tensor_instructions",
        1,
        "`HFMA2.MMA`, with which the assembler puts a constant into a register, runs where matrices are multiplied; the kernels whose machine code has none count none",
    ),
    Reason(
        "warp_products",
        "global_load_sectors",
        0.1,
        "`cp.async` of 64 bytes that begin inside a sector: as if a line of 128 bytes counted what it gives in whole sectors, which makes two or three",
    ),
    Reason(
        "cluster_sum|remote_arrive",
        "shared_load_conflicts",
        1,
        "the unit counts an access again that had to make room for others; by instruction hardware has a wavefront for each request",
    ),
    Reason("cluster_sum|remote_arrive", "shared_load_.*", 0.61, "eight neighbouring words, which the assembler joins to three loads"),
    Reason("mma_e4m3", "tensor_.*", 1, "`mma.sync` of e4m3: the assembler makes two of f16; only `wgmma` has instructions for 8 bits"),
    Reason("mma_s4", "tensor_.*", 1, "`mma.sync` of s4: the assembler makes two of s8"),
    Reason("mma_f16_quads", "tensor_operations_f16", 1, "`m8n8k4` of f16 is an instruction of another kind (`hmma_type_hfma2`), whose operations are not counted"),
    Reason("groups_in_flight", "cp_async_bytes_read", 0.05, "hardware counts 12 more copies of a warp, probably of the empty groups after the end"),
)


def short(kernel: str) -> str:
    """The name of a kernel without its parameters: 'void a::b<(int)4>(int*)' is 'a::b<4>'."""
    name = kernel.removeprefix("void ").replace("(anonymous namespace)::", "")
    name = re.sub(r"\((?:[\w: ]+)\)(?=-?\d)", "", name)
    return name.split("(")[0]


def share(hardware: int, emulator: int) -> float:
    return abs(hardware - emulator) / max(hardware, emulator)


def differences(launches: list[dict]) -> Iterator[tuple[Reason, str, str, int, int]]:
    """Reason, kernel, counter and both values, for each that is not equal. Without a reason: SystemExit."""
    unexplained = []
    for launch in launches:
        for counter, emulator in launch["emulator"].items():
            hardware = launch["hardware"][counter]
            if hardware == emulator:
                continue
            reason = next((reason for reason in REASONS if reason.fits(launch, counter)), None)
            if reason is None:
                unexplained.append(
                    f"{short(launch['kernel'])}: {counter}: {hardware} on hardware, {emulator} on the emulator"
                )
            else:
                yield reason, short(launch["kernel"]), counter, hardware, emulator
    if unexplained:
        raise SystemExit("counters that differ without a reason:\n" + "\n".join(unexplained))


def told_as(name: str, sums: Sums) -> str:
    """What the emulator's own counters call it."""
    text = ""
    for counter, factor in sums.get(name, {name.removesuffix("_by_instruction"): 1}).items():
        text += (" - " if factor < 0 else " + ") if text else ""
        text += (f"{abs(factor)} × " if abs(factor) != 1 else "") + f"`{counter}`"
    return text


def summary(launches: list[dict], sums: Sums) -> Iterator[str]:
    yield "| counter | of `--counters` | launches compared | equal | within 5 % | further apart |"
    yield "|---|---|--:|--:|--:|--:|"
    for name in sorted({name for launch in launches for name in launch["emulator"]}):
        pairs = [(row["hardware"][name], row["emulator"][name]) for row in launches if name in row["emulator"]]
        equal = sum(a == b for a, b in pairs)
        near = sum(a != b and share(a, b) <= 0.05 for a, b in pairs)
        yield f"| `{name}` | {told_as(name, sums)} | {len(pairs)} | {equal} | {near} | {len(pairs) - equal - near} |"


def details(launches: list[dict]) -> Iterator[str]:
    """One row for each reason: whom it concerns, and the pair of values that is furthest apart."""
    yield "| why | kernels | counters | furthest apart: hardware, emulator |"
    yield "|---|---|---|---|"
    found = list(differences(launches))
    for reason in dict.fromkeys(row[0] for row in found):
        rows = [row for row in found if row[0] == reason]
        kernels = ", ".join(dict.fromkeys(f"`{row[1].split('<')[0].split('::')[-1]}`" for row in rows))
        counters = ", ".join(dict.fromkeys(f"`{row[2]}`" for row in rows))
        _, _, name, hardware, emulator = max(rows, key=lambda row: (share(*row[3:]), abs(row[3] - row[4])))
        yield f"| {reason.text} | {kernels} | {counters} | `{name}`: {hardware}, {emulator} |"


def markdown(path: Path, sums: Sums) -> str:
    launches = json.loads(path.read_text("utf-8"))["launches"]
    return "\n".join([*summary(launches, sums), "", "What differs, and why:", "", *details(launches)]) + "\n"
