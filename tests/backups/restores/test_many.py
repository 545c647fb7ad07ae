"""Restoring the tables of a plan as of one moment: which, in which version, and one that fails."""

import html
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from backups.models import Plan, RestorePoint
from backups.queries import many_restores
from backups.queries.many_restores import offered_moment
from backups.restores import jobs, many, many_jobs
from backups.restores.many import plan_restores, points_of, restore_many
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.context import JobCancelled
from dashboard.jobs.models import Job
from lake.points.moments import BEGINNING
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import everything, options, restore
from tests.backups.restores.test_pages import done
from tests.builders.people import person, signed_in
from tests.dashboard.web.markup import flat
from tests.lake.delta.test_restorable_model import objects_of
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")

pytestmark = pytest.mark.django_db

SHOP = {"shop/new": (1,), "shop/orders": (10, 2), "stock": (10, 2)}
"""Tables, with how many hours ago each version of one more row was committed."""


class Shop:
    """A source with tables that were written to at known hours, and their backup by one run."""

    def __init__(self, backup: Backup, folder: Path) -> None:
        self.backup, self.folder = backup, folder
        for table, hours in SHOP.items():
            for version, hours_ago in enumerate(hours):
                self.append(table, version, hours_ago)
        proven(copied_run(backup, SHOP))

    def append(self, table: str, row: int, hours_ago: float) -> None:
        before = set(objects_of(self.folder))
        deltalake.write_deltalake(str(self.folder / table), pa.table({"id": pa.array([row])}), mode="append")
        new = {key: data for key, data in objects_of(self.folder).items() if key not in before}
        self.backup.put_both(new, hours_ago=hours_ago)

    def make_anew(self, table: str) -> None:
        """Drop it at the source, and make another one there, which the next run copies over its log in the backup."""
        lake, backup = self.backup.lake, self.backup
        for key in [key for key, _ in lake.list(backup.source, f"{table}/")]:
            lake.delete(backup.source, key)
            lake.delete(backup.vault, f"pool/{key}") if "_delta_log" in key else None
        (self.folder / table).rename(self.folder.parent / "dropped")
        self.append(table, 7, hours_ago=1)
        proven(copied_run(backup, SHOP))

    def at(self, *, hours_ago: float) -> str:
        return (datetime.now(UTC) - timedelta(hours=hours_ago)).isoformat(timespec="seconds")

    def uri(self, path: str) -> str:
        return f"s3a://{self.backup.source}/{path}"

    def rows(self, uri: str) -> list[int]:
        table = deltalake.DeltaTable(uri, storage_options=options(self.backup))
        query = deltalake.QueryBuilder().register("t", table).execute("SELECT id FROM t ORDER BY id")
        return query.read_all()["id"].to_pylist()


@pytest.fixture
def shop(backup: Backup, tmp_path: Path, by_deltalake: None) -> Shop:
    return Shop(backup, tmp_path / "lake")


def of_plan(capsys: Any, *words: str) -> Any:
    return restore(capsys, *words, "--plan", "warehouse-daily")


def planned(shop: Shop, pattern: str = "", to: str | None = "") -> tuple[Plan, Job, str]:
    job = plan_restores(Actor.command(), shop.backup.plan, pattern, to=to, here=True)
    return shop.backup.plan, job, job.result["plan"]["digest"]


