"""`levee writer-test`: the script by which a writer proves that its commits take the lock, and what it left."""

from typing import Any

from django.core.management.base import CommandParser

from coordinator.documents import moment
from coordinator.lookup import find_store
from coordinator.models import CommitStore, WriterTest
from coordinator.settings.requests import CleanWriterTest
from coordinator.settings_commands import SettingsCommand
from coordinator.writer_tests.actions import check_test, make_test, script_for
from coordinator.writer_tests.judging import WriterTestState
from coordinator.writer_tests.places import NoPlaceForTest, usual_places
from coordinator.writers.contract import WriterTestJson
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError, document_of
from dashboard.jobs.models import JobState

NEXT = (
    "Run the script in the PySpark session of the writer, then `levee writer-test --check {token}`, and "
    "`levee writer-test --clean {token} --apply` to remove what it left."
)


class Command(SettingsCommand):
    """Prints a script, looks at what it left, or plans to remove that; needs neither server nor worker."""

    help = "Prove that a writer's commits take the lock: print the script, look at what it left, clean up."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        act = parser.add_mutually_exclusive_group(required=True)
        act.add_argument("--store", metavar="NAME", help="print a script for writers of this commit store")
        act.add_argument("--check", metavar="TOKEN", help="look at what the script left; changes nothing")
        act.add_argument("--clean", metavar="TOKEN", help="plan to remove what the script left")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--bucket", metavar="NAME", help="with --store: the scratch table lies in this bucket")
        where.add_argument("--at", metavar="URI", help="with --store: it lies below this prefix, s3a://bucket/prefix/")
        parser.add_argument("--connection", metavar="NAME", help="where several connections have a store of this name")
        self.add_change_arguments(parser, "not needed: cleaning up loses nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["apply"] and not options["clean"]:
            raise UsageError("--apply goes with --clean.")
        if not options["store"] and (options["bucket"] or options["at"] or options["connection"]):
            raise UsageError("--bucket, --at and --connection go with --store: a token names one test.")
        if options["store"]:
            self._make(options)
        elif options["check"]:
            self._check(_test(options["check"]))
        else:
            test = _test(options["clean"])
            self.change(test.connection, CleanWriterTest(test.store_name, test.token), options)

    def _make(self, options: Options) -> None:
        store = find_store(options["store"], options["connection"])
        at = options["at"] or (f"s3a://{options['bucket']}/" if options["bucket"] else _usual(store))
        try:
            test = make_test(Actor.command(), store, at)
        except NoPlaceForTest as reason:
            raise UsageError(str(reason)) from reason
        script = script_for(test, store)
        self.emit(_document(test, script), script.rstrip("\n"))
        self.note(NEXT.format(token=test.token))

    def _check(self, test: WriterTest) -> None:
        job = check_test(Actor.command(), test, here=True)
        test.refresh_from_db()
        if job.state != JobState.SUCCEEDED:
            raise Failed(f"The test could not be looked at: {job.error_text or job.message}")
        self.emit(_document(test), job.message)
        if test.state != WriterTestState.LOCK_TAKEN:
            raise Failed("That the lock is taken was not shown.")


def _test(token: str) -> WriterTest:
    found = WriterTest.objects.select_related("connection").filter(token=token.strip()).first()
    if found is None:
        raise UsageError(f"Levee knows no writer test {token[:40]!r}: `levee writer-test --store NAME` makes one.")
    return found


def _usual(store: CommitStore) -> str:
    """The only place that there is. Raises UsageError where there is none, or several."""
    places = usual_places(store)
    if len(places) == 1:
        return places[0]
    named = f" Its writers may write to {', '.join(places)}." if places else ""
    raise UsageError(f"Say where the scratch table may lie: --bucket NAME or --at s3a://bucket/prefix/.{named}")


def _document(test: WriterTest, script: str = "") -> WriterTestJson:
    return document_of(
        WriterTestJson,
        test,
        connection=test.connection.name,
        store=test.store_name,
        asked_at=moment(test.asked_at),
        checked_at=moment(test.checked_at),
        cleaned_at=moment(test.cleaned_at),
        script=script,
    )
