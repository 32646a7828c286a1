"""One module for each subcommand.

A command module has `NAME`, `HELP`, `add_arguments(parser)` and `execute(options, workspace) -> int`; it may have
`prepare(argv) -> argv`, which sees the words after its name before they are parsed, and `PASSES_ARGUMENTS`, which keeps
what follows `--` in `options.passed`. Listing the module in
`cli.main.COMMANDS` makes it a subcommand.
"""
