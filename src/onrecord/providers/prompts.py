"""WHICH prefix does a question or a document need? Some models were trained with prefixes that distinguish them.

Services do not add these prefixes, so we do. Without them such a model finds far less.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Prompts(NamedTuple):
    """The prefixes of a question and of a document."""

    query: str = ""
    document: str = ""


_SEARCHING: Final = Prompts(query="Represent this sentence for searching relevant passages: ")
# By the beginning of a model's name; where two fit, the first counts.
_PROMPTS: Final = {
    "nomic-embed-text": Prompts("search_query: ", "search_document: "),
    "embeddinggemma": Prompts("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": Prompts(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    ),
    "mxbai-embed-large": _SEARCHING,
    "snowflake-arctic-embed2": Prompts("query: "),
    "snowflake-arctic-embed-l-v2": Prompts("query: "),
    "snowflake-arctic-embed-m-v2": Prompts("query: "),
    "snowflake-arctic-embed": _SEARCHING,
    "bge-small-en": _SEARCHING,
    "bge-base-en": _SEARCHING,
    "bge-large-en": _SEARCHING,
    "multilingual-e5-large-instruct": Prompts(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
    ),
    "multilingual-e5": Prompts("query: ", "passage: "),
    "e5-small": Prompts("query: ", "passage: "),
    "e5-base": Prompts("query: ", "passage: "),
    "e5-large": Prompts("query: ", "passage: "),
}


def prompts_for(model_name: str) -> Prompts:
    """The prefixes that the model was trained with, as far as its name shows; the name may begin with that of its
    maker.
    """
    plain = model_name.lower().rpartition("/")[2]
    return next((prompts for name, prompts in _PROMPTS.items() if plain.startswith(name)), Prompts())
