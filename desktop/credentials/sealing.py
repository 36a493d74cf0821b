"""The cipher of the encrypted file: AES-256-GCM under a key that scrypt makes of a passphrase.

The only module that imports cryptography, and on the store's thread only: making the key takes a
fifth of a second and 64 MB on purpose.
"""

import json
import os
import unicodedata
from typing import Any, NoReturn, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from desktop.credentials.key_format import NONCE, SALT, Damaged, Header, Sealed
from desktop.credentials.secret import Secret


class WrongPassphrase(Exception):
    """The passphrase is not the one with which the file was written."""


@final
class Seal:
    """A passphrase, made into a key for one header. Shows nothing of it."""

    __slots__ = ("__cipher", "header")

    def __init__(self, header: Header, passphrase: Secret) -> None:
        self.header = header
        kdf = Scrypt(salt=header.salt, length=32, n=header.n, r=header.r, p=header.p)
        self.__cipher = AESGCM(kdf.derive(_bytes(passphrase)))

    def close(self, entries: dict[str, str]) -> bytes:
        """The bytes of a file with these entries, under a fresh nonce."""
        nonce = os.urandom(NONCE)
        text = json.dumps({"keys": entries}).encode("ascii")
        return Sealed(
            self.header, nonce, self.__cipher.encrypt(nonce, text, self.header.line())
        ).data()

    def open(self, sealed: Sealed) -> dict[str, str]:
        """The entries of a file with this seal's header. Raises WrongPassphrase or Damaged."""
        try:
            text = self.__cipher.decrypt(sealed.nonce, sealed.ciphertext, self.header.line())
        except InvalidTag:
            raise WrongPassphrase from None
        try:
            keys: Any = json.loads(text)["keys"]
            return {str(account): str(secret) for account, secret in keys.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            # The parser's error holds the text.
            raise Damaged("its contents are no entries") from None

    def __repr__(self) -> str:
        return "Seal(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        del protocol
        raise TypeError("a seal is not copied or pickled")


def new_seal(passphrase: Secret, cost: int) -> Seal:
    """A seal for a file that does not exist yet."""
    return Seal(Header(os.urandom(SALT), n=cost), passphrase)


def _bytes(passphrase: Secret) -> bytes:
    """The same letters give the same bytes, whichever keyboard composed them."""
    return unicodedata.normalize("NFC", passphrase.reveal()).encode("utf-8", "surrogatepass")
