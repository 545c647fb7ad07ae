"""Answers of pages that no framework has."""

from django.http import HttpResponseRedirect


class SeeOther(HttpResponseRedirect):
    """303: what was posted is done; read the result there."""

    status_code = 303
