"""Keys, the audit, and requests that must not be done twice; numbers of tenants that are never given again."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _number_tenants_once()
    op.create_table(
        "api_keys",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("label", sa.Text()),
        sa.Column("personas", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("systems", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.Column("per_minute", sa.Integer()),
        sa.Column("saves_per_day", sa.Integer()),
        sa.PrimaryKeyConstraint("hash", name="api_keys_key"),
        sa.UniqueConstraint("tenant", "id", name="api_keys_id"),
    )
    op.create_table(
        "audit",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text()),
        sa.Column("key", sa.Text()),
        sa.Column("run", sa.Text()),
        sa.Column("request", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "number", name="audit_key"),
        sqlite_with_rowid=False,
    )
    for name, columns in (("run", ["tenant", "run"]), ("key", ["tenant", "key", "at"])):
        given = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            "audit_run" if name == "run" else "audit_api_key",
            "audit",
            columns,
            sqlite_where=given,
            postgresql_where=given,
        )
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("body", sa.Text()),
        sa.PrimaryKeyConstraint("tenant", "user", "key", name="idempotency_key"),
    )
    op.create_index("idempotency_at", "idempotency", ["tenant", "at"])


def _number_tenants_once() -> None:
    """SQLite gives the highest number again after its row is gone, unless the table was made otherwise."""
    op.rename_table("tenants", "tenants_before")
    op.create_table(
        "tenants",
        sa.Column("key", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("last_id", sa.Text(), nullable=False),
        sa.Column("last_row", sa.BigInteger(), nullable=False),
        sa.Column("last_relation", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.BigInteger(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.execute("INSERT INTO tenants SELECT * FROM tenants_before")
    op.drop_table("tenants_before")
