"""Templates as Python compiled them, kept beside the compiled modules: compiling them took longer than filling them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from jinja2.bccache import Bucket, FileSystemBytecodeCache


class CompiledTemplates(FileSystemBytecodeCache):
    """A folder of compiled templates. Where nothing can be written, they are compiled each time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), "%s.template")

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
