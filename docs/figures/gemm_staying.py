#!/usr/bin/env python3
"""Two tiles of a block with k = 1024 by rungs 8 and 9 of chapter 12: gemm_epilogue.py, which has all rungs from 8 on, says what is drawn."""

import sys

import gemm_epilogue
import svg


def figure() -> svg.Figure:
    return gemm_epilogue.lanes("Two tiles of a block, k = 1024, in rungs 8 and 9: loads, products and stores", 194, slice(2))


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
