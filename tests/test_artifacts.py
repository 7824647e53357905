"""What a run leaves behind is kept by its hash, checked whenever it is read, and never reaches out of its folder."""

import hashlib
import os
import stat

import pytest

from falsify.artifacts import ArtifactStore, Found, Stored, collect
from falsify.errors import DamagedError, InvalidInputError, NotFoundError, UnavailableError

CONTENT = b"weights" * 1000
STORED = Stored(hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def damage(path, content):
    path.chmod(0o600)
    path.write_bytes(content)


# --- the store -------------------------------------------------------------------------------------------------


def test_what_is_put_is_read_again_by_its_hash_and_lies_there_once(store, out, tmp_path):
    (out / "model.bin").write_bytes(CONTENT)
    assert [store.put(CONTENT), store.put(CONTENT), store.put_file(out / "model.bin")] == [STORED] * 3
    assert store.read(STORED.sha256) == CONTENT
    assert files(tmp_path / "artifacts") == [f"{STORED.sha256[:2]}/{STORED.sha256[2:]}"]
    assert store.path(STORED.sha256).read_bytes() == CONTENT
    assert stat.S_IMODE(store.path(STORED.sha256).stat().st_mode) == 0o400


@pytest.mark.parametrize("content", [b"", b"x", bytes(3_000_000)])
def test_artifacts_of_any_size_are_the_same_put_as_bytes_and_as_a_file(store, out, content):
    (out / "file").write_bytes(content)
    expected = Stored(hashlib.sha256(content).hexdigest(), len(content))
    assert store.put_file(out / "file") == expected
    assert (store.read(expected.sha256), store.check(*_both(expected))) == (content, "")
    assert store.put(content) == expected


def _both(stored):
    return stored.sha256, stored.size


@pytest.mark.parametrize(("limit", "read"), [(0, b""), (3, CONTENT[:3]), (10**9, CONTENT)])
def test_the_first_bytes_of_an_artifact_can_be_read_alone(store, limit, read):
    store.put(CONTENT)
    assert store.read(STORED.sha256, limit=limit) == read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CONTENT[:-1] + b"X", "is not what was stored"),
        (CONTENT[:-1], "has 6999 bytes, not 7000"),
        (CONTENT + b"x", "has 7001 bytes, not 7000"),
        (b"", "has 0 bytes, not 7000"),
    ],
)
def test_an_artifact_that_was_changed_is_not_read_but_named_and_mended_when_it_is_put_again(store, content, said):
    store.put(CONTENT)
    damage(store.path(STORED.sha256), content)
    with pytest.raises(DamagedError, match=STORED.sha256):
        store.read(STORED.sha256, limit=1)
    assert store.check(STORED.sha256, STORED.size) == f"artifact {STORED.sha256} {said}"
    assert store.put(CONTENT) == STORED
    assert (store.read(STORED.sha256), store.check(STORED.sha256, STORED.size)) == (CONTENT, "")


def test_an_artifact_that_is_missing_is_named(store):
    with pytest.raises(NotFoundError, match=STORED.sha256):
        store.read(STORED.sha256)
    assert store.check(STORED.sha256, 3) == f"artifact {STORED.sha256} is missing"


def test_a_size_that_is_not_the_artifacts_is_wrong(store):
    store.put(CONTENT)
    assert store.check(STORED.sha256, 3) == f"artifact {STORED.sha256} has 7000 bytes, not 3"


@pytest.mark.parametrize(
    "sha256",
    ["", "ab", "../" * 21 + "a", "/etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n", "\uff11" * 64],
)
def test_what_is_no_hash_never_becomes_a_path(store, sha256):
    for ask in (store.path, store.read, lambda sha256: store.check(sha256, 1)):
        with pytest.raises(InvalidInputError, match="is no sha256"):
            ask(sha256)


def test_nothing_is_left_of_an_artifact_that_could_not_be_written(store, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("falsify.artifacts.os.fsync", full)
    with pytest.raises(UnavailableError, match="No space left"):
        store.put(CONTENT)
    assert files(tmp_path / "artifacts") == []


def test_where_no_folder_can_be_made_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UnavailableError):
        ArtifactStore(tmp_path / "file" / "artifacts").put(b"x")


# --- files a run left behind -----------------------------------------------------------------------------------


