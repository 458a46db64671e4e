"""HOW does an agent of the arbiter runtime speak to us? Entries, relations, files and notes over HTTP, and slash commands."""
