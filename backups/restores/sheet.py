"""The sheet for the bad day: how the tables of a plan are restored without Levee. A page, and text in the backup."""

import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from django.db.models import QuerySet

from backups.models import Plan, RestorePoint, Run
from backups.restores import by_hand
from dashboard.web.text import one_line
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, place_of
from lake.points.keeping import may_pass

PROGRAM = Path(by_hand.__file__).read_text(encoding="utf-8")
BEGINS = "======== restore.py"
"""The line of the text that the program follows, to its end."""
WIDTH = 100
MOST_SHOWN = 200
"""Restore points on the page; the text names all."""


class SheetStored(TypedDict):
    """Where a run wrote the text, "" where it could not and `why_not` says why."""

    uri: str
    why_not: str


@dataclass(frozen=True, slots=True)
class SheetStep:
    """One of the things to do, with the line to type, "" for none."""

    title: str
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class SheetPage:
    """The sheet as its page shows it: `stored` is the URI of the newest text in the backup, "" for none, and `why_not`
    says why the newest run wrote none; `more` counts restore points beyond MOST_SHOWN."""

    stored: str
    why_not: str
    steps: list[SheetStep]
    points: list[tuple[RestorePoint, str]]
    more: int
    program: str = PROGRAM


def sheet_page(plan: Plan) -> SheetPage:
    proofs, points = Run.objects.proofs().filter(plan=plan), _kept_points(plan)
    newest, wrote = proofs.first(), proofs.filter(evidence__sheet__uri__startswith="s3a://").first()
    why_not = newest.evidence.get("sheet", {}).get("why_not", "") if newest else ""
    stored = wrote.evidence["sheet"]["uri"] if wrote else ""
    destination = next((one.destination for one in (wrote, newest) if one), plan.destination)
    shown = [(one, said_of(one)) for one in points[:MOST_SHOWN]]
    steps = _steps(plan, destination, stored, points.first())
    return SheetPage(stored, why_not, steps, shown, points.count() - len(shown))


def _kept_points(plan: Plan) -> "QuerySet[RestorePoint]":
    """Those that lie in the backup, by their tables, the newest first."""
    return plan.points.exclude(proof="").order_by("table", "-version")


def _steps(plan: Plan, destination: str, stored: str, example: RestorePoint | None) -> list[SheetStep]:
    """What to do, with the names of this plan; `stored` is the URI of the text in the backup, "" for none."""
    points = place_of(destination).below(POINTS)
    key = f" with kms:Decrypt for {plan.encryption_key}" if plan.encryption_key else ""
    document = example.proof if example else f"{points.uri}BUCKET/TABLE/@VERSION-DIGEST.json"
    listing = shlex.join(["aws", "s3", "ls", "--recursive", _s3(points.uri)])
    return [
        SheetStep(
            "What it takes",
            "Python 3.9 and the AWS CLI 2.18 or 1.35, or newer ones; Spark with Delta Lake to read the table. The role "
            f"needs s3:ListBucket, s3:GetObject and s3:GetObjectTagging for {destination}{key}; where the table goes, "
            "s3:ListBucket, s3:GetObject, s3:PutObject and s3:PutObjectTagging, and for a key of that bucket "
            "kms:GenerateDataKey and kms:Decrypt. AWS_PROFILE and AWS_REGION choose whose role and which region.",
        ),
        SheetStep(
            "Choose a restore point",
            "The list below has the address of each, ready for a shell. This command lists all that this bucket keeps, "
            f"older ones too: put s3://{points.bucket}/ before what it prints. The number after the @ is the version.",
            f"{listing} | grep -E '@[0-9]+-[0-9a-f]{{16}}\\.json$'",
        ),
        SheetStep(
            "Save the program",
            "It ends this sheet, and uses nothing but Python's own library and the AWS CLI. Save it as restore.py.",
            f"aws s3 cp {shlex.quote(_s3(stored))} - | sed '1,/^{BEGINS}$/d' > restore.py" if stored else "",
        ),
        SheetStep(
            "Restore the table",
            "To a folder where nothing is and no table ever was, not inside another table's, whose VACUUM would take "
            "its files: writers go by what DynamoDB knows of a path, even after its table has gone. The program "
            "compares each object with what was proven, copies it, and ends with the log. The backup and the original "
            "stay as they are. If it stops, run the same line again. A whole folder is copied quickly; where it holds "
            "far more than this version, each file takes a second of a processor. Options of `aws s3 sync` may follow, "
            "such as --sse aws:kms --sse-kms-key-id KEY. What lies in GLACIER or DEEP_ARCHIVE needs `aws s3api "
            "restore-object` first, and then the option --force-glacier-transfer.",
            shlex.join(["python3", "restore.py", document, "s3://BUCKET/restored/TABLE"]),
        ),
        SheetStep(
            "Read all of it",
            "In pyspark, so that each row of each file is read once. DESCRIBE DETAIL then has to say as many files and "
            "bytes as the program did.",
            'spark.read.format("delta").load("s3a://BUCKET/restored/TABLE").write.format("noop").mode("append").save()',
        ),
        SheetStep(
            "Let readers and writers come",
            "Give catalogs and jobs the new path. A coordinated table has left its coordinator by one commit more: "
            "coordinate it anew before several jobs write to it. Where the DynamoDB log store was used, every writer "
            "of the new path needs the same settings of it. TIMESTAMP AS OF goes by the dates of the new objects, "
            "unless the table has in-commit timestamps.",
        ),
    ]


