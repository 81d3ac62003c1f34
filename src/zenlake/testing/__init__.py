"""Help for tests of and with zenlake; needs the `test` extra."""
