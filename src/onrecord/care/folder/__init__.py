"""HOW are memories edited as files? Written into a folder of Markdown, changed there, planned and applied: what the store and
the folder changed since comes together, and no side is lost.
"""
