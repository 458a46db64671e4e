"""HOW is a store maintained and moved? Export, import, backup, doctor and reindex."""
