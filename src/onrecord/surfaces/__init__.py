"""HOW do they reach us? Each surface is read off the operations; none has logic of its own."""
