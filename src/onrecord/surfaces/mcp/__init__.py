"""HOW does an agent reach us? The Model Context Protocol: tools, resources and prompts, over stdio and over HTTP."""
