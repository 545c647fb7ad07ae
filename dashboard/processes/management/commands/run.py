"""`levee run`: start everything on this machine and stop it with Ctrl-C."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from dashboard.commands import Failed, JsonCommand
from dashboard.environment import env_int
from dashboard.processes.embedded import Choices, run
from dashboard.processes.lock import RunError
from dashboard.processes.supervisor import Supervisor


class Command(JsonCommand):
    """Run the console, its workers, Redis and the sandbox lake until Ctrl-C."""

    brings_database_up_to_date = False  # a process of its own does: what migrations load would stay in this one

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-sandbox", action="store_true", help="without the sandbox lake (or LEVEE_SANDBOX=0)")
        parser.add_argument("--no-spark", action="store_true", help="a sandbox lake without the tables of real Spark")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        home = settings.LEVEE_HOME
        # The processes work in the checkout: a relative LEVEE_HOME must keep naming the same folder there.
        os.environ["LEVEE_HOME"] = str(home)
        with_sandbox = settings.SANDBOX and not options["no_sandbox"]
        os.environ["LEVEE_SANDBOX"] = str(int(with_sandbox))
        try:
            choices = Choices(
                home=home,
                port=env_int("PORT", 8000, most=65_535),
                with_sandbox=with_sandbox,
                with_redis=not os.environ.get("REDIS_URL"),
                with_spark=not options["no_spark"],
            )
            run(choices, Supervisor(sys.stdout, choices.logs))
        except RunError as error:
            raise Failed(str(error)) from error
