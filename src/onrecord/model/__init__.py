"""WHAT is a memory? Values, requests and answers; no I/O."""
