"""The process that forks Spark's Python workers on this machine: Spark's own, made to start faster.

Modules that start no thread are imported before workers are forked, and excluded from the garbage
collection that Spark runs after every task.
"""

from __future__ import annotations

import gc


def main() -> None:
    # NumPy and Arrow start threads, which do not survive a fork, so workers import them.
    import pyspark.worker  # noqa: F401  # for the workers
    from pyspark.daemon import manager

    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
