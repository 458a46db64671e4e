"""HOW many tokens is a text to a language model? An estimate that errs upwards, since each model counts its own way."""

from typing import Final

# English has about four letters to a token, other scripts one or two letters of three bytes.
_BYTES_A_TOKEN: Final = 3


def count_tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_A_TOKEN)
