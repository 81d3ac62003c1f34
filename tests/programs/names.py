"""Key expressions, selectors, parameters, encodings, enumerations."""

import zenoh

KEYS = ["a/b", "a/*", "a/**", "a/$*b", "**/b", "a/@v/*"]
for one in KEYS:
    for other in KEYS:
        a, b = zenoh.KeyExpr(one), zenoh.KeyExpr(other)
        print(one, other, a.intersects(b), a.includes(b), a.relation_to(b))
print(zenoh.KeyExpr.autocanonize("a/**/*/c"), zenoh.KeyExpr("a").join("b/c"))
print(zenoh.KeyExpr("a/b").concat("c"), zenoh.KeyExpr("x") / zenoh.KeyExpr("y"))
print(
    zenoh.KeyExpr("a/b") == "a/b", hash(zenoh.KeyExpr("a")) == hash("a"), repr(zenoh.KeyExpr("a"))
)
for bad in ("", "/a", "a//b", "a/#", "a/**/**", "a*"):
    try:
        zenoh.KeyExpr(bad)
    except zenoh.ZError:
        print("no key expression:", repr(bad))
selector = zenoh.Selector("a/*?x=1;y=2|3;x=4;")
print(selector, selector.key_expr, selector.parameters, selector.parameters.get("x"))
print(selector.parameters.values("y"), list(selector.parameters), "z" in selector.parameters)
parameters = zenoh.Parameters({"b": "2", "a": "1"})
parameters.insert("c", "3")
parameters.remove("b")
print(parameters, parameters.is_empty(), parameters.is_ordered(), bool(zenoh.Parameters("")))
for encoding in ("text/plain", "text/plain;utf-8", "my/own;thing", "", "application/json"):
    print(zenoh.Encoding(encoding), zenoh.Encoding(encoding) == encoding)
print(
    zenoh.Encoding.APPLICATION_JSON.with_schema("v1"),
    zenoh.Encoding("zenoh/bytes") == zenoh.Encoding.ZENOH_BYTES,
)
for value in (
    zenoh.Priority.DATA,
    zenoh.Priority.DEFAULT,
    zenoh.CongestionControl.BLOCK,
    zenoh.QueryTarget.ALL,
    zenoh.ConsolidationMode.AUTO,
    zenoh.Reliability.RELIABLE,
    zenoh.Locality.ANY,
    zenoh.SampleKind.DELETE,
    zenoh.WhatAmI.ROUTER,
):
    print(value, value == type(value).__dict__.get("X"))
print(int(zenoh.Priority.REAL_TIME), zenoh.Priority.MIN == zenoh.Priority.BACKGROUND)
print(zenoh.WhatAmIMatcher("router|peer"), zenoh.WhatAmIMatcher.empty().client())
