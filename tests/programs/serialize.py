"""Values into bytes and back."""

import zenoh
from zenoh.ext import Float32, Int8, UInt16, UInt128, ZDeserializeError, z_deserialize, z_serialize

VALUES = [
    (1, int),
    (-2.5, float),
    (True, bool),
    ("hé", str),
    (b"\x00\xff", bytes),
    ([1, 2, 3], list[int]),
    ((1, "a"), tuple[int, str]),
    ({"k": 1}, dict[str, int]),
    (["x" * 200], list[str]),
    (Int8(-5), Int8),
    (UInt16(65535), UInt16),
    (UInt128(2**127), UInt128),
    (Float32(0.5), Float32),
    ([(1, {"a": [True]})], list[tuple[int, dict[str, list[bool]]]]),
]
for value, kind in VALUES:
    data = z_serialize(value)
    print(data.to_bytes().hex(), z_deserialize(kind, data) == value)
for kind, raw in ((int, b"\x01"), (bool, b"\x02"), (str, b"\x05abc"), (list[int], b"\x02\x01")):
    try:
        z_deserialize(kind, zenoh.ZBytes(raw))
    except ZDeserializeError:
        print("ZDeserializeError")
for value in (2**31, object()):
    try:
        z_serialize(value)
    except Exception as error:
        print(type(error).__name__)
payload = zenoh.ZBytes("text")
print(payload.to_string(), payload.to_bytes(), len(payload), bytes(payload), payload == b"text")
print(bool(zenoh.ZBytes("")), zenoh.ZBytes(b"\x01") == zenoh.ZBytes(b"\x01"))
