"""HOW do approved changes reach the catalog? Plan, apply, roll back, and list what was applied."""
