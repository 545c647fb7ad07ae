"""JSON that starts clusters and jobs: Databricks' spark_conf, EMR's classifications, Glue's parameters, plain settings.

What is rewritten keeps its order and is laid out anew.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.writers.pasted import JARS, PACKAGES, PastedSetting, PasteRefused, difference

HADOOP = "spark.hadoop."
CORE_SITE, SPARK_DEFAULTS = "core-site", "spark-defaults"
_GLUE_CONF = "--conf"
_GLUE = {"--extra-jars": JARS}
_CHAIN = re.compile(r"(?:^|\s)--conf(?:\s+|=)")
_DEEPEST = 60
_ORDER = ("settings", "glue-conf", "core-site", "libraries", "glue")


@dataclass(frozen=True, slots=True)
class Place:
    """Where settings are within the document: `kind` is "settings", "core-site", "glue-conf", "glue" or "libraries"."""

    kind: str
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class JsonText:
    """`names` say of each entry the place it stands in, and under which name there."""

    text: str
    entries: tuple[PastedSetting, ...]
    names: tuple[tuple[Place, str], ...]
    places: tuple[Place, ...]
    platform: str
    syntax: str = "JSON"
    brings_delta: bool = False
    unread: tuple[str, ...] = ()

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        found = difference(self.entries, entries)
        if not found.changed and not found.added:
            return self.text
        document = json.loads(self.text)
        for place in self.places:
            after = {
                name: found.changed.get(at, entry)
                for at, (entry, (where, name)) in enumerate(zip(self.entries, self.names, strict=True))
                if where == place
            }
            same = {name for at, (where, name) in enumerate(self.names) if where == place and at not in found.changed}
            _store(document, place, after, same, [one for one in found.added if self._place_for(one) == place])
        if found.added and self._place_for(found.added[0]) not in self.places:
            _add_defaults(document, self.places[0], found.added)
        return json.dumps(document, indent=2, ensure_ascii=False)

    def _place_for(self, entry: PastedSetting) -> Place | None:
        """The libraries for packages where there are some, else where settings of Spark are."""
        kinds = {place.kind: place for place in self.places}
        if entry.key == PACKAGES and "libraries" in kinds:
            return kinds["libraries"]
        return kinds.get("settings") or kinds.get("glue-conf")


def read_json(text: str) -> JsonText:
    """Read the settings of one cluster or job; PasteRefused for what is no JSON, or speaks of several."""
    document = _parsed(text)
    if _depth(document) > _DEEPEST:
        raise PasteRefused("This JSON is nested too deeply.")
    places = tuple(_places(document, ()))
    for kind in ("settings", "glue-conf", "core-site", "libraries"):
        if sum(place.kind == kind for place in places) > 1:
            raise PasteRefused("This JSON holds the settings of several clusters or jobs: paste one of them.")
    ordered = sorted(places, key=lambda place: _ORDER.index(place.kind))
    found = [(place, name, entry) for place in ordered for name, entry in _entries(document, place)]
    entries = tuple(PastedSetting(entry.key, entry.value, at) for at, (_, _, entry) in enumerate(found))
    names = tuple((place, name) for place, name, _ in found)
    return JsonText(text, entries, names, tuple(ordered), _platform(document, ordered))


def _parsed(text: str) -> Any:
    try:
        document = json.loads(text, object_pairs_hook=_without_twins)
        json.dumps(document, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise PasteRefused(f"This is no JSON from line {error.lineno}, column {error.colno} on.") from None
    except PasteRefused:
        raise
    except UnicodeEncodeError:
        raise PasteRefused("This JSON has half a character (a lone surrogate): write it whole.") from None
    except ValueError:
        raise PasteRefused("This JSON has a number with too many digits.") from None
    except RecursionError:
        raise PasteRefused("This JSON is nested too deeply.") from None
    return document


def _depth(document: Any) -> int:
    depth, level = 0, [document]
    while level:
        depth += 1
        level = [below for one in level for below in _below(one)]
    return depth


def _below(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise PasteRefused("A key is there twice in one object, and which one counts depends on the reader: keep one.")
    return found


def _places(node: Any, path: tuple[str | int, ...]) -> Iterator[Place]:
    if isinstance(node, list):
        for at, one in enumerate(node):
            yield from _places(one, (*path, at))
    if isinstance(node, dict):
        yield from _own_places(node, path)
        for name, one in node.items():
            if name not in ("spark_conf", "libraries"):
                yield from _places(one, (*path, name))


def _own_places(node: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Place]:
    if isinstance(node.get("spark_conf"), dict):
        yield Place("settings", (*path, "spark_conf"))
    if isinstance(node.get("libraries"), list):
        yield Place("libraries", (*path, "libraries"))
    for name, properties in (("Classification", "Properties"), ("classification", "properties")):
        if node.get(name) in (SPARK_DEFAULTS, CORE_SITE) and isinstance(node.get(properties), dict):
            yield Place("settings" if node[name] == SPARK_DEFAULTS else CORE_SITE, (*path, properties))
    if isinstance(node.get(_GLUE_CONF), str):
        yield Place("glue-conf", (*path, _GLUE_CONF))
        yield Place("glue", path)
    if any(key.startswith("spark.") for key in node) and not _is_named(path):
        yield Place("settings", path)


def _is_named(path: tuple[str | int, ...]) -> bool:
    """Whether a place stands there already: the object under a name that says what it is."""
    return bool(path) and path[-1] in ("spark_conf", "Properties", "properties")


def _entries(document: Any, place: Place) -> Iterator[tuple[str, PastedSetting]]:
    node = _at(document, place.path)
    match place.kind:
        case "settings" | "core-site":
            prefix = HADOOP if place.kind == CORE_SITE else ""
            scalars = {key: value for key, value in node.items() if not isinstance(value, dict | list)}
            yield from ((key, PastedSetting(prefix + key, _text(value))) for key, value in scalars.items())
        case "glue-conf":
            for pair in _CHAIN.split(f"--conf {node}")[1:]:
                key, _, value = pair.strip().partition("=")
                yield key, PastedSetting(key, value)
        case "glue":
            yield from ((name, PastedSetting(key, _text(node[name]))) for name, key in _GLUE.items() if name in node)
        case "libraries":
            if coordinates := [one["maven"]["coordinates"] for one in node if _is_maven(one)]:
                yield PACKAGES, PastedSetting(PACKAGES, ",".join(coordinates))


def _is_maven(library: Any) -> bool:
    maven = library.get("maven") if isinstance(library, dict) else None
    return isinstance(maven, dict) and isinstance(maven.get("coordinates"), str)


def _store(
    document: Any, place: Place, after: dict[str, PastedSetting | None], same: set[str], added: Sequence[PastedSetting]
) -> None:
    """Write what a place shall hold: by name what was there, and what is new; what is in `same` keeps its own form."""
    node = _at(document, place.path)
    entries = [entry for entry in [*after.values(), *added] if entry]
    match place.kind:
        case "settings" | "core-site":
            prefix = HADOOP if place.kind == CORE_SITE else ""
            kept = [(name, None if name in after and name not in same else value) for name, value in node.items()]
            node.clear()
            for name, value in kept:
                entry = after.get(name)
                if name not in after or name in same:
                    node[name] = value
                elif entry:
                    node[entry.key.removeprefix(prefix)] = entry.value
            node.update({one.key.removeprefix(prefix): one.value for one in added})
        case "glue-conf":
            _at(document, place.path[:-1])[_GLUE_CONF] = glue_conf([(one.key, one.value) for one in entries])
        case "glue":
            node.update({name: one.value for name, key in _GLUE.items() for one in entries if one.key == key})
        case "libraries":
            others = [one for one in node if not _is_maven(one)]
            names = [name for one in entries for name in one.value.split(",")]
            node[:] = [*({"maven": {"coordinates": name}} for name in names), *others]


def _add_defaults(document: Any, beside: Place, added: Sequence[PastedSetting]) -> None:
    """Put settings of Spark beside those of Hadoop, where a document has these alone."""
    siblings = _at(document, beside.path[:-2])
    if not isinstance(siblings, list) or beside.kind != CORE_SITE:
        raise PasteRefused("This JSON has no place for Spark's settings: add the classification spark-defaults.")
    classification, properties = ("Classification", "Properties")
    if beside.path[-1] == "properties":
        classification, properties = classification.lower(), properties.lower()
    siblings.append({classification: SPARK_DEFAULTS, properties: {one.key: one.value for one in added}})


def glue_conf(pairs: Sequence[tuple[str, str]]) -> str:
    """The value of Glue's --conf, which chains settings in one text; PasteRefused for a value with a blank in it."""
    if any(re.search(r"\s", f"{key}{value}") for key, value in pairs):
        raise PasteRefused("Glue takes its settings apart at blanks: set a value that holds one in the script.")
    return " --conf ".join(f"{key}={value}" for key, value in pairs)


def _at(document: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        document = document[part]
    return document


def _text(value: Any) -> str:
    """A value as Spark gets it: JSON's true and 5 are the texts of the same look."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _platform(document: Any, places: Sequence[Place]) -> str:
    names = {part for place in places for part in place.path if isinstance(part, str)}
    if "spark_conf" in names:
        return "databricks"
    if names & {"Properties", "properties"}:
        return "emr"
    return "glue" if any(place.kind == "glue-conf" for place in places) else ""
