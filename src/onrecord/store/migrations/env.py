"""Runs the steps on the given connection, inside that connection's transaction."""

from alembic import context

from onrecord.store.tables import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
