"""What S3 still keeps of a file that is gone or was replaced: looked for where a finding blocks a table or makes it
unsafe, so that nobody gives up what versioning has."""

from dataclasses import replace
from itertools import islice

from coordinator.observation.reading import Reading
from coordinator.protocols.last_copies import MOST_FILES, OLDER_VERSIONS, lost_files, was_seen
from coordinator.protocols.verdict import Finding
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.object_versions import MOST, older_versions

MOST_VERSIONS = 5
"""Versions of one file that are kept."""


def with_older_versions(lake: Lake, reading: Reading) -> Reading:
    """The reading, its loud findings with what S3 keeps of the files that they miss. A refusal is kept as its reason.

    One request a file, at most `MOST_FILES` of them.
    """
    verdict = reading.verdict
    if verdict is None:
        return reading
    files = [(one, tuple(dict.fromkeys(lost_files(one, verdict)))) for one in verdict.findings]
    wanted = dict.fromkeys(file for _, named in files for file in named)
    found = {file: _look(lake, reading, *file) for file in islice(wanted, MOST_FILES)}
    findings = tuple(_with(one, [found[file] for file in named if file in found]) for one, named in files)
    return replace(reading, verdict=replace(verdict, findings=findings)) if found else reading


def _with(finding: Finding, found: list[dict[str, object]]) -> Finding:
    return replace(finding, evidence={**finding.evidence, OLDER_VERSIONS: found}) if found else finding


def _look(lake: Lake, reading: Reading, version: int, name: str) -> dict[str, object]:
    bucket, key = reading.target.uri.bucket, f"{reading.target.uri.log_key}{name}"
    told: dict[str, object] = {"version": version, "file": name, "bucket": bucket, "key": key}
    try:
        kept = older_versions(lake.s3, bucket, key)
    except AwsError as error:
        # Without the request's id, which is another one at each look, the finding says the same as before.
        return {**told, "reason": str(AwsError(error.code, error.message, "", error.operation, error.permission))}
    if not kept.versions and not kept.is_complete:
        return {**told, "reason": f"of its versions and delete markers only the newest {MOST} were looked at."}
    known = reading.facts.provenance.get(version) if reading.facts else None
    versions = [
        {
            "version_id": one.version_id,
            "size": one.size,
            "etag": one.etag,
            "modified_at": one.modified_at.isoformat(),
            "seen": was_seen(known, name, one.size, one.etag),
        }
        for one in kept.versions[:MOST_VERSIONS]
    ]
    return {
        **told,
        "deleted_at": kept.deleted_at.isoformat() if kept.deleted_at else None,
        "more": not kept.is_complete or len(kept.versions) > MOST_VERSIONS,
        "versions": versions,
    }
