"""Merge: one split of a capture, read by both readers, into the Parquet files of one task.

Input: a split and its part of the survey. Output: files of the tables that a capture is read into
(`schema.WRITTEN`), and facts for the row of `captures`.
"""
