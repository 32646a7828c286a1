#!/usr/bin/env python3
"""Every form of an instruction that computes a value, of those that the assembler takes and the emulator decodes
(tests/emulator/data/forms.txt), is one that the random programs draw.

usage: test_forms.py PTXAS    (exit code 77 when PTXAS does not exist)
"""

import itertools
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulator/instructions"))

import ptx_forms  # noqa: E402

# Opcodes that compute no value, or one that is not of the operands alone.
OTHER = re.compile(
    r"(alloca|applypriority|bar|barrier|bra|brkpt|brx|call|clusterlaunchcontrol|cp|createpolicy|cvta|discard|exit|fence|"
    r"getctarank|griddepcontrol|isspacep|ldu|mapa|mbarrier|membar|nanosleep|pmevent|prefetch|prefetchu|ret|setmaxnreg|"
    r"stackrestore|stacksave|tensormap|trap)\b")
# Of ld, st, atom and red the type and the operation make the value; the rest is checked by the machine's tests.
MEMORY = re.compile(r"(ld|st|atom|red)\.")
# PTX bounds the error of approximations, and lets a product without rounding mode be fused.
OPEN = re.compile(r"\.approx|\.full|^mul(\.ftz|\.sat)*\.(f|bf)(16|32|64)")


def drawn(text):
    """The instructions of the table's rows, with every alternative of each."""
    tokens = set()
    for row in re.findall(r'\{"\w+",\s*((?:"[^"]*"\s*)+)\}', text):
        for statement in "".join(re.findall(r'"([^"]*)"', row)).split(";"):
            head = re.match(r"[{ ]*(?:@!?\w+ )?((?:[\w.:]|<[^<>]*>)+)", statement)
            if not head or head.group(1).startswith(".reg"):
                continue
            parts = [part[1:-1].split("|") if part[0] == "<" else [part]
                     for part in re.findall(r"<[^<>]*>|[^<>]+", head.group(1))]
            tokens.update("".join(choice) for choice in itertools.product(*parts))
    return tokens


def missing(forms, tokens):
    """The instructions of `forms` that are not among `tokens`, however their modifiers are ordered."""
    known = {tuple(sorted(token.split("."))) for token in tokens}
    names = sorted({form.split()[-len(form.split()) + (form[0] == "@")] for form in forms})
    return [name for name in names if not OTHER.match(name) and not MEMORY.match(name) and not OPEN.search(name)
            and tuple(sorted(name.split("."))) not in known]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ptxas = sys.argv[1]
    if not pathlib.Path(ptxas).exists():
        print(f"no assembler at {ptxas}")
        sys.exit(77)
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in ("instructions.cpp", "instructions_numbers.cpp"))
    tokens = drawn(text)
    with tempfile.TemporaryDirectory() as name:
        forms, _ = ptx_forms.without_refused(ptx_forms.read_forms(), ptxas, pathlib.Path(name))
    left_out = missing(forms, tokens)
    print("\n".join(left_out))
    print(f"{len(tokens)} instructions are drawn, {len(left_out)} of the forms are not")
    sys.exit(1 if left_out or len(tokens) < 3000 else 0)


if __name__ == "__main__":
    main()
