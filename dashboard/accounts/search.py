"""Finding anything by typing: apps register what they can find, by what a person may see and do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import seen
from dashboard.connections.models import Connection
from dashboard.loading import AtNeed

LIMIT = 9
"""Hits of a heading that are read; pages show 8, and the ninth says that there are more."""
MOST_TO_ACT_ON = 100
"""Connections and plans, of which there are few, that acts are looked for on."""
ONLY_ACTS, ONLY_TABLES = ">", "@"


@dataclass(frozen=True, slots=True)
class Search:
    """What a person looks for: `words`, empty where nothing was typed, and the `connection` in scope, None for all."""

    request: HttpRequest
    actor: Actor
    connection: Connection | None
    words: str

    def rows(self, model: type[Model]) -> QuerySet[Any]:
        """The rows that this person may see, of the connection in scope."""
        return seen(self.request, model, self.connection)

    def names(self, label: str) -> bool:
        """Whether each word that was typed stands in a label."""
        return all(word in label.casefold() for word in self.words.casefold().split())


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One line: where it leads, and what is said beside it. An act has the `verb` that says who may do it, "" for
    whoever sees it, on `connection`, and `about`: what else of it may have been typed."""

    label: str
    path: str
    note: str = ""
    state: str = ""
    verb: str = ""
    connection: Connection | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """The hits under one heading. `list_name` is the address of a list that takes the same words as ?q, "" for none."""

    title: str
    icon: str
    hits: list[SearchHit]
    list_name: str = ""


@dataclass(frozen=True, slots=True)
class SearchKind:
    """Records that are found by typing, and how they are shown: their `page` is named by the field `key`.

    `lookups` are compared with what was typed; () where `rows` has done so. `note` is a field that is said beside.
    `sign` typed in front asks for these alone; `at_rest` kinds are shown before anything is typed.
    """

    title: str
    icon: str
    place: int
    page: str
    rows: Callable[[Search], QuerySet[Any]]
    lookups: tuple[str, ...] = ("name__icontains",)
    key: str = "pk"
    note: str = ""
    list_name: str = ""
    sign: str = ""
    at_rest: bool = False

    def group(self, search: Search) -> SearchGroup:
        """What is found of it, by one query of at most LIMIT rows."""
        typed = Q.create([(lookup, search.words) for lookup in self.lookups], connector=Q.OR)
        hits = [self._hit(row) for row in self.rows(search).filter(typed)[:LIMIT]]
        return SearchGroup(self.title, self.icon, hits, self.list_name)

    def _hit(self, row: Model) -> SearchHit:
        note = getattr(row, self.note) if self.note else ""
        state = getattr(row, "shown_state", "") or getattr(row, "state", "")
        return SearchHit(str(row), reverse(self.page, args=[getattr(row, self.key)]), note, state)


in_modules = AtNeed()
"""Modules that register something where they are imported."""
_kinds: list[SearchKind] = []
_acts: list[Callable[[Search], Iterable[SearchHit]]] = []


def register(*kinds: SearchKind, acts: Callable[[Search], Iterable[SearchHit]] | None = None) -> None:
    """Add kinds, and what gives every act that may be meant: the role and the words are looked at here."""
    _kinds.extend(kinds)
    _acts.extend([acts] if acts else [])


def found(search: Search, sign: str) -> list[SearchGroup]:
    """Return what `search` finds, a group a heading; with a `sign` only what that stands for."""
    in_modules.load()
    kinds = sorted(_kinds, key=lambda kind: kind.place)
    groups = [one.group(search) for one in kinds if (one.sign == sign if sign else search.words or one.at_rest)]
    if sign == ONLY_ACTS or (search.words and not sign):
        meant = (act for act in chain.from_iterable(give(search) for give in _acts) if _may_be_done(search, act))
        groups.insert(1, SearchGroup("Actions", "i-right", list(meant)[:LIMIT]))
    return groups


def _may_be_done(search: Search, act: SearchHit) -> bool:
    is_meant = search.names(f"{act.label} {act.about}")
    return is_meant and (not act.verb or search.actor.may(act.verb, act.connection))
