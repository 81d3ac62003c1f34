"""Derive: tables that are put together from several messages, sessions or splits.

Takes the files of `merge`; gives files of the remaining published tables. The steps are SQL
(`steps`), which tasks run on DuckDB (`duck`), and for hops of publications NumPy (`publications`).
"""