def test_every_table_is_restored_as_it_was_at_one_moment_and_nothing_else_is_written(shop, capsys):
    before = everything(shop.backup.lake, shop.backup.source, shop.backup.vault)
    told = of_plan(capsys, "--at", shop.at(hours_ago=5), "--to", shop.uri("back"), "--apply", "--here")
    assert told["refused"] == "1 of 3 tables that fit were not restored: see above."
    assert [one["state"] for one in told["job"]["outcomes"]] == ["refused", "done", "done"]
    assert shop.rows(shop.uri("back/shop/orders")) == shop.rows(shop.uri("back/stock")) == [0]
    [left] = [one for one in told["restores"] if one["refusal"]]
    assert left["table"] == shop.uri("shop/new")
    assert "No version that can be restored was there" in left["refusal"]["reason"]
    after = everything(shop.backup.lake, shop.backup.source, shop.backup.vault)
    assert {key: after[key] for key in before} == before
    assert all(key.startswith(f"{shop.backup.source}/back/") for key in after.keys() - before.keys())
    audited = AuditEntry.objects.filter(target_type="restore-point", outcome="done", job_id=told["job"]["id"])
    assert {one.target_label for one in audited} == {shop.uri("shop/orders"), shop.uri("stock")}
    again = of_plan(capsys, "--at", shop.at(hours_ago=5), "--to", shop.uri("back"), "--apply", "--enqueue")["job"]["id"]
    busy = restore(capsys, shop.uri("back/stock"), "--remove", "--apply")["job"]["error"]["text"]
    assert f"job {again} works at" in busy
    Job.objects.filter(pk=again).update(state="cancelled")
    assert restore(capsys, shop.uri("back/stock"), "--remove", "--apply")["job"]["state"] == "succeeded"
    left = everything(shop.backup.lake, shop.backup.source, shop.backup.vault)
    assert left == {key: data for key, data in after.items() if "/back/stock/" not in key}


def test_without_a_moment_each_is_restored_in_the_version_of_its_point(shop, capsys):
    told = of_plan(capsys, shop.uri("shop/*"), "--instant", "--apply", "--here")
    assert [shop.rows(one["to"]) for one in told["restores"]] == [[0], [0, 1]]
    assert "these are of different moments" in told["plan"]["consequences"][0]
    assert told["plan"]["objects"] == sum(one["plan"]["objects"] for one in told["restores"])


def test_a_table_that_was_made_anew_is_restored_as_the_one_that_was_there_then(shop, capsys):
    shop.make_anew("stock")
    for ago, rows in ((5, [0]), (0.5, [7])):
        told = of_plan(capsys, shop.uri("stock*"), "--at", shop.at(hours_ago=ago), "--instant", "--apply", "--here")
        assert shop.rows(told["restores"][0]["to"]) == rows
    RestorePoint.objects.filter(table=shop.uri("stock"), earlier="").update(proof="")
    assert "is not kept in the backup" in of_plan(capsys, shop.uri("stock*"))["refusal"]["reason"]


def test_one_that_cannot_be_restored_any_more_fails_the_job_and_the_others_go_on(shop):
    plan, job, digest = planned(shop)
    lost = next(key for key, _ in shop.backup.lake.list(shop.backup.vault, "pool/shop/orders/") if "/part-" in key)
    data = shop.backup.lake.get(shop.backup.vault, lost)
    shop.backup.lake.delete(shop.backup.vault, lost)
    ended = restore_many(Actor.command(), plan, job, digest, here=True)
    assert (ended.state, ended.error_code) == ("failed", "SomeFailed")
    outcomes = {one["label"]: one["state"] for one in ended.result["outcomes"]}
    assert outcomes == {shop.uri("shop/new"): "done", shop.uri("shop/orders"): "failed", shop.uri("stock"): "done"}
    assert not list(shop.backup.lake.list(shop.backup.source, "restored/shop/orders"))
    shop.backup.lake.put(shop.backup.vault, lost, data)
    plan, job, digest = planned(shop)
    ended = restore_many(Actor.command(), plan, job, digest, here=True)
    assert ended.state == "succeeded"
    assert shop.rows(shop.uri("restored/shop/orders-1")) == [0, 1]
    assert restore_many(Actor.command(), plan, job, digest, here=True).pk == ended.pk


def test_the_command_says_once_of_each_table_what_became_of_it(shop, capsys):
    words = ("restore", "--plan", "warehouse-daily", "--at", shop.at(hours_ago=5), "--instant", "--apply", "--here")
    with pytest.raises(CommandError):
        call_command(*words)
    told = re.findall(r"s3a://source-\w+/(\S+: [^ .]+)", capsys.readouterr().out)
    assert told == ["shop/new: refused", "shop/orders: done", "stock: done"]


