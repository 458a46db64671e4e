"""HOW does a text become a row, and what becomes of it? A file for each feature, and for each step of a save."""
