"""The small parts of every page: icons, state badges, times and numbers. A builtin: templates need no load tag."""

import shlex
from datetime import UTC, datetime
from functools import lru_cache
from json import dumps

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.command_names import ON_PAGES
from dashboard.web import text
from dashboard.web.paging import Sort
from dashboard.web.states import look_of

register = template.Library()
register.filter("thousands", text.thousands)
register.filter("filesize_b", text.file_size)
register.filter("plain", text.plain)
register.filter("duration", text.duration)
register.filter("plainline", text.one_line)
# What a state looks like and means, each as StateStyle has it: {% icon state|shape %}.
register.filter("tone", lambda state: look_of(state).tone)
register.filter("shape", lambda state: look_of(state).shape)
register.filter("word", lambda state: look_of(state).word)
register.filter("meaning", lambda state: look_of(state).meaning)


@register.simple_tag
@lru_cache(256)
def icon(name: str) -> SafeString:
    """Draw one symbol of icons.svg, such as s-ok. Assistive technology skips it: a word has to stand beside it."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("icons.svg"), name)


@register.simple_tag
def badge(state: object, word: object = "") -> SafeString:
    """Show a state as shape and word; `word` replaces the state's own word where a sentence needs another."""
    look = look_of(state)
    tone = f"{look.tone} loud" if look.loud else look.tone
    return format_html('<span class="badge {}">{}{}</span>', tone, icon(look.shape), word or look.word)


@register.filter
def words(name: object) -> str:
    """Write a key such as tables_changed as words: Tables changed. `upkeep` is the name of settings in some."""
    return str(name).replace("upkeep", "settings").replace("-", " ").replace("_", " ").capitalize()


@register.filter
def head(said: object, short: str) -> str:
    """The part of a text that stands in a headline; `short` where its first sentence is too long for one."""
    return text.headline(str(said), short)[0]


@register.filter
def below(said: object) -> str:
    """What of a text stands below its headline, "" where nothing is left."""
    return text.headline(str(said))[1]


@register.filter
def json(value: object) -> str:
    """Write a value as indented JSON, for a pre element; escaped like any text."""
    return dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)


@register.filter
def coded(said: str) -> SafeString:
    """Write what stands in back-ticks as code; escaped like any text."""
    parts = enumerate(said.split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", one) if at % 2 else one,) for at, one in parts))


@register.simple_tag
def copy(what: str) -> SafeString:
    """A button that copies the text of the element before it; `what` says which, such as: the path."""
    return format_html('<button class="copy" type="button" aria-label="Copy {}">{}</button>', what, icon("i-copy"))


@register.simple_tag(takes_context=True)
def shell_command(context: Context) -> str:
    """Write the command line that shows or does what this page does; empty where there is none."""
    match = context["request"].resolver_match if "request" in context else None
    page = f"{match.url_name} {match.kwargs.get('operation', '')}".strip() if match else ""
    try:
        words = [_with_value(word, context) for word in ON_PAGES.get(page, "").split()]
    except template.VariableDoesNotExist:  # a page of an error at that address
        return ""
    return "" if not words or "!" in words else " ".join(["levee", *filter(None, words)])


def _with_value(word: str, context: Context) -> str:
    """A word of ON_PAGES with the value of its variable, quoted for a shell; empty where that is."""
    before, has_variable, name = word.rstrip("}").partition("{")
    if not has_variable:
        return word
    value = template.Variable(name).resolve(context)
    is_given = value or (value == 0 and value is not False)  # version 0 is one
    return f"{before}{shlex.quote(str(value)) if before != '!' else ''}" if is_given else ""


@register.simple_tag
def took(started: datetime | None, ended: datetime | None) -> str:
    """Write how long something took, or has taken so far; nothing before it begins."""
    return text.duration((ended or datetime.now(UTC)) - started) if started else ""


@register.simple_tag
def ago(moment: datetime | str | None, empty: str = text.UNKNOWN) -> SafeString:
    """Write a time, as such or as a document has it, relative to now with the exact UTC as its title.

    Without one, `empty` stands in grey.
    """
    if isinstance(moment, str):
        moment = parse_datetime(moment)
    if moment is None:
        return format_html('<span class="dim">{}</span>', empty)
    stamp = text.utc(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        stamp.isoformat(timespec="seconds").replace("+00:00", "Z"),
        text.exact(stamp),
        text.relative(stamp, datetime.now(UTC)),
    )


@register.simple_tag
def exact(moment: datetime | None, empty: str = text.UNKNOWN) -> SafeString:
    """Write a time in full, 2026-11-20 09:41:58 UTC; without one, `empty` in grey."""
    if moment is None:
        return format_html('<span class="dim">{}</span>', empty)
    stamp = text.utc(moment)
    datetime_value = stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return format_html('<time datetime="{}">{}</time>', datetime_value, text.exact(stamp))


@register.inclusion_tag("components/sort_header.html", takes_context=True)
def sort_header(context: Context, key: str, label: str, sort: Sort, css: str = "") -> dict[str, object]:
    """Head a column with a link that sorts by `key`, and by its reverse when the list is sorted by it already."""
    active = sort.key == key
    return {
        "request": context.get("request"),
        "label": label,
        "css": css,
        "active": active,
        "descending": active and sort.descending,
        "next_sort": f"-{key}" if active and not sort.descending else key,
    }
