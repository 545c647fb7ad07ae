"""What happens to whole connections, for the apps that keep something about them."""

from django.dispatch import Signal

lake_emptied = Signal()
"""The lake of the sandbox begins empty again: `connection` is its name."""
