"""HOW does a memory prove itself? Checks: who adds them, how they run within limits, and what comes of them."""
