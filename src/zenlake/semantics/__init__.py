"""The rules of Zenoh that several packages apply: pure functions, one home for each rule.

A node applies them to live messages, `trace`, `why`, `rules` and `lake` to recorded ones. This
package imports only `wire` and `keyexpr`, so that all of these may import it.
"""
