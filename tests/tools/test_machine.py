"""Nothing is installed on a machine whose owner did not ask for it."""

import os
import stat
import time

import pytest

from tools import machine


@pytest.mark.parametrize(
    ("user", "asked", "installs"),
    [(0, {}, False), (0, {"LEVEE_APT": "0"}, False), (1000, {"CI": "1"}, False), (0, {"CI": "1"}, True),
     (0, {"LEVEE_APT": "1"}, True)],
)  # fmt: skip
def test_packages_are_installed_by_root_where_somebody_asked(monkeypatch, tmp_path, user, asked, installs):
    for name in ("CI", "LEVEE_APT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls; case "$*" in *17*) exit 100;; esac\n')
    apt.chmod(apt.stat().st_mode | stat.S_IXUSR)

    assert machine.apt_install("openjdk-17-jre-headless", "openjdk-21-jre-headless") is installs
    calls = (tmp_path / "calls").read_text().splitlines() if installs else ["openjdk-21-jre-headless"]
    assert calls[-1].endswith("openjdk-21-jre-headless")
    assert (tmp_path / "calls").exists() is installs


def test_what_takes_long_says_that_it_goes_on(capsys):
    with machine.telling_seconds("install", every=0.01):
        time.sleep(0.05)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "  install: 0 s so far"
    assert said[-1].endswith(" s")
