"""Plan: finds captures, and assigns their connections to tasks.

The input is paths and patterns; the output is the hash of each capture, and for each split the part
of the survey that its task needs. A small capture is one task without a survey.
"""
