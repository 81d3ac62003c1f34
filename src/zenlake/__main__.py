"""`python -m zenlake`: the command `zenlake`."""

from zenlake.cli.__main__ import run

if __name__ == "__main__":
    run()
