"""`levee run`: start everything on this machine and stop it with Ctrl-C."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from dashboard.commands import Failed, JsonCommand
from dashboard.environment import env_bool
from dashboard.processes.embedded import Choices, run
from dashboard.processes.lock import RunError, chosen_port
from dashboard.processes.supervisor import Supervisor


class Command(JsonCommand):
    """Run the console, its workers, Redis and the sandbox lake until Ctrl-C."""

    help = "Run the console, its workers, Redis and a sandbox lake on this machine until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-sandbox", action="store_true", help="without the sandbox lake (or LEVEE_SANDBOX=0)")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        home = settings.LEVEE_HOME
        # The processes work in the checkout: a relative LEVEE_HOME must keep naming the same folder there.
        os.environ["LEVEE_HOME"] = str(home)
        try:
            choices = Choices(
                home=home,
                port=chosen_port(os.environ.get("PORT", "")),
                with_sandbox=env_bool("LEVEE_SANDBOX", True) and not options["no_sandbox"],
                with_redis=not os.environ.get("REDIS_URL"),
            )
            run(choices, Supervisor(home, self.stdout._out))
        except RunError as error:
            raise Failed(str(error)) from error
