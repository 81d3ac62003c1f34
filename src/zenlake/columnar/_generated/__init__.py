"""GENERATED from zenlake/wire/definitions by `make generate`. Do not edit."""
