"""Files that come in with a form, written to the disk while they come."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from medveil.errors import InputError

FIELD = "file"
MOST_HEADERS = 16 << 10
_UNSAFE = re.compile(r"[^\w.\- ()]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
LONGEST_NAME = 100
MOST_FILES = 100


def safe_name(given: str) -> str:
    r"""A name for a file that leads nowhere and means nothing to the system; its ending stays.

    >>> [safe_name(name) for name in ("a.csv", "../../etc/passwd", "C:\\x\\b.csv", "..", "<s>.csv", ".bash")]
    ['a.csv', 'passwd', 'b.csv', 'data', '_s_.csv', 'bash']
    """
    last = re.split(r"[/\\\x00]", unicodedata.normalize("NFC", given))[-1]
    name = _UNSAFE.sub("_", last).strip(" .")
    if not name or _RESERVED.fullmatch(name):
        return "data"
    stem, dot, ending = name.partition(".") if len(name) > LONGEST_NAME else (name, "", "")
    return f"{stem[: LONGEST_NAME - len(ending[:20]) - 1]}{dot}{ending[-20:]}" if dot else name[:LONGEST_NAME]


class ReceivedUpload:
    """What a form brought: the files under `FIELD` on the disk, under names that are safe."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder = folder
        self.most = most
        self.names: list[str] = []
        self.size = 0
        self._begun = 0
        self._header = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._headers_read = 0
        self._descriptor: int | None = None

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._content,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_end,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._header, self._value, self._headers_read = {}, b"", b"", 0

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._header += self._counted(data[start:end])

    def _content(self, data: bytes, start: int, end: int) -> None:
        self._value += self._counted(data[start:end])

    def _counted(self, part: bytes) -> bytes:
        self._headers_read += len(part)
        if self._headers_read > MOST_HEADERS:
            raise InputError("The form is not one of the studio's.")
        return part

    def _header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _headers_end(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        given = options.get(b"filename", b"").decode("utf-8", "replace")
        if options.get(b"name") != FIELD.encode() or not given:
            return
        name = safe_name(given)
        if name in self.names:
            raise InputError("Two of the files have one name.", "Tables are called after their files: rename one.")
        if len(self.names) == MOST_FILES:
            raise InputError(
                f"These are more than {MOST_FILES} files.", "Choose their folder on this computer instead."
            )
        self.names.append(name)
        self._begun = self.size
        self._descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._descriptor is None:
            return
        self.size += end - start
        if self.size > self.most:
            raise InputError(
                f"That is more than {self.most / 1e9:,.0f} GB.",
                "Choose it on this computer instead of uploading it, or use the command line.",
            )
        os.write(self._descriptor, data[start:end])

    def _end(self) -> None:
        if self._descriptor is not None and self.size == self._begun:
            raise InputError("The file is empty.", "Choose one that has a header line and records.")
        self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


async def receive(request: Request, folder: Path, most: int) -> ReceivedUpload:
    """Write the files of a form into a folder; nothing of them is kept in memory."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise InputError("No file came with the form.", "Choose one.")
    received = ReceivedUpload(folder, most)
    parser = MultipartParser(options[b"boundary"], received.callbacks())  # type: ignore[arg-type]
    try:
        async for chunk in request.stream():
            parser.write(chunk)
        parser.finalize()
    except ClientDisconnect:
        raise InputError("The upload was broken off.", "Try it again.") from None
    except OSError:
        raise InputError("The upload cannot be written.", "Is the disk full?") from None
    except ValueError:
        raise InputError("The upload is damaged.", "Try it again.") from None
    finally:
        received.close()
    if not received.names:
        raise InputError("No file came with the form.", "Choose one.")
    return received
