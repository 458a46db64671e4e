"""HOW does a user of the slayer semantic layer speak to us? With notes about entities, example queries and searches."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onrecord.faces.slayer.calls import (
        SlayerClient,
        SlayerQuery,
        delete_datasource,
        delete_model,
        edit_model,
        edit_model_remove,
        forget_memory,
        ingest_datasource_models,
        inspect_model,
        list_datasources,
        models_summary,
        save_memory,
        search,
        search_flat,
    )
    from onrecord.faces.slayer.importing import import_store

__all__ = [
    "SlayerClient",
    "SlayerQuery",
    "delete_datasource",
    "delete_model",
    "edit_model",
    "edit_model_remove",
    "forget_memory",
    "import_store",
    "ingest_datasource_models",
    "inspect_model",
    "list_datasources",
    "models_summary",
    "save_memory",
    "search",
    "search_flat",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `onrecord --help` loads the commands of this face but no store."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from onrecord.faces.slayer import calls, importing

    return getattr(importing if name == "import_store" else calls, name)