def test_a_link_or_a_special_file_is_never_kept(store, out, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (out / "link").symlink_to(secret)
    os.mkfifo(out / "fifo")
    for path in (out / "link", out / "fifo", out):
        with pytest.raises(InvalidInputError):
            store.put_file(path)
    assert not (tmp_path / "artifacts").exists()


def test_no_link_below_the_folder_of_a_run_is_followed_and_not_the_folder_itself(store, out, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret").write_text("secret")
    (out / "sub").symlink_to(tmp_path / "other")
    (tmp_path / "linked").symlink_to(tmp_path / "other")
    for path, within in (
        (out / "sub" / "secret", out),
        (tmp_path / "linked" / "secret", tmp_path / "linked"),
        (out / ".." / "other" / "secret", out),
        (tmp_path / "other" / "secret", out),
        (out, out),
    ):
        with pytest.raises(InvalidInputError):
            store.put_file(path, within=within)
    assert store.put_file(tmp_path / "other" / "secret", within=tmp_path).size == 6


def test_a_file_that_is_gone_cannot_be_kept(store, out):
    with pytest.raises(UnavailableError, match="No such file"):
        store.put_file(out / "gone", within=out)


def test_the_regular_files_of_a_folder_are_found_by_name_and_the_rest_with_the_reason(out, tmp_path):
    (out / "sub" / "deep").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "sub-b.txt"):
        (out / name).write_text(name)
    (out / "passwd").symlink_to("/etc/passwd")
    (out / "up").symlink_to(tmp_path)
    (out / "dangling").symlink_to("nowhere")
    os.mkfifo(out / "fifo")
    (out / "two\nlines").touch()
    found, left_out = collect(out, max_files=100, max_bytes=1000)
    assert found == [
        Found(name, out / name, len(name)) for name in ("a.txt", "b.txt", "sub-b.txt", "sub/c.txt", "sub/deep/d.txt")
    ]
    assert left_out == [
        "dangling: it is a link",
        "fifo: it is no regular file",
        "passwd: it is a link",
        "'two\\nlines': its name is not text",
        "up: it is a link",
    ]


def test_a_name_that_is_no_text_is_left_out(out):
    try:
        (out / os.fsdecode(b"\xff")).touch()
    except OSError:
        pytest.skip("this file system takes names that are text only")
    assert collect(out, max_files=9, max_bytes=9) == ([], ["'\\udcff': its name is not text"])


def test_a_folder_that_is_a_link_or_not_there_has_no_files(out, tmp_path):
    (out / "a").touch()
    (tmp_path / "linked").symlink_to(out)
    assert collect(tmp_path / "linked", max_files=9, max_bytes=9) == ([], ["linked: it is a link"])
    assert collect(tmp_path / "nowhere", max_files=9, max_bytes=9) == ([], [])


def test_a_file_that_would_be_too_much_is_left_out_and_a_smaller_one_after_it_is_not(out):
    for name, size in (("a", 4), ("b", 7), ("c", 6), ("d", 1)):
        (out / name).write_bytes(bytes(size))
    found, left_out = collect(out, max_files=9, max_bytes=10)
    assert ([each.name for each in found], left_out) == (
        ["a", "c"],
        [f"{n}: it would make more than 10 bytes" for n in "bd"],
    )


def test_of_many_files_the_first_are_found(out):
    for number in range(5):
        (out / f"{number}").touch()
    found, left_out = collect(out, max_files=3, max_bytes=10)
    assert [each.name for each in found] == ["0", "1", "2"]
    assert left_out == ["there are more than 3 files: the rest is left out"]
    assert collect(out, max_files=5, max_bytes=10)[1] == []


def test_of_much_that_is_left_out_some_is_named_and_the_rest_counted(out):
    for number in range(250):
        (out / f"{number:03}").symlink_to("x")
    assert collect(out, max_files=3, max_bytes=10) == (
        [],
        [*(f"{number:03}: it is a link" for number in range(100)), "and 150 more"],
    )


def test_folders_may_be_nested_deeper_than_a_path_can_say(out):
    descriptor = os.open(out, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("x" * 200, dir_fd=descriptor)
        below = os.open("x" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    found, (left_out,) = collect(out, max_files=3, max_bytes=10)
    assert (found, left_out.rpartition(": ")[2]) == ([], "File name too long")
