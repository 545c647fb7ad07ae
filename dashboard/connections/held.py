"""What goes with a connection that is removed: apps say from AppConfig.ready what their rows are, and are called."""

from django.db.models import Model

_read_anew: set[type[Model]] = set()
_words: dict[type[Model], tuple[str, str]] = {}


def goes_with_its_connection(*models: type[Model]) -> None:
    """Tell of snapshots that a look makes anew: they hold no connection."""
    _read_anew.update(models)


def counted_as(model: type[Model], one: str, several: str) -> None:
    """Tell what one row, and several rows, of a model are called that would go with their connection."""
    _words[model] = (one, several)


def is_read_anew(model: type[Model]) -> bool:
    return model in _read_anew


def words_of(model: type[Model]) -> tuple[str, str]:
    """What one row and several rows are called; a model that nobody told of, by its own name."""
    return _words.get(model, (str(model._meta.verbose_name), str(model._meta.verbose_name_plural)))
