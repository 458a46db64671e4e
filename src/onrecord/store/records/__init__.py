"""WHAT is kept? Rows, versions, relations, the workspace, jobs and the ledger of a tenant."""
