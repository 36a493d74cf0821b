"""How the encrypted file of keys is laid out; reads and writes the shape, knows no cipher.

A line of JSON (format, version, the parameters and the salt of the key's derivation), then nonce
and ciphertext, then a SHA-256 of all of it. The sum is no protection, the cipher has its own; it
tells a damaged file from a wrong passphrase, which are the same thing to a cipher.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

VERSION = 1
BEGINNING = b'{"format": "nacre-keys", "version": '
HEADER_LIMIT = 1024
FILE_LIMIT = 1024 * 1024
NONCE = 12
TAG = 16
SUM = 32
SALT = 16
COST = 2**16
"""A fifth of a second and 64 MB for each guess."""

_VERSION = re.compile(re.escape(BEGINNING) + rb"([0-9]{1,9})[,}]")


class Foreign(Exception):
    """Nacre did not write this."""


class Newer(Exception):
    """A newer Nacre wrote this."""


class Damaged(Exception):
    """Nacre wrote this, and it has changed since."""


@dataclass(frozen=True, slots=True)
class Header:
    """How the passphrase becomes the cipher's key; `n`, `r`, `p` are scrypt's (PLATFORM §3.3)."""

    salt: bytes
    n: int = COST
    r: int = 8
    p: int = 1

    def line(self) -> bytes:
        """The first line; it is the cipher's associated data, so it can't be changed either."""
        fields = {
            "format": "nacre-keys",
            "version": VERSION,
            "cipher": "AES-256-GCM",
            "kdf": "scrypt",
            "n": self.n,
            "r": self.r,
            "p": self.p,
            "salt": self.salt.hex(),
        }
        return json.dumps(fields).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A whole file, taken apart."""

    header: Header
    nonce: bytes
    ciphertext: bytes

    def data(self) -> bytes:
        """The file's bytes."""
        whole = self.header.line() + self.nonce + self.ciphertext
        return whole + hashlib.sha256(whole).digest()


def parse(data: bytes) -> Sealed:
    """Takes a file apart. Raises Foreign, Newer or Damaged."""
    if not data:
        raise Damaged("it is empty")
    version = _VERSION.match(data)
    if version is None:
        raise Foreign("another beginning")
    if int(version[1]) > VERSION:
        raise Newer(f"version {int(version[1])}")
    whole, total = data[:-SUM], data[-SUM:]
    if hashlib.sha256(whole).digest() != total:
        raise Damaged("the sum at its end does not fit")
    line, newline, rest = whole[:HEADER_LIMIT].partition(b"\n")
    if not newline:
        raise Damaged("no end of the first line")
    rest = whole[len(line) + 1 :]
    if len(rest) < NONCE + TAG:
        raise Damaged("too short")
    header = _header(line)
    if header.line() != line + newline:
        raise Damaged("another first line than its fields make")
    return Sealed(header, rest[:NONCE], rest[NONCE:])


def _header(line: bytes) -> Header:
    """Only parameters that Nacre could have chosen: others would take any time and memory."""
    try:
        fields: Any = json.loads(line)
        header = Header(
            bytes.fromhex(fields["salt"]), int(fields["n"]), int(fields["r"]), int(fields["p"])
        )
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"the first line: {type(error).__name__}") from error
    powers = {2**power for power in range(10, 19)}
    known = header.n in powers and header.r == 8 and header.p in (1, 2)
    if not known or len(header.salt) != SALT:
        raise Damaged("parameters that Nacre does not use")
    return header