def test_another_plan_of_one_table_than_was_shown_is_not_carried_out(shop, monkeypatch):
    plan, job, digest = planned(shop, shop.uri("stock"))
    assert planned(shop)[2] != digest
    [row] = job.result["restores"]
    job.result["restores"] = [row | {"plan": row["plan"] | {"digest": "other"}}]
    job.save()
    ended = restore_many(Actor.command(), plan, job, digest, here=True)
    assert "what the plan rests on has changed" in ended.result["outcomes"][0]["sentence"]
    assert not list(shop.backup.lake.list(shop.backup.source, "restored/"))


def test_what_is_written_beside_the_originals_needs_the_leave_of_their_connection(shop):
    plan, job, digest = planned(shop)
    _, opening, other = planned(shop, to=None)
    vault, someone = plan.connection, person(None)
    plan.connection = Connection.objects.create(name="lake", region=vault.region, endpoint_url=vault.endpoint_url)
    plan.save()
    Grant.objects.create(user=someone, connection=vault, role=Role.OPERATOR)
    with pytest.raises(NotAllowed):
        restore_many(Actor(someone.username, "web", someone), plan, job, digest, here=True)
    Connection.objects.filter(name="lake").update(read_only=True)
    with pytest.raises(ChangeRefused, match="read-only"):
        restore_many(Actor.command(), plan, job, digest, here=True)
    assert restore_many(Actor(someone.username, "web", someone), plan, opening, other, here=True).state == "succeeded"


def test_a_star_stands_for_any_characters_and_nothing_else_is_a_pattern(shop):
    point = RestorePoint.objects.get(table=shop.uri("stock"))
    for name in ("a.b", "axb", "a[1]", "a/b/c"):
        point.pk, point.table = None, shop.uri(name)
        point.save(force_insert=True)

    def fits(pattern: str) -> list[str]:
        return [points[0].table.removeprefix(shop.uri("")) for points in points_of(shop.backup.plan, pattern)]

    assert fits(shop.uri("a.b")) == ["a.b"]
    assert fits(shop.uri("a[1]")) == ["a[1]"]
    assert fits(shop.uri("a*b*")) == ["a.b", "a/b/c", "axb"]
    assert fits(f"s3a://*{'a*' * 30}b") == []  # in no time
    assert len(fits("")) == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["s3a://lake/*"], "Name a table, or the plan"),
        (["--plan", "warehouse-daily", "--in-place"], "go with one table"),
        (["--plan", "warehouse-daily", "--version", "3"], "go with one table"),
        (["--plan", "other"], "There is no plan 'other'"),
        (["s3://nowhere/*", "--plan", "warehouse-daily"], "Nothing was restored: see above."),
        (["", "--plan", "warehouse-daily"], "There is no restore point ''"),
    ],
)
def test_what_does_not_go_together_is_refused(shop, capsys, words, says):
    assert says in restore(capsys, *words)["refused"]


def test_more_tables_than_one_job_restores_are_to_be_named_by_a_pattern(shop, capsys, monkeypatch):
    for module in (many, many_jobs, many_restores):
        monkeypatch.setattr(module, "MOST_TABLES", 2)
    page = signed_in(Role.OPERATOR).get("/backups/plans/warehouse-daily/restore/")
    assert "Name the tables: one job restores 2 of these 3 at most." in flat(page)
    assert "More than 2 tables fit" in of_plan(capsys)["refusal"]["reason"]
    assert len(of_plan(capsys, shop.uri("shop/*"))["restores"]) == 2


def test_the_page_offers_a_moment_and_shows_each_table_of_the_plan(shop):
    operator, start = signed_in(Role.OPERATOR), "/backups/plans/warehouse-daily/restore/"
    assert start in operator.get("/backups/plans/warehouse-daily/").content.decode()
    moment = f"{offered_moment(shop.backup.plan).moment:%Y-%m-%dT%H:%M:%S}"
    assert "3 of 3 tables were proven to be restorable as of" in flat(operator.get(start))
    assert f'value="{moment}"' in operator.get(start).content.decode()
    address = operator.post(start, {"which": "moment", "moment": moment, "where": "open"})["Location"]
    job = done("plan-restores")
    page = flat(operator.get(address))
    assert "3 tables can be opened now." in page
    assert "levee restore --plan warehouse-daily --instant --at" in page
    leads_to = operator.post(address, {"digest": job.result["plan"]["digest"]})["Location"]
    assert done("restore-tables").state == "succeeded"
    page = flat(operator.get(leads_to))
    assert all(f"Version {version} opens at" in page for version in (0, 1))


