"""WHICH records match? Words, references and vectors, derived from the rows and dropped with them."""
