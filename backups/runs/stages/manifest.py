"""Second stage: the pipeline on Spark decides what is to be copied and writes the manifests."""

from backups.models import Stage
from backups.runs.work import Answer, Done, Elsewhere, RunFailed, Work, as_fields


def advance(work: Work) -> Answer:
    if not work.has_spark:
        return Elsewhere()
    work.say("Works out what is to be copied.")
    planned = work.pipeline.plan(work.wanted())
    accounted = planned.already_there + planned.too_new + planned.archived + sum(m.objects for m in planned.manifests)
    if planned.listed != accounted:
        raise RunFailed(
            "PlanDoesNotAddUp",
            f"The plan accounts for {accounted:,} of {planned.listed:,} objects: nothing is copied from it.",
        )
    work.save(**as_fields(planned))
    work.show(Stage.MANIFEST, done=planned.listed, total=planned.listed)
    return Done(
        f"{planned.listed:,} objects: {work.run.objects_planned:,} to be copied, "
        f"{planned.already_there:,} there already."
    )
