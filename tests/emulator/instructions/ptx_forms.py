#!/usr/bin/env python3
"""Every form of scalar and asynchronous PTX that the toolkit's assembler takes is one that the emulator decodes.

usage: ptx_forms.py DECODER PTXAS    (exit code 77 when PTXAS does not exist)
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FORMS = pathlib.Path(__file__).resolve().parents[1] / "data/forms.txt"

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 gvar[256];
.const .align 16 .b8 cvar[256];
.shared .align 128 .b8 svar[1024];
.func fun() { ret; }
.func (.reg .b32 %r1) fun2(.reg .b32 %r2) { mov.b32 %r1, %r2; ret; }
"""
REGISTERS = ("pred %p<6>", "b8 %b<6>", "b16 %h<12>", "b32 %r<12>", "b64 %d<12>", "f32 %f<12>", "f64 %g<12>",
             "b128 %q<6>")
TABLES = {"proto": "proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);", "ctab": "ctab: .calltargets fun2;",
          "tab": "tab: .branchtargets L;"}


def expand(pattern):
    choice = re.search(r"\{([^{}%]*\|[^{}%]*)\}", pattern)
    if not choice:
        return [pattern]
    return [form for option in choice.group(1).split("|")
            for form in expand(pattern[:choice.start()] + option + pattern[choice.end():])]


def read_forms():
    lines = FORMS.read_text(encoding="utf-8").splitlines()
    forms = [form for line in lines if line and not line.startswith("#") for form in expand(line)]
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
    while True:
        text, form_of_line = module(forms)
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([ptxas, "-arch=sm_90a", "-O0", "-o", "/dev/null", str(file)], capture_output=True,
                              text=True, check=False)
        refused = {form_of_line.get(int(n)) for n in re.findall(r"line (\d+); (?:error|fatal)", done.stderr)}
        if done.returncode == 0:
            return forms, file
        if not refused or None in refused:
            sys.exit(f"ptx_forms.py: the assembler refuses the module\n{done.stderr[:2000]}")
        forms = [form for number, form in enumerate(forms) if number not in refused]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    decoder, ptxas = sys.argv[1:]
    if not pathlib.Path(ptxas).exists():
        print(f"no assembler at {ptxas}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        forms, file = without_refused(read_forms(), ptxas, pathlib.Path(name))
        done = subprocess.run([decoder, str(file), str(len(forms))], capture_output=True, text=True, check=False)
    failures = [f"{forms[int(number)]}: {message}" for number, message in
                re.findall(r"^k(\d+): (.*)$", done.stdout, re.MULTILINE)]
    print("\n".join(failures))
    print(f"{len(forms)} forms, {len(failures)} of them not decoded")
    if done.returncode not in (0, 1) or len(forms) < 3000:
        sys.exit(f"ptx_forms.py: the decoder ended with {done.returncode}, or forms are missing\n{done.stderr}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
