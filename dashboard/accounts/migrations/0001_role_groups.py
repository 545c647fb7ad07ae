"""The three roles as groups. Going back keeps them: people may be in them."""

from typing import Any

from django.db import migrations

ROLES = ("viewer", "operator", "admin")


def create_groups(apps: Any, schema_editor: Any) -> None:
    groups = apps.get_model("auth", "Group").objects
    for name in ROLES:
        groups.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(create_groups, migrations.RunPython.noop)]
