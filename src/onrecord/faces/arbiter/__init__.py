"""HOW does an agent of the arbiter runtime speak to us? With entries, relations, files and notes over HTTP, and with
slash commands.
"""
