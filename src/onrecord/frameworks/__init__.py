"""HOW do agent frameworks keep what they remember here? A module for each framework, in the words of that framework.

Each needs its framework, which is an extra of its own, and is loaded by whoever imports it; nothing else here loads one.
They work over any door: a store of this machine (`onrecord.connect`) or a server's (`onrecord.client.connect`).
"""
