"""WHAT happens later? Work that a save puts off, as jobs that workers do."""
