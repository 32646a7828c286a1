"""What this chapter's measurements must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Tables
from cli.bench_rows import Rows, as_float, ratio, some


def _boxes_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_ranks"].rows, column="box")
    for bytes in (320, 960, 3840):
        times = [row for row in rows.rows if row.get("bytes") == bytes and row.get("blocks_per_sm") == 32]
        spread = some(*(as_float(row.get("median_ms")) for row in times))
        if len(spread) > 1:
            yield Claim(f"boxes-rank-{bytes}", f"boxes of {bytes} bytes take the same time in every rank", max(spread) / min(spread), "<=", 1.06, "times")
    each = some(*(rows.figure("ns_per_block", bytes=bytes, blocks_per_sm=32) for bytes in (64, 320, 960)))
    if len(each) == 3:
        yield Claim("boxes-blocks", "up to 960 bytes a block takes the same time", max(each) / min(each), "<=", 1.1, "times")
    half = ratio(rows.figure("median_ms", bytes=960, blocks_per_sm=16), rows.figure("median_ms", box="16 × 5 × 3", blocks_per_sm=32))
    yield Claim("boxes-resident", "and half as many blocks on an SM are enough for it", half, "<=", 1.06, "times")


def _fits_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_fit"].rows, column="box")

    def each(width: int, pitch: int) -> float | None:
        return rows.figure("ns_per_block", width=width, pitch=pitch)

    yield Claim("fits-sectors", "rows that begin inside of sectors", ratio(each(48, 208), each(48, 192)), ">=", 1.5, "times")
    yield Claim("fits-overhang", "more whole boxes cost no more each", ratio(each(64, 256), each(48, 192)), "<=", 1.1, "times")


def _shift_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_shift"].rows, column="box")

    def slower(width: int, shift: int) -> float | None:
        return ratio(rows.figure("ns_per_block", width=width, shift=shift), rows.figure("ns_per_block", width=width, shift=0))

    yield Claim("shift-inside", "boxes that are read from the middle of a sector on", slower(103, 16), ">=", 1.15, "times")
    yield Claim("shift-sector", "boxes that are read from the next sector on cost the same", slower(103, 32), "<=", 1.05, "times")


def _plain_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["plain_tiles"].rows)

    def longer(kernel: str, than: str) -> float | None:
        return ratio(rows.time(kernel=kernel), rows.time(kernel=than))

    yield Claim("plain-one", "plain loads and stores, all loads first, against add_one_matrix", longer("add_one_plain, all loads first", "add_one_matrix"), "<=", 1.02, "times")
    yield Claim("plain-serial", "the same one by one", longer("add_one_plain, one by one", "add_one_matrix"), ">=", 1.15, "times")
    yield Claim("plain-halo", "the filter whose threads bring the halo, against box_filter_3x3", longer("box_filter_plain, 66 columns", "box_filter_3x3"), ">=", 1.1, "times")
    yield Claim("plain-l1", "the filter that reads nine neighbours from L1", longer("box_filter_from_l1", "box_filter_3x3"), ">=", 1.3, "times")


BENCH = Bench(
    claims=(
        (("box_ranks",), _boxes_claims),
        (("box_fit",), _fits_claims),
        (("box_shift",), _shift_claims),
        (("plain_tiles",), _plain_claims),
    ),
)
