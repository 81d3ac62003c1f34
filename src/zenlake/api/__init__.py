"""What users import: the names, arguments and exceptions of eclipse-zenoh.

Values that need no network live one noun per file and import nothing but `wire`, `keyexpr`
and `session.sink`. `zenlake` itself loads each of them when it is first asked for.
"""
