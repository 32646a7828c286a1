"""Colours for code, in the classes that Doxygen's own listings use."""

import re
from html import escape

_CPP = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<preprocessor>^[ \t]*\#[^\n]*)"""
    r"""|(?P<stringliteral>R"\(.*?\)"|"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<charliteral>'(?:\\.|[^'\\\n])+')"""
    r"""|(?P<word>\b[A-Za-z_]\w*\b)|(?P<number>\b\d[\w'.]*)""",
    re.DOTALL | re.MULTILINE,
)
_COLUMNS, _MOST_COLUMNS = 110, 126
"""What a page shows without scrolling, and what it shows so in smaller letters: commands and what programs print."""
_TYPES = frozenset(
    ["auto", "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void", "size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "uintptr_t"]
)
_FLOW = frozenset(
    ["break", "case", "catch", "continue", "default", "do", "else", "for", "goto", "if", "return", "switch", "throw", "try", "while"]
)
_KEYWORDS = frozenset(
    ["alignas", "alignof", "asm", "class", "concept", "const", "constexpr", "constinit", "consteval", "const_cast", "co_await", "co_return", "co_yield", "decltype", "delete", "enum", "explicit", "export", "extern", "false", "final", "friend", "inline", "mutable", "namespace", "new", "noexcept", "nullptr", "operator", "override", "private", "protected", "public", "reinterpret_cast", "requires", "sizeof", "static", "static_assert", "static_cast", "struct", "template", "this", "thread_local", "true", "typedef", "typeid", "typename", "union", "using", "virtual", "volatile", "__global__", "__device__", "__host__", "__shared__", "__constant__", "__launch_bounds__", "__cluster_dims__", "__grid_constant__", "__align__", "__restrict__", "__forceinline__", "__noinline__"]
)
_ASSEMBLY = re.compile(
    r"(?P<comment>//[^\n]*|…)|(?P<preprocessor>@!?%?\w+)|(?P<register>%\w+(?:\.\w)?|\bU?R\d+\b|\b[RUP]{1,2}[ZT]\b|\bU?P\d\b)"
    r"|(?P<number>\b0x[0-9a-f]+\b|\b\d+\b)|(?P<opcode>^[ \t]*\.?[A-Za-z][\w.:]*|(?<= )[A-Za-z][\w:]*(?:\.[\w:]+)+"
    r"|(?:(?<=@P\d )|(?<=@!P\d )|(?<=@UP\d )|(?<=%p\d ))[A-Za-z]\w*)",
    re.MULTILINE,
)
_ASSEMBLY_CLASSES = {
    "comment": "comment",
    "preprocessor": "preprocessor",
    "register": "keywordtype",
    "opcode": "keyword",
}


def _span(name: str | None, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)


def _cpp_class(kind: str, text: str) -> str | None:
    if kind == "word":
        if text in _TYPES:
            return "keywordtype"
        return "keywordflow" if text in _FLOW else "keyword" if text in _KEYWORDS else None
    return None if kind == "number" else kind


def _coloured(code: str, pattern: re.Pattern[str], classify) -> list[str]:
    """Lines of HTML. A span never crosses a line's end."""
    parts: list[str] = []
    last = 0
    for match in pattern.finditer(code):
        parts.append(escape(code[last : match.start()]))
        name = classify(match.lastgroup or "", match[0])
        parts.append("\n".join(_span(name, line) for line in match[0].split("\n")))
        last = match.end()
    parts.append(escape(code[last:]))
    return "".join(parts).split("\n")


def lines(code: str, language: str) -> list[str]:
    """The lines of a listing as HTML."""
    if language in ("cuda", "cpp", "c++", "c"):
        return _coloured(code, _CPP, _cpp_class)
    if language in ("ptx", "sass"):
        return _coloured(code, _ASSEMBLY, lambda kind, _: _ASSEMBLY_CLASSES.get(kind))
    return escape(code).split("\n")


def fragment(code: str, language: str, notes: dict[int, list[str]] | None = None) -> str:
    """A listing as Doxygen writes it. `notes`: what is said below a line, by its index."""
    rows = "\n".join(
        f'<div class="line">{line or "&#160;"}</div>' + "".join(f'<div class="said">▲ {escape(text)}</div>' for text in (notes or {}).get(at, ()))
        for at, line in enumerate(lines(code.rstrip("\n"), language))
    )
    columns = max(map(len, code.split("\n")))
    wide = " wide" if _COLUMNS < columns <= _MOST_COLUMNS else ""
    return f'<div class="fragment{wide}">{rows}\n</div>'
