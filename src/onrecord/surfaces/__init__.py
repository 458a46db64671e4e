"""HOW do they reach us? Each surface is derived from the operations; none has logic of its own."""
