"""How a schedule ends: everybody comes to an end, and what is left is repaired."""

from coordinator.protocols.verdict import State
from tests.schedules.exploring import Stage, later


def finish_all(stage: Stage) -> None:
    for actor in stage.world.actors.values():
        actor.finish()


def converge(stage: Stage) -> None:
    """Everybody comes to an end, then the rest is repaired: all that was accepted is in the log, and stays there.

    What somebody took away, or wrote past the protocol, need not come back.
    """
    ledger, lake = stage.world.ledger, stage.world.lake
    finish_all(stage)
    later(stage.clock, 3)
    stage.wrongs += stage.console.repair_all()
    stage.gate.given_up = tuple(ledger.accepted)
    stage.wrongs += stage.console.repair_all(losing=True)
    if ledger.breaches or (ledger.losses and not ledger.is_published(lake)):
        return
    stage.wrongs += ledger.twice()
    stage.expect(ledger.is_settled(lake), "repaired to the end, and not everything that was accepted is settled")
    stage.console.look(in_full=True)
    stage.expect(stage.console.state is State.HEALTHY, f"repaired to the end, and {stage.console.said}")
