"""The `workbook` command: thin; it calls Meson and the programs and has no build logic of its own."""
