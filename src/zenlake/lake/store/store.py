"""A lake: what it holds now, and the way to change it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.layout import Layout
from zenlake.lake.store.manifest import Manifest, read_manifest
from zenlake.lake.store.run import Run, running
from zenlake.lake.store.snapshot import Snapshot


class Store:
    """The lake in a folder, which need not exist yet."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._layout = Layout(Path(directory))

    @property
    def directory(self) -> Path:
        return self._layout.root

    def version(self) -> int | None:
        """The version that readers see; None where there is none yet."""
        self._layout.check()
        return self._layout.current_version()

    def manifest(self) -> Manifest:
        """What is in the current version; empty where there is none yet."""
        version = self.version()
        while version is not None:
            try:
                return read_manifest(self._layout.manifest(version), version)
            except FileNotFoundError:
                # Either it is gone, or others published so fast that it is not kept any more.
                newer = self._layout.current_version()
                if newer == version:
                    place = self._layout.manifest(version)
                    raise LakeError("the manifest is missing", place) from None
                version = newer
        return Manifest()

    def snapshot(self) -> Snapshot:
        """The current version, to be read at leisure; error where there is none yet."""
        manifest = self.manifest()
        if not manifest.version:
            raise LakeError("there is no lake", self.directory)
        # Resolved, because the folder of a reader may change while it reads.
        directory = self._layout.version(manifest.version).resolve()
        return Snapshot(manifest.version, directory, manifest)

    def files(self, table: str) -> list[Path]:
        """The Parquet files of a table, all of one version."""
        return self.snapshot().files(table)

    @contextmanager
    def begin(self) -> Iterator[Run]:
        """Takes the lock for one change; what killed runs left behind is removed first."""
        self._layout.check()
        with running(self._layout, self.manifest) as run:
            yield run
