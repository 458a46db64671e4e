"""HOW does what people agreed on reach the catalog? Plan, apply, roll back, and what was applied."""
