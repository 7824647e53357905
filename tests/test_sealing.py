"""Keys: one for each subject, made whole or not at all, readable by their owner alone, and gone when destroyed."""

import os
import stat
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falsify.brain.events import Sealed
from falsify.errors import DamagedError, UnavailableError
from falsify.sealing import Keyring


@pytest.fixture
def keys(tmp_path):
    return Keyring(tmp_path / "keys")


def test_what_is_sealed_is_opened_with_the_key_of_its_subject_alone(keys):
    ada, bob = keys.seal("ada", "a secret"), keys.seal("bob", "another")
    assert (keys.unseal(ada), keys.unseal(bob)) == ("a secret", "another")
    assert (keys.subject_of(ada), keys.subject_of(bob)) == ("ada", "bob")
    with pytest.raises(DamagedError):
        keys.unseal(Sealed(key=bob.key, box=ada.box))


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_comes_back_and_is_never_sealed_alike(tmp_path_factory, text):
    keys = Keyring(tmp_path_factory.mktemp("keys"))
    one, two = keys.seal("ada", text), keys.seal("ada", text)
    assert (keys.unseal(one), keys.unseal(two)) == (text, text)
    assert one.box != two.box


def test_nothing_of_text_or_subject_shows_in_what_is_kept(keys):
    sealed = keys.seal("ada-lovelace", "a secret")
    assert not [word for word in ("lovelace", "secret") if word in sealed.key + sealed.box]


def test_the_files_are_their_owners_alone_and_no_repository_takes_them(keys):
    keys.seal("ada", "x")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (keys.folder, keys.folder / "ada.key")}
    assert modes == {"keys": 0o700, "ada.key": 0o600}
    assert (keys.folder / ".gitignore").read_text().splitlines()[-1] == "*"
    assert sorted(path.name for path in keys.folder.iterdir()) == [".gitignore", "ada.key"]


@pytest.mark.parametrize("subject", ["agent:Scribe", "agent:scribe", "../up", "UPPER", "a" * 65, "with space"])
def test_names_that_a_file_system_might_confuse_have_files_of_their_own(keys, subject):
    sealed = keys.seal(subject, "x")
    [file] = keys.folder.glob("*.key")
    assert (file.name[0], keys.subject_of(sealed)) == ("_", subject)


def test_a_destroyed_key_opens_nothing_for_nobody(keys):
    sealed, elsewhere = keys.seal("ada", "x"), Keyring(keys.folder)
    assert elsewhere.unseal(sealed) == "x"
    secret = (keys.folder / "ada.key").read_bytes()
    twin = keys.folder / "twin"
    os.link(keys.folder / "ada.key", twin)
    assert keys.destroy("ada")
    keys.forget("ada")
    assert [ring.unseal(sealed) for ring in (keys, elsewhere, Keyring(keys.folder))] == [None] * 3
    assert (keys.subject_of(sealed), keys.remains("ada")) == ("", False)
    assert twin.read_bytes() != secret  # it was overwritten where it lay
    assert not keys.destroy("ada")


def test_until_a_destroyed_key_is_forgotten_nothing_can_be_sealed_with_a_new_one(keys):
    keys.seal("ada", "x")
    keys.destroy("ada")
    assert (keys.holds("ada"), keys.remains("ada")) == (False, True)
    with pytest.raises(UnavailableError) as caught:
        keys.seal("ada", "y")
    assert caught.value.hint == "finish it with `falsify brain erase-person ada`"


def test_who_comes_back_has_a_new_key_and_the_old_texts_stay_gone(keys):
    old = keys.seal("ada", "old")
    keys.destroy("ada")
    keys.forget("ada")
    new = keys.seal("ada", "new")
    assert (keys.unseal(old), keys.unseal(new), old.key == new.key) == (None, "new", False)


def test_a_key_that_still_opens_is_not_forgotten(keys):
    sealed = keys.seal("ada", "x")
    keys.forget("ada")
    assert keys.unseal(sealed) == "x"


@pytest.mark.parametrize("box", ["", "AAAA", "not base64!", "A" * 64])
def test_an_altered_text_is_damaged_and_not_erased(keys, box):
    sealed = keys.seal("ada", "x")
    with pytest.raises(DamagedError):
        keys.unseal(Sealed(key=sealed.key, box=box))


def test_a_key_that_nobody_has_opens_nothing(keys):
    assert keys.unseal(Sealed(key="0" * 32, box="AAAA")) is None


def test_of_many_that_seal_at_once_all_have_one_key(keys):
    sealed, start = [], threading.Barrier(8)

    def seal(number):
        ring = Keyring(keys.folder)
        start.wait()
        sealed.append(ring.seal("ada", str(number)))

    threads = [threading.Thread(target=seal, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.key for each in sealed}) == 1
    assert sorted(map(keys.unseal, sealed)) == list("01234567")


def test_where_no_key_can_be_made_nothing_is_sealed(tmp_path):
    (tmp_path / "keys").write_text("in the way")
    with pytest.raises(UnavailableError):
        Keyring(tmp_path / "keys").seal("ada", "x")
