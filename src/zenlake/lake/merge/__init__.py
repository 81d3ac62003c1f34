"""Merge: one split of a capture, read by both readers, into the Parquet files of one task.

Takes a split and its part of the survey; gives files of the tables that reading a capture gives
(`schema.WRITTEN`), and facts for the row of `captures`.
"""