def write_sheet(s3: S3, run: Run, now: datetime) -> SheetStored:
    """Write the text for a run that has kept points, unless it has been. Raises AwsError for what may pass."""
    name = f"RESTORE-{run.created_at:%Y-%m-%dT%H-%M-%SZ}-{run.pk.hex[:8]}.txt"
    place = place_of(run.destination).below(f"{POINTS}{name}")
    try:
        data = sheet_text(run, place.uri, now).encode()
        s3.put(place.bucket, place.prefix, data, encryption_key=run.plan.encryption_key)
    except AwsError as error:
        if may_pass(error):
            raise
        if not error.is_condition_failed:
            return {"uri": "", "why_not": str(error)}
    return {"uri": place.uri, "why_not": ""}


def sheet_text(run: Run, uri: str, now: datetime) -> str:
    """The text that is going to lie at `uri`."""
    return "".join(f"{line}\n" for line in (*_lines(run.plan, run.destination, uri, now), "", BEGINS)) + PROGRAM


def _lines(plan: Plan, destination: str, uri: str, now: datetime) -> Iterator[str]:
    """All but the program. No name may begin a line of its own, whatever it holds: what follows BEGINS is run."""
    yield f"Restoring tables of {plan.name} without Levee"
    yield from ("", f"Source   {plan.source}", f"Backup   {destination}", f"Written  {now:%Y-%m-%d %H:%M} UTC")
    points = _kept_points(plan)
    for number, step in enumerate(_steps(plan, destination, uri, points.first()), start=1):
        yield from ("", f"{number}. {step.title}")
        wrapped = textwrap.wrap(step.text, WIDTH, break_long_words=False, break_on_hyphens=False)
        yield from (f"   {line}" for line in wrapped)
        yield from ("", f"   {one_line(step.command)}") if step.command else ()
    yield from ("", "Restore points", "")
    for one in points.iterator():
        yield from (f"{one_line(one.table)}  {said_of(one)}", f"   {one_line(shlex.quote(one.proof))}")
    without = plan.points.filter(proof="").order_by("table")
    for number, one in enumerate(without.iterator()):
        yield from () if number else ("", "Without a restore point", "")
        yield f"{one_line(one.table)}  {one_line(one.not_kept or one.sentence)}"


def said_of(point: RestorePoint) -> str:
    """What the sheet says of a restore point."""
    made = f" of {point.committed_at:%Y-%m-%d %H:%M} UTC" if point.committed_at else ""
    earlier = ", of an earlier run" if point.earlier else ""
    return f"version {point.version}{made}, {point.files:,} files, {point.bytes:,} bytes{earlier}"


def _s3(uri: str) -> str:
    """The URI as the AWS CLI wants it."""
    return uri.replace("s3a://", "s3://", 1)
