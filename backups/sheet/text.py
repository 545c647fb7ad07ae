"""The sheet for the bad day, as each run writes it into the backup beside the restore points."""

import shlex
import textwrap
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db.models import QuerySet

from backups.models import Plan, RestorePoint, Run
from backups.sheet import program
from dashboard.web.text import one_line
from lake.aws.errors import AwsError
from lake.backup.objects import POINTS, place_of
from lake.points.keeping import DIFFERS, Keeper, may_pass

PROGRAM = Path(program.__file__).read_text(encoding="utf-8")
BEGINS = "======== restore.py"
"""The line of the text that the program follows, to its end."""


class SheetStep(NamedTuple):
    """One of the things to do, with the line to type, "" for none."""

    title: str
    text: str
    command: str = ""


def kept_points(plan: Plan) -> "QuerySet[RestorePoint]":
    """Those that lie in the backup, by their tables, the newest first."""
    return plan.points.exclude(proof="").order_by("table", "-version")


def steps_of(plan: Plan, destination: str, stored: str, example: RestorePoint | None) -> list[SheetStep]:
    """What to do, with the names of this plan; `stored` is the URI of the text in the backup, "" for none."""
    points = place_of(destination).below(POINTS)
    key = f" with kms:Decrypt for {plan.encryption_key}" if plan.encryption_key else ""
    document = example.proof if example else f"{points.uri}BUCKET/TABLE/@VERSION-DIGEST.json"
    listing = shlex.join(["aws", "s3", "ls", "--recursive", f"s3://{points.bucket}/{points.prefix}"])
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
            "The list below has the address of each. This command lists all that this bucket keeps, older ones "
            f"too: put s3://{points.bucket}/ before what it prints. The number after the @ is the version.",
            f"{listing} | grep -E '@[0-9]+-[0-9a-f]{{16}}\\.json$'",
        ),
        SheetStep(
            "Save the program",
            "It ends this sheet, and uses nothing but Python's own library and the AWS CLI. Save it as restore.py.",
            f"aws s3 cp {shlex.quote(stored.replace('s3a:', 's3:', 1))} - | sed '1,/^{BEGINS}$/d' > restore.py"
            if stored
            else "",
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


def write_sheet(keeper: Keeper, run: Run, now: datetime) -> dict[str, str]:
    """Write the text for a run that has kept points, unless it has been, and read it back: its `uri`, or `why_not`.

    Raises AwsError for what may pass.
    """
    key = f"{POINTS}RESTORE-{run.created_at:%Y-%m-%dT%H-%M-%SZ}-{run.pk.hex[:8]}.txt"
    uri = keeper.place.below(key).uri
    try:
        keeper.write(key, sheet_text(run, uri, now).encode())
        why_not = "" if keeper.stored(key).endswith(PROGRAM.encode()) else DIFFERS.format(uri)
    except AwsError as error:
        if may_pass(error):
            raise
        why_not = str(error)
    return {"uri": "" if why_not else uri, "why_not": why_not}


def sheet_text(run: Run, uri: str, now: datetime) -> str:
    """The text that is going to lie at `uri`."""
    return "".join(f"{line}\n" for line in (*_lines(run.plan, run.destination, uri, now), "", BEGINS)) + PROGRAM


def _lines(plan: Plan, destination: str, uri: str, now: datetime) -> Iterator[str]:
    """All but the program. No name may begin a line of its own, whatever it holds: what follows BEGINS is run."""
    yield f"Restoring tables of {plan.name} without Levee"
    yield from ("", f"Source   {plan.source}", f"Backup   {destination}", f"Written  {now:%Y-%m-%d %H:%M} UTC")
    points = kept_points(plan)
    for number, step in enumerate(steps_of(plan, destination, uri, points.first()), start=1):
        yield from ("", f"{number}. {step.title}")
        wrapped = textwrap.wrap(step.text, 100, break_long_words=False, break_on_hyphens=False)
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
