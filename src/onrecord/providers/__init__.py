"""WHO thinks for us? The scrubber, which takes secrets out, and the embedders, which make vectors."""
