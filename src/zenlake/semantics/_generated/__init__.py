"""Modules that are written from the documents, and checked in."""
