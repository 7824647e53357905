"""Sealing: what is personal is kept encrypted with a key of the person it is about, and goes when the key is destroyed.

The keys lie in a folder of their own, one file for each subject, apart from the log: an exported or copied log has none
of them. Where copies of that folder are kept is the business of whoever makes them.
"""

import hashlib
import os
import re
import secrets
import stat
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from falsify.brain.events import Sealed
from falsify.errors import DamagedError, UnavailableError

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_FILE: Final = re.compile(r"falsify-key 1 ([0-9a-f]{32}) ([A-Za-z0-9+/=]{44}) ([^\n]{1,200})\n")
_PLAIN_NAME: Final = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Key:
    """A key, the name that sealed texts know it by, and whose it is."""

    name: str
    secret: bytes
    subject: str


class Keyring:
    """The keys in a folder, which is made with the first of them. A subject is any short name: a slug, an identity.

    Keys are read from the disk each time: one that another process destroyed is gone here too.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, Path] = {}

    def seal(self, subject: str, text: str) -> Sealed:
        """Return the text sealed for a subject, with its key or, where it has none (any more), with a new one."""
        key = self._read(self._file(subject)) or self._make(subject)
        nonce = os.urandom(_NONCE_BYTES)
        box = nonce + AESGCM(key.secret).encrypt(nonce, text.encode(), key.name.encode())
        return Sealed(key=key.name, box=b64encode(box).decode())

    def unseal(self, sealed: Sealed) -> str | None:
        """Return the text, or None where its key was destroyed. Raises DamagedError for what was altered."""
        key = self._named(sealed.key)
        if key is None:
            return None
        try:
            box = b64decode(sealed.box, validate=True)
            return AESGCM(key.secret).decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], key.name.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise DamagedError("a sealed text is not what was sealed", hint="run `falsify verify`") from error

    def subject_of(self, sealed: Sealed) -> str:
        """Return for whom a text was sealed, or empty where the key was destroyed."""
        key = self._named(sealed.key)
        return key.subject if key else ""

    def holds(self, subject: str) -> bool:
        """Return whether a subject has a key."""
        return self._read(self._file(subject)) is not None

    def remains(self, subject: str) -> bool:
        """Return whether there is a key of a subject, or what is left of one that was destroyed and not forgotten."""
        return self._file(subject).exists()

    def destroy(self, subject: str) -> bool:
        """Overwrite the key of a subject; return whether there was one. What was sealed with it is gone for good.

        What is left stands in the way of a new key until it is forgotten: nothing can be sealed for somebody who is
        being erased.
        """
        file = self._file(subject)
        try:
            with file.open("r+b") as opened:
                opened.write(os.urandom(os.fstat(opened.fileno()).st_size))
                opened.flush()
                os.fsync(opened.fileno())
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _stuck(file, error) from error
        return True

    def forget(self, subject: str) -> None:
        """Remove what is left of a destroyed key, and write the folder to the disk. A key that still opens stays."""
        file = self._file(subject)
        if self.holds(subject):
            return
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise _stuck(file, error) from error
        if self.folder.is_dir():
            self._sync()

    def _file(self, subject: str) -> Path:
        """Return where the key of a subject lies. A name that some file system would take for another is hashed."""
        if _PLAIN_NAME.fullmatch(subject):
            return self.folder / f"{subject}.key"
        return self.folder / f"_{hashlib.sha256(subject.encode()).hexdigest()[:32]}.key"

    def _named(self, name: str) -> _Key | None:
        """Return the key of a name. Where each lies is remembered; that it still lies there is looked at each time."""
        if file := self._files.get(name):
            key = self._read(file)
            if key is not None and key.name == name:
                return key
        self._files = {key.name: file for file in sorted(self.folder.glob("*.key")) if (key := self._read(file))}
        return self._read(self._files[name]) if name in self._files else None

    def _read(self, file: Path) -> _Key | None:
        try:
            text = file.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UnavailableError(f"the key {file} cannot be read: {error.strerror}") from error
        found = _FILE.fullmatch(text)
        if found is None:
            return None  # what is left of a key that was destroyed
        return _Key(found[1], b64decode(found[2]), found[3])

    def _make(self, subject: str) -> _Key:
        """Make the key of a subject, whole or not at all; of two processes that try, both have the key of one."""
        key = _Key(secrets.token_hex(16), os.urandom(_KEY_BYTES), subject)
        file = self._file(subject)
        draft = self.folder / f".{key.name}.new"
        try:
            self._folder()
            _write(draft, f"falsify-key 1 {key.name} {b64encode(key.secret).decode()} {subject}\n".encode())
            try:
                os.link(draft, file)
            except FileExistsError:
                pass  # another process was faster
            finally:
                draft.unlink()
        except OSError as error:
            raise UnavailableError(
                f"no key can be made in {self.folder}: {error.strerror}", hint="personal text is not kept unsealed"
            ) from error
        self._sync()
        made = self._read(file)
        if made is None:
            raise UnavailableError(
                f"nothing can be sealed for {subject}, whose key was destroyed and not removed",
                hint=f"finish it with `falsify brain erase-person {subject}`",
            )
        return made

    def _folder(self) -> None:
        self.folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(
                "# Keys are not to be shared: without them what is sealed is gone.\n*\n", encoding="utf-8"
            )

    def _sync(self) -> None:
        """Write the folder's entries to the disk, where the system can."""
        with suppress(OSError):  # Windows does not open folders
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _stuck(file: Path, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"the key {file} cannot be destroyed: {error.strerror}", hint="make it writable and try again"
    )


def _write(file: Path, data: bytes) -> None:
    """Write a new file that only its owner may read, and wait until it is on the disk."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
