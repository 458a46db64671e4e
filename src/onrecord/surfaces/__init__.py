"""HOW are operations called? From a shell, over HTTP and by MCP; each surface is derived from the operations."""
