"""WHO helps with judgement, and how is that kept in bounds? A language model elsewhere, asked within limits, whose every reply
is checked.

`providers/advising.py` is the port that the rest of the code knows.
"""