def test_the_page_says_of_a_table_that_is_left_out_why(shop):
    operator, start = signed_in(Role.OPERATOR), "/backups/plans/warehouse-daily/restore/"
    fields = {"which": "moment", "moment": shop.at(hours_ago=5)[:19], "where": "path", "to": shop.uri("back")}
    address = operator.post(start, fields)["Location"]
    done("plan-restores")
    page = flat(operator.get(address))
    assert "2 tables can be restored now, 1 of those that fit cannot." in page
    assert "No version that can be restored was there" in page
    operator.post(start, fields)
    busy = operator.post(start, fields | {"to": shop.uri("other")})
    assert (busy.status_code, "Open that job" in flat(busy)) == (422, True)
    for wrong in ({"which": "moment"}, {"which": "version"}, fields | {"tables": shop.uri("stock")}):
        assert operator.post(start, wrong).status_code == 422


def test_the_command_on_the_page_does_what_the_page_does(shop, capsys):
    operator, start = signed_in(Role.OPERATOR), "/backups/plans/warehouse-daily/restore/"
    fields = {"which": "newest", "where": "path", "tables": f"s3://{shop.backup.source}/sh*p/*", "to": shop.uri("back")}
    address = operator.post(start, fields)["Location"]
    job = done("plan-restores")
    command = html.unescape(re.search(r"levee restore ([^<]*) --apply", operator.get(address).content.decode())[1])
    told = restore(capsys, *shlex.split(command))
    assert told["plan"]["digest"] == job.result["plan"]["digest"]


def test_tables_that_lie_in_each_other_do_not_go_to_one_place_together(shop, capsys):
    shop.append("shop/orders/late", 0, hours_ago=9)
    proven(copied_run(shop.backup, [*SHOP, "shop/orders/late"]))
    told = of_plan(capsys, shop.uri("shop/orders*"), "--to", shop.uri("back"), "--apply", "--here")
    assert "lies in or around" in told["restores"][1]["refusal"]["reason"]
    assert [one["state"] for one in told["job"]["outcomes"]] == ["done", "refused"]
    assert told["refused"] == "1 of 2 tables that fit were not restored: see above."
    assert len(of_plan(capsys, shop.uri("shop/orders*"), "--instant")["plan"]["calls"]) == 2


def test_a_stop_in_a_table_tells_of_it_and_of_those_before(shop, monkeypatch):
    plan, job, digest = planned(shop)
    verify, seen = jobs.Readers.verify, list[str]()

    def stopped(self: Any, began: float) -> str:
        seen.append(self.table)
        if len(seen) == 2:
            raise JobCancelled
        return verify(self, began)

    monkeypatch.setattr(jobs.Readers, "verify", stopped)
    ended = restore_many(Actor.command(), plan, job, digest, here=True)
    assert ended.state == "cancelled"
    assert [one["state"] for one in ended.result["outcomes"]] == ["done", "failed"]
    assert f"{seen[1]} is not whole, or not verified" in ended.result["outcomes"][1]["sentence"]
    assert ended.steps[0]["detail"] == "3 tables: 1 done, 1 failed, 1 not reached."
    assert AuditEntry.objects.filter(target_type="restore-point", job_id=ended.pk).count() == 2


def test_a_fault_in_one_table_stops_none_of_the_others(shop, monkeypatch):
    plan, job, digest = planned(shop)
    again = jobs._read_again

    def faulty(lake: Any, params: Any, *words: Any) -> Any:
        if "/shop/new/" in params["document"]:
            raise ValueError("a fault")
        return again(lake, params, *words)

    monkeypatch.setattr(jobs, "_read_again", faulty)
    ended = restore_many(Actor.command(), plan, job, digest, here=True)
    assert [one["state"] for one in ended.result["outcomes"]] == ["failed", "done", "done"]
    assert ended.result["outcomes"][0]["sentence"] == "a fault."
    assert all(one["verified"]["spark"]["wrote"] for one in ended.result["outcomes"][1:])
    assert ended.result["aws_request_ids"]


