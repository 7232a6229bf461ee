"""Databases by name: where they are and how one is let in stands in the steward's file or environment, never in a
policy. What is secret here is in no message, no manifest and no list of processes.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from medveil.errors import InputError, did_you_mean

SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}


@dataclass(frozen=True)
class Connection:
    """A database: its name for people, which kind it is, and the address with everything that opens it."""

    name: str
    kind: str
    address: str = field(repr=False)


@dataclass(frozen=True)
class Connections:
    """The databases that a policy may name. `addresses` are as a file or the environment gives them."""

    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)

    def find(self, name: str) -> Connection:
        if name not in self.addresses:
            known = did_you_mean(name, self.addresses) if self.addresses else "None is named."
            raise InputError(
                f"There is no connection called '{name}'. {known}",
                "Name it in the file of MEDVEIL_CONNECTIONS, or as MEDVEIL_CONNECTION_NAME=ADDRESS in the environment.",
            )
        address = self.addresses[name]
        kind = SCHEMES.get(address.partition(":")[0].lower())
        if kind is None:
            raise InputError(
                f"The connection '{name}' is of a kind that medveil does not know.",
                "Write an address such as postgresql://reader@host/database or sqlite:///folder/file.db.",
            )
        return Connection(name, kind, address)


def read_connections(path: Path) -> Connections:
    """The steward's file: a name and an address on each line, or `{uri: ..., password_file: ...}`. Nobody else may
    read it.
    """
    refused = InputError(
        f"'{path.name}' is not a file of connections.",
        "Write 'NAME: postgresql://reader@host/database' on each line, or 'NAME: {uri: ..., password_file: ...}'.",
    )
    try:
        mode = path.stat().st_mode
        content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"The file of connections '{path.name}' cannot be opened.", "Check that it exists.") from None
    except (YAMLError, ValueError):  # its message would show a line of the file
        raise refused from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            f"Others may read the file of connections '{path.name}'.", f"Keep it to yourself: chmod 600 {path.name}."
        )
    if not isinstance(content, Mapping):
        raise refused
    found = {}
    for name, entry in content.items():
        if isinstance(entry, str):
            found[str(name)] = entry
        elif (
            isinstance(entry, Mapping) and isinstance(entry.get("uri"), str) and set(entry) <= {"uri", "password_file"}
        ):
            found[str(name)] = _with_password(entry["uri"], entry.get("password_file"), path.parent)
        else:
            raise refused
    return Connections(found)


def _with_password(address: str, file: object, folder: Path) -> str:
    if file is None:
        return address
    try:
        secret = (folder / str(file)).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise InputError("The password file of a connection cannot be opened.", "Check that it exists.") from None
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:{quote(secret, safe='')}@{host}"))
