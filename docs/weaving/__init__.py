"""Weaving: blocks of Markdown files that are made from the programs they speak of."""
