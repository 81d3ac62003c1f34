"""GENERATED from zenlake/lake/schema by `make generate`. Do not edit."""
