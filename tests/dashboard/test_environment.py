"""Variables that cannot be right: each ends the start with a sentence that names it."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from backups.runs.prices import require_known_items
from dashboard.alerts.mail_server import mail_carrier
from dashboard.environment import env_int, env_prices


@pytest.mark.parametrize("text", ["0", "-1", "24", "six", "1.5", "9" * 30])
def test_a_number_out_of_its_bounds_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVEE_HOURS", text)

    with pytest.raises(ImproperlyConfigured, match=r"^LEVEE_HOURS is '.*': write a whole number from 1 to 23\.$"):
        env_int("LEVEE_HOURS", 6, most=23)


@pytest.mark.parametrize(("text", "number"), [("", 6), (" 7 ", 7), ("23", 23)])
def test_a_number_within_them_is_read(text: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVEE_HOURS", text)

    assert env_int("LEVEE_HOURS", 6, most=23) == number


@pytest.mark.parametrize("text", ["copy_thousand", "=1", "copy_thousand=free", "copy_thousand=-1", "copy_thousand=NaN"])
def test_a_price_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEVEE_PRICES", f"batch_job=0.25,{text}")

    with pytest.raises(ImproperlyConfigured, match=r"^LEVEE_PRICES has"):
        env_prices("LEVEE_PRICES")


def test_a_price_of_something_unknown_is_refused() -> None:
    require_known_items({"copy_thousand": "0.004"})
    with pytest.raises(ImproperlyConfigured, match="LEVEE_BACKUP_PRICES has 'copies'"):
        require_known_items({"copies": "0.004"})


@pytest.mark.parametrize(
    "url", ["banana", "smtp://", "http://mail", "smtp://mail:99999", "smtp://[::1", "https://levee:secret@mail"]
)
def test_a_mail_server_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^LEVEE_SMTP_URL: write") as caught:
        mail_carrier(url)
    assert "secret" not in str(caught.value)
