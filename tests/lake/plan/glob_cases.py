"""Patterns, names that they match, and names that they do not."""

from __future__ import annotations

Case = tuple[str, list[str], list[str]]

CASES: list[Case] = [
    ("*", ["", "a", "*", "a.b"], []),
    ("a*b", ["ab", "axb", "a*b", "abab"], ["a", "ba", "abc"]),
    ("*a*b*", ["ab", "xaxbx"], ["ba", ""]),
    ("?", ["x", "?"], ["", "xx"]),
    ("[abc]", ["a", "c"], ["d", "", "ab"]),
    ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
    ("[a-]", ["a", "-"], ["b"]),
    (r"[a\-c]", ["a", "-", "c"], ["b"]),
    ("[^a]", ["b", "^"], ["a", ""]),
    ("[!a-c]", ["d", "!"], ["b"]),
    ("[a^]", ["a", "^"], ["b"]),
    (r"[\]]", ["]"], ["\\"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("{a,b}c", ["ac", "bc"], ["c", "a,bc"]),
    ("{,a}c", ["c", "ac"], ["aac"]),
    ("x{a,b{c,d}}", ["xa", "xbc", "xbd"], ["xb", "xc"]),
    ("*.{pcap,pcapng}", ["a.pcap", "b.pcapng"], ["a.cap", "pcap"]),
    ("a,b}", ["a,b}"], ["a", "b}"]),
    (r"\*", ["*"], ["a", "\\*"]),
    (r"\{a,b\}", ["{a,b}"], ["a"]),
    ("a.b$(c)|+^", ["a.b$(c)|+^"], ["axb$(c)|+^"]),
    ("\n*", ["\nx\n"], ["x"]),
    ("λ?", ["λλ"], ["λ"]),
]

WHERE_HADOOP_FAILS: list[Case] = [("{[,],[}]}", [",", "}"], ["[", "a"]), (r"\a\\", ["a\\"], ["a"])]
"""Differences from Hadoop: its `GlobPattern` fails on the first, and reads `\\a` as a bell."""
