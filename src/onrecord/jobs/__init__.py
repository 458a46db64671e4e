"""WHAT happens later? Work that a save leaves behind, each job with a way to do it once."""
