#!/usr/bin/env python3
"""The front page: one block per SM, one kernel, and nothing changes but the number of stages."""

import sys

import measured_one_block
import svg


def figure() -> svg.Figure:
    return measured_one_block.smaller("The rate of a stream with 1, 2, 3 and 4 stages, one block per SM, on an H200")[0]


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
