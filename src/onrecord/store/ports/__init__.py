"""WHAT does a store do? The protocols that everything above it speaks to; each can be read on its own."""
