"""HOW do we stand beside what others use? The same work, texts and vectors for each system, and one table.

    python benchmarks/peers.py --peers DIR [--systems onrecord,sqlite-fts5,…] [--sizes 1000,10000] [--work load,kill,writers]

DIR holds adapters to other systems with the runner, the texts and the stub embedder that all of them share. Each system
runs in an environment of its own, PEERS_HOME/venv-NAME; what has none is left out. Results stay in PEERS_HOME/results, so
that the table shows earlier runs too.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

_OURS = "onrecord"
_SYSTEMS = "onrecord,sqlite-fts5,numpy-brute,langgraph-sqlite,chroma,mem0-qdrant-local"
_ADAPTER = Path(__file__).resolve().with_name("peer_adapter.py")


def main() -> None:
    asked = _arguments()
    home = Path(os.environ.get("PEERS_HOME") or Path(tempfile.gettempdir()) / "peers")
    (home / "results").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="onrecord-peers-") as folder:
        runner = _runner(_view(Path(folder), asked.peers.resolve(), home), home)
        systems = list(_installed(runner, asked.systems))
        for work in asked.work:
            sizes = [",".join(map(str, asked.sizes))] if work == "load" else []
            runner.command([work, ",".join(systems), *sizes])
        runner.command(["table"])


def _view(folder: Path, peers: Path, home: Path) -> Path:
    """Their folder as links, with our adapter among theirs, so that nothing is written into it."""
    view, venvs = folder / "peers", folder / "venvs"
    for path in (view / "adapters", venvs):
        path.mkdir(parents=True)
    for file in [*peers.glob("*.py"), *peers.glob("adapters/*.py")]:
        (view / file.relative_to(peers)).symlink_to(file)
    (view / "adapters" / f"{_OURS}_.py").symlink_to(_ADAPTER)
    (view / "results").symlink_to(home / "results")
    # The texts of the corpus are looked for beside the folder.
    (folder / "evals").symlink_to(peers.parent / "evals")
    for path in home.glob("venv-*"):
        (venvs / path.name).symlink_to(path)
    for name in (_OURS, "base"):
        if not (ours := venvs / f"venv-{name}").exists():
            ours.symlink_to(sys.prefix)
    return view


def _runner(view: Path, home: Path) -> Any:
    """Their runner, told where everything is."""
    os.environ |= {"PEERS_HOME": str(home), "PEERS_VENVS": str(view.parent / "venvs")}
    sys.path.insert(0, str(view))
    runner: Any = import_module("bench")
    # It leaves open what a worker is started with; here with nothing before it.
    runner.NICE = []
    return runner


def _installed(runner: Any, wanted: Sequence[str]) -> Iterator[str]:
    known = runner.meta()
    for name in wanted:
        if name not in known:
            raise SystemExit(f"no adapter is called {name}; there are {', '.join(sorted(known))}")
        if Path(runner.VENVS, f"venv-{known[name]['venv']}").exists():
            yield name
        else:
            print(f"{name} is left out: venv-{known[name]['venv']} is not in PEERS_HOME", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", type=_folder, required=True, help="the folder with adapters/ and bench.py")
    parser.add_argument("--systems", type=lambda text: text.split(","), default=_SYSTEMS)
    parser.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",")], default="1000,10000"
    )
    parser.add_argument(
        "--work", type=lambda text: text.split(","), default="load,kill,writers", help="what to measure"
    )
    return parser.parse_args()


def _folder(text: str) -> Path:
    path = Path(text)
    if not (path / "bench.py").exists():
        raise argparse.ArgumentTypeError(
            f"{text or 'nothing'} is not a folder with a bench.py; name one with PEERS=…"
        )
    return path


if __name__ == "__main__":
    main()
