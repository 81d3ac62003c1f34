"""Makes a large capture for benchmarks from real ones.

    python benchmarks/make_capture.py home.pcapng ring.pcapng -o big.pcapng --bytes 1GB

`zenlake.testing.replicate` documents in what a copy differs from its capture. The same captures,
seed and size give the same file. A classic pcap (nanoseconds) has packets of one link type; pcapng
may have several.
"""

from __future__ import annotations

import argparse
import re
import sys
import time

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.errors import ZenlakeError
from zenlake.testing.envelopes import Envelope, PcapEnvelope, PcapngEnvelope
from zenlake.testing.replicate import Replicas

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def size_bytes(text: str) -> int:
    """The number in `1GB`, `500MB`, `64MiB` or plain `1000000`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]i?|)B?", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1GB, 500MB or 64MiB")
    return int(float(match[1]) * UNITS[match[2]])


def copies_wanted(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no count from 1 on")
    return int(text)


def copies_for(size: int, replicas: Replicas, envelope: Envelope) -> int:
    """The number of copies that have at least this many bytes."""
    copy_bytes = sum(
        len(b"".join(envelope.around(packet))) + 8 + len(packet.data)
        for packet in replicas.originals
    )
    return max(1, -(-size // copy_bytes))


def make(arguments: argparse.Namespace) -> str:
    """Writes the file; returns a summary of its content."""
    begun = time.perf_counter()
    skipped = Skipped()
    captures = [list(packets([path], skipped)) for path in arguments.inputs]
    replicas = Replicas(captures, arguments.seed)
    is_pcap = arguments.output.endswith(".pcap")
    envelope = (PcapEnvelope if is_pcap else PcapngEnvelope)(replicas.originals)
    copies = arguments.copies or copies_for(arguments.bytes, replicas, envelope)
    with open(arguments.output, "wb") as file:
        file.writelines(replicas.records(copies, envelope))
        written = file.tell()
    seconds = time.perf_counter() - begun
    count = copies * len(replicas.originals)
    return (
        f"{copies} copies, {count} packets, {written} bytes, "
        f"in {seconds:.1f} s, {written / seconds / 1e6:.0f} MB/s\n"
        f"left in each copy: {replicas.cut_names} names cut by the end of a segment, "
        f"{replicas.short_zids} short ids"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="A big capture made from real ones.")
    parser.add_argument("inputs", nargs="+", metavar="CAPTURE", help="pcap or pcapng")
    parser.add_argument("-o", "--output", required=True, help="a name ending in .pcapng or .pcap")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--bytes", type=size_bytes, help="at least so much, such as 1GB")
    size.add_argument("--copies", type=copies_wanted, help="so many copies of every capture")
    parser.add_argument("--seed", type=int, default=0, help="for other ids and keys")
    try:
        print(make(parser.parse_args()))
    except (ZenlakeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
