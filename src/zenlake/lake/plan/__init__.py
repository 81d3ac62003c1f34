"""Plan: which files are captures, and which task reads which connections of them.

Takes paths and patterns; gives for each capture its hash, and for each split the part of the survey
that its task needs. A small capture is one task without a survey.
"""
