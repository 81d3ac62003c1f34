"""The pages in `docs/` that are printed from tables of this package."""
