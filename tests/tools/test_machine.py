import os
import stat

import pytest

from tools import machine, setup


def program(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def java(folder, version):
    return program(folder, "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine whose PATH holds what the test puts there, where nothing may be installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8)])
def test_the_version_of_java_is_read(bare, text, major):
    java(bare, text)
    assert machine.java_version() == major


def test_java_home_comes_before_path(bare, monkeypatch):
    java(bare, "17.0.15")
    java(bare / "home" / "bin", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    assert machine.java_version() == 21


def test_missing_java_is_one_sentence_that_says_what_to_install(bare):
    with pytest.raises(machine.SetupError, match=r"^No Java was found.*openjdk-17-jre-headless.*\.$"):
        machine.require_java()


def test_old_java_is_said_with_its_version(bare):
    java(bare, "11.0.2")
    with pytest.raises(machine.SetupError, match="Java 11 was found"):
        machine.require_java()


def test_nothing_is_installed_by_a_user_who_may_not(bare):
    program(bare, "apt-get", "touch $0.called")
    assert not machine.apt_install("chromium")
    assert not (bare / "apt-get.called").exists()


@pytest.mark.parametrize("asked", [{}, {"LEVEE_APT": "0"}])
def test_nothing_is_installed_unasked(bare, monkeypatch, asked):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("CI", "LEVEE_APT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    program(bare, "apt-get", "touch $0.called")

    assert not machine.apt_install("chromium")
    assert not (bare / "apt-get.called").exists()


@pytest.mark.parametrize("asked", ["CI", "LEVEE_APT"])
def test_root_installs_the_first_alternative_that_there_is(bare, monkeypatch, asked):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv(asked, "1")
    program(bare, "apt-get", f'echo "$@" >> {bare}/calls; case "$*" in *17*) exit 100;; esac')
    assert machine.apt_install("openjdk-17-jre-headless", "openjdk-21-jre-headless")
    assert (bare / "calls").read_text().splitlines()[-1].endswith("openjdk-21-jre-headless")


def test_a_uv_that_does_not_work_is_not_used(bare):
    program(bare, "uv", "exit 127")
    assert setup.uv_on_path() == ""


def test_a_uv_that_works_is_used(bare):
    assert str(program(bare, "uv", "exit 0")) == setup.uv_on_path()
