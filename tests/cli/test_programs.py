"""Compiled programs are kept between runs, and nothing that happens to them reaches a run."""

import os
import sys
import threading
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import compilation_cache as jaxs

from cli.test_fit import run_here
from shoal.cli import compiling
from shoal.cli.compiling import keep_programs, keeping, user_cache
from shoal.cli.programs import ENDING, Programs


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """This process keeps its programs in a folder of its own, and what was before comes back."""
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    for name in ("_cache", "_cache_initialized"):
        monkeypatch.setattr(jaxs, name, getattr(jaxs, name))
    before = jax.config.jax_persistent_cache_min_compile_time_secs
    yield partial(keep_programs, shortest=0.0)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", before)


def programs_in(folder):
    return sorted(folder.glob(f"*{ENDING}"))


def compiled_anew(x):
    """A result by a program that this process has to compile, or to find."""
    jax.clear_caches()

    @jax.jit
    def curve(x):
        return jnp.sum(jnp.cumsum(jnp.tanh(x)) ** 3) / 7.5

    return float(curve(x))


def test_a_program_is_found_again_and_gives_the_same_bits(kept, monkeypatch):
    x = jnp.asarray(np.linspace(0.0, 3.0, 101))
    folder = kept().folder
    first = compiled_anew(x)
    written = programs_in(folder)
    assert written
    found = []
    get = Programs.get

    def noted(self, key):
        program = get(self, key)
        found.append(program is not None)
        return program

    monkeypatch.setattr(Programs, "get", noted)
    assert compiled_anew(x) == first
    assert found and all(found)
    assert programs_in(folder) == written


DAMAGE = {
    "a changed byte": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "half of it": lambda content: content[: len(content) // 2],
    "nothing": lambda content: b"",
    "another thing": lambda content: b"#!/bin/sh\necho hello\n" * 99,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_program_is_compiled_anew_without_a_word(damage, kept):
    x = jnp.asarray(np.linspace(0.0, 3.0, 103))
    folder = kept().folder
    first = compiled_anew(x)
    whole = {path: path.read_bytes() for path in programs_in(folder)}
    for path, content in whole.items():
        path.write_bytes(damage(content))
    assert compiled_anew(x) == first  # and no warning, which would be an error here
    assert all(path.stat().st_size > 100 for path in whole)
    assert all(path.read_bytes() != damage(content) for path, content in whole.items())


def test_a_program_is_not_taken_for_another(tmp_path):
    store = Programs(tmp_path / "here")
    store._path.mkdir()
    store.put("one", b"1" * 500)
    store.put("other", b"2" * 500)
    one, other = (store._place(key) for key in ("one", "other"))
    one.replace(other)
    assert store.get("other") is None
    assert not other.exists()


def test_a_full_disk_ends_the_keeping_and_nothing_else(tmp_path, monkeypatch):
    store = Programs(tmp_path)
    tries = []

    def full(*args, **kwargs):
        tries.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    for key in "abc":
        store.put(key, b"program")
        assert store.get(key) is None
    assert len(tries) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_goes_away_is_nobodys_trouble(tmp_path):
    store = Programs(tmp_path / "gone")
    store.put("a", b"program")
    assert store.get("a") is None


def test_what_was_used_longest_ago_goes_first_also_of_other_releases(tmp_path):
    old, new = tmp_path / "jax-old", tmp_path / "jax-new"
    for folder in (old, new):
        folder.mkdir()
    for number in range(4):
        Programs(old).put(f"old{number}", bytes(1000))
        Programs(new).put(f"new{number}", bytes(1000))
    for path in programs_in(old):
        os.utime(path, (1e9, 1e9))
    (old / "left.new").write_bytes(bytes(1000))  # by a run that was killed
    os.utime(old / "left.new", (1e8, 1e8))
    (old / "notes.txt").write_bytes(bytes(9000))
    Programs(new, most=7000)
    assert len(programs_in(new)) == 4
    assert len(programs_in(old)) == 0
    assert [path.name for path in old.iterdir()] == ["notes.txt"]


def test_many_may_read_and_write_at_the_same_time(tmp_path):
    content = {f"key{n}": bytes([n]) * 200_000 for n in range(4)}
    wrong = []

    def work(seed):
        store, rng = Programs(tmp_path), np.random.default_rng(seed)
        for _ in range(40):
            key = f"key{rng.integers(4)}"
            store.put(key, content[key])
            if store.get(key) not in (content[key], None):
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(programs_in(tmp_path)) == 4
    assert all(Programs(tmp_path).get(key) == value for key, value in content.items())
    assert not list(tmp_path.glob("*.new"))


def test_where_programs_are_kept_is_the_users_to_say(tmp_path, monkeypatch):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("SHOAL_CACHE", "off")
    assert keeping().folder is None and "SHOAL_CACHE=off" in keeping().reason
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "mine"))
    folder = keeping().folder
    assert folder.parent == tmp_path / "mine" / "programs"
    assert jax.__version__ in folder.name
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    assert keeping().folder is None and "JAX_COMPILATION_CACHE_DIR" in keeping().reason


@pytest.mark.parametrize(
    ("release", "before", "after"),
    [
        ("0.10.2", None, compiling.OLDER_WAY),
        ("0.10.9", "--xla_dump_to=x", f"--xla_dump_to=x {compiling.OLDER_WAY}"),
        ("0.10.2", "--xla_cpu_use_fusion_emitters=true", "--xla_cpu_use_fusion_emitters=true"),
        ("0.11.0", "", ""),
        ("1.0.10.3", None, None),
    ],
)
def test_programs_are_made_quickly_where_xla_knows_how(release, before, after, monkeypatch):
    monkeypatch.setattr(compiling, "version", lambda _: release)
    monkeypatch.setenv("XLA_FLAGS", "")
    if before is None:
        monkeypatch.delenv("XLA_FLAGS")
    else:
        monkeypatch.setenv("XLA_FLAGS", before)
    compiling.compile_quickly()
    assert os.environ.get("XLA_FLAGS") == after


def test_the_installed_xla_is_one_that_knows_how():
    assert compiling.version("jaxlib").startswith(compiling.KNOWN_SERIES)


def test_the_name_of_the_folder_follows_the_processor(monkeypatch):
    names = set()
    for flags in (["flags : sse avx"], ["flags : sse avx avx512f"]):
        monkeypatch.setattr(compiling, "_abilities", lambda flags=flags: flags)
        names.add(compiling._for_this_machine())
    assert len(names) == 2


def test_a_place_that_cannot_be_written_or_that_others_can_write_to_is_not_used(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    (tmp_path / "file").write_text("here")
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "file" / "below"))
    assert keeping().folder is None and "cannot be made" in keeping().reason
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "open"))
    keeping().folder.chmod(0o777)
    assert keeping().folder is None and "others may write" in keeping().reason


def test_the_users_cache_folder_is_that_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "shoal"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert user_cache() == tmp_path / "home" / ".cache" / "shoal"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_cache() == tmp_path / "home" / "Library" / "Caches" / "shoal"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert user_cache() == tmp_path / "local" / "shoal"


def test_commands_that_compute_keep_their_programs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr(compiling, "keep_programs", lambda: asked.append(1))
    for words in (("fit", "nothing.csv"), ("check", "no.nc"), ("simulate", "no.nc")):
        assert run_here(capsys, monkeypatch, *words)[0] == 2
    assert len(asked) == 3
    assert run_here(capsys, monkeypatch, "features")[0] == 0
    assert len(asked) == 3
