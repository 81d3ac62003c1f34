"""Regularity: which connections of a capture are regular, so that the fast reader may read them.

Input: a capture file. Output: a `Survey`: the pairs of ends, the pair of each packet, and why
pairs are irregular. It makes a pass of its own with the kernels of `scan` and `assemble`.
"""
