"""WHO is calling, and what may they do? API keys, tokens and grants, tenants, and the audit."""
