"""HOW is a store kept well and moved? Export, import, backup, doctor and reindex."""
