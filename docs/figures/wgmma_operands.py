#!/usr/bin/env python3
"""What one wgmma of chapter 11 takes of A and B and where D lies: the running example, 64 × 64 by 64 × 64."""

import sys

import svg

SIZE, STEP, STEPS = 144, 36, 4  # of a matrix; of 16 elements; wgmma for all of K
A_LEFT, D_LEFT, B_TOP, D_TOP = 168, 356, 30, 210


def figure() -> svg.Figure:
    picture = svg.Figure("What one wgmma takes of A and B, and which warp holds which rows of D", D_TOP + SIZE + 44)
    picture.text(D_LEFT - 12, B_TOP + SIZE / 2 - 10, "B, 64 × N", "strong", "end")
    picture.text(D_LEFT - 12, B_TOP + SIZE / 2 + 8, "shared memory", "small soft", "end")
    picture.text(A_LEFT - 12, D_TOP + SIZE / 2 - 10, "A, 64 × 64", "strong", "end")
    picture.text(A_LEFT - 12, D_TOP + SIZE / 2 + 8, "shared memory,", "small soft", "end")
    picture.text(A_LEFT - 12, D_TOP + SIZE / 2 + 24, "or registers", "small soft", "end")
    for step in range(STEPS):
        colour = "copy" if step == 0 else "plain"
        first = 16 * step
        tip = f"wgmma {step}: k = {first} to {first + 15}"
        picture.rect(A_LEFT + step * STEP, D_TOP, STEP, SIZE, colour, tip)
        picture.text(A_LEFT + (step + 0.5) * STEP, D_TOP + SIZE / 2 + 5, str(step), "", "middle")
        picture.rect(D_LEFT, B_TOP + step * STEP, SIZE, STEP, colour, tip)
        picture.text(D_LEFT + SIZE / 2, B_TOP + (step + 0.5) * STEP + 5, str(step), "", "middle")
        picture.rect(D_LEFT, D_TOP + step * STEP, SIZE, STEP, "compute", f"rows {first} to {first + 15} of D: warp {step}")
        picture.text(D_LEFT + SIZE / 2, D_TOP + (step + 0.5) * STEP + 5, f"warp {step}", "", "middle")
        picture.text(D_LEFT + SIZE + 12, D_TOP + (step + 0.5) * STEP + 5, f"rows {first} to {first + 15}", "small soft")
    picture.text(D_LEFT + SIZE + 120, D_TOP + SIZE / 2 - 10, "D, 64 × N", "strong")
    picture.text(D_LEFT + SIZE + 120, D_TOP + SIZE / 2 + 8, "registers", "small soft")
    for x, y, right, down in ((A_LEFT, D_TOP - 10, SIZE, 0), (D_LEFT + SIZE + 12, B_TOP, 0, SIZE)):
        picture.arrow(x, y, x + right, y + down)
    picture.text(A_LEFT + SIZE / 2, D_TOP - 18, "a row in memory, along k", "small soft", "middle")
    picture.text(D_LEFT + SIZE + 22, B_TOP + SIZE / 2 - 4, "a column of B is a row", "small soft")
    picture.text(D_LEFT + SIZE + 22, B_TOP + SIZE / 2 + 12, "in memory, along k", "small soft")
    picture.text(12, D_TOP + SIZE + 28, "0 to 3: the four wgmma. Each takes 16 of k from A and from B, and all of D gets its products.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
