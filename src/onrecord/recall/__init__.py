"""HOW does a question become an answer? A file for each feature, and for each layer of a search."""
