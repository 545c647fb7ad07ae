"""The repairs there are: each module of this package declares one as `REPAIR`, and nothing else has to name it."""

from importlib import import_module
from pkgutil import iter_modules

from coordinator.repairs.declaration import Repair

REPAIRS: dict[str, Repair] = {
    repair.name: repair
    for repair in (import_module(f"{__name__}.{module.name}").REPAIR for module in iter_modules(__path__))
}
