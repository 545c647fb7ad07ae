"""How many tables there are, without looking at each: from the counts that the database keeps (coordinator.kept)."""

from collections import Counter
from typing import Any

from django.db.models import Sum

from coordinator.models import TableCount


def sum_of_tables(**narrow: Any) -> int:
    """How many tables there are of this kind; fields are those of TableCount."""
    return TableCount.objects.filter(**narrow).aggregate(of=Sum("number"))["of"] or 0


def tables_by(*fields: str, **narrow: Any) -> Counter[tuple[Any, ...]]:
    """How many tables there are of this kind, for each of the values that these fields of TableCount have."""
    rows = TableCount.objects.filter(**narrow).values_list(*fields).annotate(of=Sum("number")).order_by()
    return Counter({tuple(row[:-1]): row[-1] for row in rows})
