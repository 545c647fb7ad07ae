"""What each call of a repair says it needs, and what it really sends, is in the policy of its feature."""

import pytest

from coordinator.settings.iam import Names
from coordinator.settings.iam_features import feature_policies
from tests.coordinator.repairs.scenes import SCENES, name, restore_object
from tests.coordinator.repairs.world import World, make
from tests.iam.evaluating import Asked, allows, refused
from tests.iam.levees_requests import Noted
from tests.iam.recording import ACCOUNT, OWN

REGION = "us-east-1"
OF_COORDINATORS = {"clear_commits", "raise_version", "register", "delete_registration", "delete_staged_file"}


def policy_for(scene, world: World) -> dict:
    restores = scene is restore_object
    of_repair = "repair-coordinator" if scene.__name__ in OF_COORDINATORS else "repair-log-store"
    names = Names(
        "aws", REGION, ACCOUNT, (world.log_store,), (world.registry,), (world.bucket,), ((world.bucket, "sales/"),)
    )
    policies = {one.feature: one.document for one in feature_policies(names)}
    return policies["restore-copies" if restores else of_repair]


def declared(call) -> list[Asked]:
    """Its permissions with the real region and account, and any object of the table for those of the bucket."""
    found = ((one.action, one.resource.replace(":*:*:", f":{REGION}:{ACCOUNT}:")) for one in call.permissions)
    return [Asked(action, resource.replace("/*", "/sales/orders/x"), OWN) for action, resource in found]


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_declares_what_it_sends_and_the_features_policy_covers_both(world, lake, monkeypatch, scene):
    call, policy = scene(world), policy_for(scene, world)
    noted = Noted(REGION).install(monkeypatch)

    make(call, lake)

    assert noted.asked
    assert refused(policy, noted.asked) == []
    assert refused(policy, declared(call)) == []
    assert {one.action for one in noted.asked} - {"s3:ListBucket"} <= {one.action for one in call.permissions}


def test_no_feature_reaches_another_account_or_a_place_that_is_not_watched(world):
    names = Names("aws", REGION, "*", (world.log_store,), (), (world.bucket,), ((world.bucket, "sales/"),))
    elsewhere = Asked("s3:GetObject", f"arn:aws:s3:::{world.bucket}/finance/x", OWN)
    foreign = Asked("s3:GetObject", f"arn:aws:s3:::{world.bucket}/sales/x", {**OWN, "aws:ResourceAccount": "9" * 12})
    own = Asked("s3:GetObject", f"arn:aws:s3:::{world.bucket}/sales/x", OWN)
    listing = Asked("s3:ListBucket", f"arn:aws:s3:::{world.bucket}", {**OWN, "s3:prefix": "finance/"})

    [observe] = [one.document for one in feature_policies(names) if one.feature == "observe"]

    assert [allows(observe, one) for one in (own, elsewhere, foreign, listing)] == [True, False, False, False]
