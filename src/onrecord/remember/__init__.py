"""HOW does a text become a row, and how does that row change and end? A file for each feature, and for each step of a save."""
