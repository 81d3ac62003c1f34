"""The user's interface: the names, arguments and exceptions of eclipse-zenoh.

`values` and `config` need no network: they import nothing but `wire`, `keyexpr` and each other.
`zenlake` loads a module when one of its names is used for the first time.
"""
