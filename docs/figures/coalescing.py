"""Which sectors the 32 lanes of a warp touch: neighbouring threads side by side, and 16 bytes apart."""

import sys

import svg

LANES, SECTOR_FLOATS = 32, 8
CASES = [
    ("loop_coalesced", "lane i reads float i", 1),
    ("loop_strided", "lane i reads float 4·i", 4),
]


def figure() -> svg.Figure:
    picture = svg.Figure("Sectors that one load of a warp touches: 4 when coalesced, 16 when 16 bytes apart", 308)
    left, cell = 16, 5.3
    for case, (name, rule, stride) in enumerate(CASES):
        top = 34 + 96 * case
        touched = {lane * stride for lane in range(LANES)}
        sectors = {at // SECTOR_FLOATS for at in touched}
        picture.text(left, top - 10, name, "code strong")
        picture.text(left + 124, top - 10, f"{rule}: {len(sectors)} sectors of 32 bytes for 128 bytes", "small")
        for sector in range(LANES * 4 // SECTOR_FLOATS):
            x = left + sector * SECTOR_FLOATS * cell
            picture.rect(x, top, SECTOR_FLOATS * cell, 30, "copy" if sector in sectors else "plain")
            for k in range(SECTOR_FLOATS):
                if sector * SECTOR_FLOATS + k in touched:
                    picture.rect(x + k * cell, top + 8, cell, 14, "wait bare")
        for sector in range(0, 16, 4):
            picture.text(left + sector * SECTOR_FLOATS * cell, top + 46, f"byte {sector * 32}", "small soft")
    # One sector of each, enlarged, with the lanes' numbers.
    large = 21
    for x, (name, _, stride) in zip((16, 200), CASES, strict=True):
        picture.text(x, 222, f"{name}, sector 0", "small")
        picture.rect(x, 230, SECTOR_FLOATS * large, 30, "copy")
        for lane in range(SECTOR_FLOATS // stride):
            picture.rect(x + lane * stride * large, 230, large, 30, "wait")
            picture.text(x + (lane * stride + 0.5) * large, 249, str(lane), "small", "middle")
    picture.text(392, 249, "(a number: the lane that asked for the float)", "small soft")
    y = 282
    for x, colour, label in ((16, "copy", "a sector that is moved"), (200, "wait", "a float that a lane asked for")):
        picture.rect(x, y, 16, 14, colour)
        picture.text(x + 22, y + 12, label, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
