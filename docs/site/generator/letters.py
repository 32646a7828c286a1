"""The glossary's letters at its beginning, each a link to the first term that begins with it."""

from html import escape

from .render import Rendered


def add(rendered: list[Rendered]) -> None:
    """Changes the page 'glossary', whose headings are its terms in the order of the alphabet."""
    for result in rendered:
        if result.page.name != "glossary":
            continue
        first: dict[str, str] = {}
        for section in result.sections:
            if section.title:
                first.setdefault(section.title[0].upper(), section.label)
        links = " ".join(f'<a href="#{label}">{escape(letter)}</a>' for letter, label in first.items())
        result.sections[0].html += f'<p class="letters">{links}</p>\n'
