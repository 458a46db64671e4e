"""WHAT do the pages look like? Pictures of the demo shop at three widths, light and dark: `python docs/screenshots.py`.

They are for the README and for whoever changes a page and looks at it again; no test compares them.
"""

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import uvicorn
from playwright.sync_api import Page, sync_playwright

from onrecord import demo
from onrecord.app import open_server_parts
from onrecord.config import load
from onrecord.surfaces.serving import application
from onrecord.surfaces.serving.connections import server_settings

FOLDER = Path(__file__).with_name("screenshots")
MOST_BYTES = 200_000
PAGES = {
    "ask": "/?question=how+is+revenue+computed%3F",
    "memory": "/memory/demo.freeze",
    "graph": "/graph?memory=demo.gross",
    "catalog": "/catalog/model?name=shop.orders",
}
#: What follows the name of a page in that of its picture, and how large the window is.
WINDOWS = {"": (1200, 780), "-tablet": (800, 1000), "-phone": (390, 844)}


@contextmanager
def served() -> Iterator[str]:
    """The address of a server on the demo shop, with all its vectors made."""
    with tempfile.TemporaryDirectory() as folder:
        config = load(
            {"ONRECORD_CONFIG": str(Path(folder, "none.toml"))},
            db=str(Path(folder, "demo.db")),
            user="you",
            worker="no",
        )
        parts = open_server_parts(config)
        demo.load(parts.door)
        parts.door.embed_missing()
        app = application(config, parts, log=lambda event, **told: None)
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, **server_settings(config)))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme, (size, (width, height)) in product(("light", "dark"), WINDOWS.items()):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
            for name, path in PAGES.items():
                page.goto(address + path)
                page.wait_for_load_state("networkidle")
                _take(page, FOLDER / f"{name}{size}-{scheme}.png")
        browser.close()


def _take(page: Page, picture: Path) -> None:
    page.screenshot(path=picture)
    size = picture.stat().st_size
    print(f"{picture.name}: {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"{picture.name} is larger than {MOST_BYTES:,} bytes.")


if __name__ == "__main__":
    main()
