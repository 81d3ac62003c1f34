"""The `zenlake` command: one file for each subcommand."""