def test_of_a_table_that_was_made_anew_the_reason_of_the_earlier_one_is_told(shop, capsys):
    shop.make_anew("stock")
    for key in [key for key, _ in shop.backup.lake.list(shop.backup.vault, "pool/stock/part-")]:
        shop.backup.lake.delete(shop.backup.vault, key)
    told = of_plan(capsys, shop.uri("stock*"), "--at", shop.at(hours_ago=5))["refusal"]["reason"]
    assert "No version that can be restored was there" in told
    assert "Of an earlier restore point: Version 0 cannot be restored now. It lacks" in told


def test_a_plan_that_is_not_there_any_more_is_not_carried_out(shop, monkeypatch):
    plan, job, digest = planned(shop)
    monkeypatch.setattr(many_jobs, "planned_by", lambda _: ())
    assert restore_many(Actor.command(), plan, job, digest, here=True).error_code == "PlanGone"
    with pytest.raises(ChangeRefused):
        restore_many(Actor.command(), plan, job, "other", here=True)
    assert not list(shop.backup.lake.list(shop.backup.source, "restored/"))


def test_a_table_whose_point_is_not_kept_is_left_out_with_the_reason(shop, capsys):
    RestorePoint.objects.filter(table=shop.uri("stock")).update(proof="", not_kept="S3 refused it.")
    [left] = [one["refusal"] for one in of_plan(capsys)["restores"] if one["refusal"]]
    assert left["reason"] == "The restore point is not kept in the backup. S3 refused it."


def test_the_moment_that_is_offered_is_the_newest_as_of_which_most_can_be_restored(shop, capsys):
    ends = {point.table: point.moments for point in RestorePoint.objects.all()}
    at, stock = shop.at(hours_ago=5), RestorePoint.objects.filter(table=shop.uri("stock"))
    start, [new] = ends[shop.uri("stock")][-1][0], ends[shop.uri("shop/new")]
    before = [BEGINNING.isoformat(), new[0]]  # as it is proven of a table that was made lately
    RestorePoint.objects.filter(table=shop.uri("shop/new")).update(moments=[before, new])
    assert offered_moment(shop.backup.plan)[1:] == (3, 3)
    stock.update(moments=[[start, start], [start, at]], holds_until=at)  # which have one moment in common
    offered = offered_moment(shop.backup.plan)
    assert offered[1:] == (2, 3)
    others = [ends[shop.uri(name)][-1][1] for name in ("shop/new", "shop/orders")]
    assert offered.moment == min(map(datetime.fromisoformat, others))
    told = of_plan(capsys, "--at", offered.moment.isoformat())
    assert len(told["plan"]["calls"]) == offered.restorable


def test_a_table_that_is_all_of_its_bucket_is_restored_by_itself(shop, capsys):
    RestorePoint.objects.filter(table=shop.uri("stock")).update(table=shop.uri("").rstrip("/"))
    [left] = [one["refusal"] for one in of_plan(capsys, "--to", shop.uri("back"))["restores"] if one["refusal"]]
    assert left["reason"] == "The table is all of its bucket: restore it by itself."


@pytest.mark.parametrize(("code", "left_out"), [("AccessDenied", 1), ("SlowDown", None)])
def test_what_s3_refuses_of_one_table_leaves_that_one_out_and_any_other_trouble_is_of_all(
    shop, capsys, monkeypatch, code, left_out
):
    refuse(monkeypatch, "get", code, lambda _, key: "/stock/@" in key)
    told = of_plan(capsys)
    if left_out:
        assert [code in one["refusal"]["reason"] for one in told["restores"] if one["refusal"]] == [True]
    else:
        assert "The backup warehouse-daily could not be read" in told["refused"]
