"""The commands of `levee`, by what they are about, and what each does: its help, here and by itself."""

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "The lake": {
        "tables": "List the Delta tables, worst first, with their states and versions.",
        "table": "Show one Delta table: mechanism, versions, entries and findings.",
        "history": "List what happened to one Delta table, newest first.",
        "observe": "Look at the lake once: every connection, one of them, or one table.",
        "repair": "Plan the repairs of one Delta table, and carry them out with --apply.",
        "rescue": "List what repairs saved aside, and put a copy back with --apply.",
        "stores": "List the commit stores with their settings, TTL and states.",
        "store": "Show one commit store, create it or change it: capacity, protection, recovery, TTL.",
        "buckets": "List the buckets with their lifecycle rules, versioning and states.",
        "bucket": "Show one bucket, change its rules on temp files and unfinished uploads, or sweep its temp files.",
    },
    "Writers": {
        "commits": "Turn coordinated commits on and off through Spark; print settings and IAM policies of writers.",
        "doctor": "Say what is wrong with the settings of a writer, and correct them.",
        "writer-test": "Prove through a writer's own session that its commits take the lock.",
    },
    "Backups": {
        "backup": "Show backup plans and their runs; start, approve, stop and repeat runs.",
        "restore": "Restore a version of a table, or the tables of a plan, or open them in their backup, with --apply.",
        "prove": "Say which versions of which tables a backup restores, Levee's or not.",
    },
    "The console": {
        "run": "Run the console, its workers, Redis and a sandbox lake on this machine until Ctrl-C.",
        "apply": "Declare connections, watched prefixes, commit stores and backup plans from a TOML file.",
        "export": "Print what is declared as a TOML file for levee apply.",
        "permissions": "Print the least policy of each feature, or check with --check which permissions are held.",
        "person": "Add a person, or change the role, address, password or access of one.",
        "jobs": "List jobs, newest first.",
        "job": "Show one job: its state, steps and log.",
        "deadlines": "Show what will be lost or break by waiting, and by when, soonest first.",
        "alerts": "Show alerts; acknowledge one with a reason and an end.",
        "audit": "Show the audit log, newest first; export it; verify that nothing in it was changed.",
    },
    "The deployment": {
        "migrate": "Bring the database up to date.",
        "check": "Look for mistakes in the settings; --deploy looks at those of a deployment too.",
        "collectstatic": "Put the files of the pages where the web process serves them.",
    },
}

ON_PAGES: Mapping[str, str] = {
    "tables": "tables --state={chosen.state} --search={chosen.q} --connection={chosen.connection}"
    " !{chosen.beyond_command}",
    "table": "table {table.uri}",
    "table-history": "history {table.uri}",
    "table-commits": "table {table.uri}",
    "table-commit": "table {table.uri}",
    "table-entries": "table {table.uri}",
    "table-rescue": "rescue list --table={table.uri}",
    "backup-restore": "restore {point.pk}",
    "table-writers": "commits conf {table.uri} --mechanism={chosen_mechanism} --release={chosen_release}",
    "table-doctor": "doctor - --table={table.uri}",
    "table-repair": "repair {table.uri} --finding={page.subject.code} --version={page.subject.version}",
    "table-coordination enable": "commits enable {table.uri} --store=NAME",
    "table-coordination drop": "commits drop {table.uri}",
    "coordination-many enable": "commits enable --all --store=NAME !{fields} !{picked}",
    "coordination-many drop": "commits drop --all !{fields} !{picked}",
    "table-create": "commits create URI --store=NAME --columns=DDL",
    "stores": "stores",
    "store": "store {store.name}",
    "store-create": "store NAME create",
    "store-ttl": "store {store.name}",
    "store-writers": "commits conf --store={store.name} --mechanism={chosen_mechanism} --release={chosen_release}",
    "store-writer-test": "writer-test --check={test.token}",
    "store-doctor": "doctor - --store={store.name}",
    "doctor": "doctor -",
    "buckets": "buckets",
    "bucket": "bucket {bucket.name}",
    "connections": "export",
    "connection": "permissions --connection={connection.name}",
    "backups": "backup plans",
    "backup-plan": "backup plan {plan.name}",
    "backup-plan-restore": "restore --plan={plan.name}",
    "backup-run": "backup show {run.pk}",
    "jobs": "jobs --state={wanted.state} --kind={wanted.kind} !{wanted.text} !{wanted.by}",
    "job": "job {job.pk}",
    "deadlines": "deadlines !{narrows}",
    "alerts": "alerts --state={chosen.state} !{chosen.narrows}",
    "alert": "alerts --acknowledge={alert.pk} --reason=REASON !{alert.resolved_at} !{alert.acknowledged_until}",
    "new-person": "person NAME --role=viewer",
    "person": "person {person.username} --role={form.role.value}",
    "audit": "audit --actor={wanted.actor} --outcome={wanted.outcome} !{wanted.action} !{wanted.target} !{wanted.text}"
    " !{wanted.since} !{wanted.until}",
}
"""The command line that shows or does what a page does, by the name of the page's address and its `operation`.

`{…}` is a variable of the page's template: a word whose variable is empty is left out. `!{…}` is a filter of the page
that the command does not have: where it is set, the page names no command.
"""


def help_of(name: str) -> str:
    """Return what a command does, "" for one that is not named here."""
    return next((group[name] for group in GROUPS.values() if name in group), "")
