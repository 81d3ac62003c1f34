"""Derive: tables that are put together from several messages, sessions or splits.

Input: the files that `merge` wrote. Output: files of the remaining published tables. Most steps are
SQL (`steps`), which tasks run on DuckDB (`duck`); the hops of publications are matched with NumPy
(`publications`).
"""
