#!/usr/bin/env python3
"""Every form of PTX that the toolkit's assembler takes is one that the emulator decodes; of matrix instructions and
tensor copies in im2col mode, it refuses what the assembler refuses, too.

usage: ptx_forms.py DECODER PTXAS    (exit code 77 when PTXAS does not exist)
"""

import pathlib
import re
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 gvar[256];
.const .align 16 .b8 cvar[256];
.shared .align 128 .b8 svar[1024];
.func fun() { ret; }
.func (.reg .b32 %r1) fun2(.reg .b32 %r2) { mov.b32 %r1, %r2; ret; }
"""
REGISTERS = ("pred %p<6>", "b8 %b<6>", "b16 %h<12>", "b32 %r<300>", "b64 %d<12>", "f32 %f<300>", "f64 %g<60>",
             "b128 %q<6>")
FIRST_OF_LIST = 10
TABLES = {"proto": "proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);", "ctab": "ctab: .calltargets fun2;",
          "tab": "tab: .branchtargets L;"}


def expand(pattern):
    choice = re.search(r"\{([^{}%]*\|[^{}%]*)\}", pattern)
    if not choice:
        return [pattern]
    return [form for option in choice.group(1).split("|")
            for form in expand(pattern[:choice.start()] + option + pattern[choice.end():])]


def with_lists(form):
    """%r*2 becomes {%r10, %r11}, the next of them {%r12, ...}."""
    first = FIRST_OF_LIST

    def registers(match):
        nonlocal first
        count, start = int(match[2]), first
        first += count
        return "{" + ", ".join(f"%{match[1]}{start + i}" for i in range(count)) + "}"
    return re.sub(r"%([a-z])\*(\d+)", registers, form)


def read_forms(file="forms.txt"):
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    forms = [with_lists(form) for line in lines if line and not line.startswith("#") for form in expand(line)]
    return list(dict.fromkeys(forms))


def module(forms):
    """A module with one kernel for each form, and which line belongs to which form."""
    text, form_of_line = [HEAD], {}
    line = HEAD.count("\n") + 1
    declarations = "".join(f".reg .{r}; " for r in REGISTERS) + ".local .align 16 .b8 lvar[64]; "
    for number, form in enumerate(forms):
        table = next((t for name, t in TABLES.items() if re.search(rf"\b{name}\b", form)), "")
        text.append(f".entry k{number}(.param .align 16 .b8 pa[128]) {{ {declarations}{table}\n{form};\nL: ret; }}\n")
        form_of_line[line + 1] = number
        line += 3
    return "".join(text), form_of_line


def without_refused(forms, ptxas, directory):
    """The forms that assemble. A form refused by the first pass may hide later ones from it."""
    file = directory / "forms.ptx"
    name = re.escape(file.name)  # The assembler's own macros have lines, too.
    while True:
        text, form_of_line = module(forms)
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([ptxas, "-arch=sm_90a", "-O0", "-o", "/dev/null", str(file)], capture_output=True,
                              text=True, check=False)
        refused = {form_of_line.get(int(n)) for n in re.findall(rf"{name}, line (\d+); (?:error|fatal)", done.stderr)}
        if done.returncode == 0:
            return forms, file
        if not refused or None in refused:
            sys.exit(f"ptx_forms.py: the assembler refuses the module\n{done.stderr[:2000]}")
        forms = [form for number, form in enumerate(forms) if number not in refused]


def decode(decoder, forms, directory):
    """What the emulator says of each form, by its number; None where it takes it."""
    file = directory / "forms.ptx"
    file.write_text(module(forms)[0], encoding="utf-8")
    done = subprocess.run([decoder, str(file), str(len(forms))], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"ptx_forms.py: the decoder ended with {done.returncode}\n{done.stderr}")
    refused = {int(number): message for number, message in re.findall(r"^k(\d+): (.*)$", done.stdout, re.MULTILINE)}
    return [refused.get(number) for number in range(len(forms))]


def compare(decoder, forms, taken, directory):
    """Forms that only one of the two takes, the assembler or the emulator."""
    both = set(taken)
    said = decode(decoder, forms, directory)
    return [f"{form}: {message or 'the assembler refuses it'}" for form, message in zip(forms, said)
            if (message is None) != (form in both)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    decoder, ptxas = sys.argv[1:]
    if not pathlib.Path(ptxas).exists():
        print(f"no assembler at {ptxas}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        taken, _ = without_refused(read_forms(), ptxas, directory)
        failures = compare(decoder, taken, taken, directory)
        matrix = [form.removeprefix("! ") for form in read_forms("matrix_forms.txt")]
        no_ptx = {form.removeprefix("! ") for form in read_forms("matrix_forms.txt") if form.startswith("! ")}
        of_matrices, _ = without_refused([form for form in matrix if form not in no_ptx], ptxas, directory)
        failures += compare(decoder, matrix, of_matrices, directory)
        im2col = read_forms("im2col_forms.txt")
        of_im2col, _ = without_refused(im2col, ptxas, directory)
        failures += compare(decoder, im2col, of_im2col, directory)
    print("\n".join(failures))
    print(f"{len(taken)} forms, {len(of_matrices)} of {len(matrix)} with matrices and {len(of_im2col)} of {len(im2col)} in "
          f"im2col mode, {len(failures)} of them not as the assembler takes them")
    if len(taken) < 3000 or len(of_matrices) < 500 or len(of_im2col) < 60:
        sys.exit("ptx_forms.py: forms are missing")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
