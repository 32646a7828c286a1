"""What can go wrong while weaving, always with a place."""


class WeaveError(Exception):
    """One line for the author: what is wrong. The place of the mark is added where the mark is known."""


class Unavailable(Exception):
    """A block that cannot be made on this machine although it may be right: a tool is missing or another version."""
