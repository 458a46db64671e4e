"""WHAT is it about? The entities that exist, their state, and which is made from which."""
