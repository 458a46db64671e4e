"""WHICH components can be replaced? The scrubber, which removes secrets, and the embedders, which make vectors."""
