"""WHO is at the door? Keys, tokens and grants, the tenants they belong to, and the audit of what was done."""
