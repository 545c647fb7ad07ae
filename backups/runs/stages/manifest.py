"""Second stage: the pipeline on Spark decides what is to be copied and writes the manifests."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from backups.models import Stage
from backups.runs.work import Done, Elsewhere, RunFailed, StageAnswer, Work
from lake.aws.errors import AwsError
from lake.aws.s3 import S3


def advance(work: Work) -> StageAnswer:
    if not work.has_spark:
        return Elsewhere()
    work.say("Works out what is to be copied.")
    wanted = work.wanted()
    planned = work.pipeline.plan(replace(wanted, pool=pool_still_there(work.vault.s3, wanted.pool)))
    accounted = planned.already_there + planned.too_new + planned.archived + sum(m.objects for m in planned.manifests)
    if planned.listed != accounted:
        raise RunFailed(
            "PlanDoesNotAddUp",
            f"The plan accounts for {accounted:,} of {planned.listed:,} objects: nothing is copied from it.",
        )
    work.save(
        listed=planned.listed,
        already_there=planned.already_there,
        too_new=planned.too_new,
        archived=planned.archived,
        objects_planned=sum(one.objects for one in planned.manifests),
        bytes_planned=sum(one.bytes for one in planned.manifests),
        lanes=[asdict(one) for one in planned.manifests],
        tables=planned.tables,
        evidence={"plan": planned.facts},
    )
    work.show(Stage.MANIFEST, done=planned.listed, total=planned.listed)
    return Done(
        f"{planned.listed:,} objects: {work.run.objects_planned:,} to be copied, "
        f"{planned.already_there:,} there already."
    )


def pool_still_there(s3: S3, pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The place of an earlier run's outcomes, or {} once they are cleared away: what they proved is copied again.

    Raises AwsError.
    """
    if not pool:
        return {}
    try:
        page = next(iter(s3.list(pool["bucket"], pool["prefix"], max_keys=1)), None)
    except AwsError as error:
        if error.is_missing:
            return {}
        raise
    return pool if page and page.objects else {}
