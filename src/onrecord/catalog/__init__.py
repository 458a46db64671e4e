"""WHAT is it about? The entities that exist, in which state, and what feeds what."""
