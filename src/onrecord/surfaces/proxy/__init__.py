"""HOW does an agent get what is known about another MCP server's answers? Through a proxy in front of that server.

Every message passes as it came; only the result of a tool call gets one text more, if anything is known.
"""
