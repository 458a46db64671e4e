"""WHAT if someone uses the shell while a server runs? Both see what the other saved, and nothing is lost."""

import os
from pathlib import Path
from typing import Any


def test_a_command_beside_a_server_leaves_it_its_log(served: Any, shell: Any) -> None:
    server = served()
    server.client.post("/v1/memories", json={"content": "Ports are closed at night."})
    assert shell.process("remember", "Gates open at six.", ONRECORD_DB=server.config.db).code == 0
    log = Path(f"{server.config.db}-wal")
    # A log that is gone from its folder takes with it whatever the server still writes to it.
    assert log.exists()
    assert str(log) in {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}


def test_a_server_and_the_shell_see_what_the_other_saves(served: Any, shell: Any) -> None:
    server = served()
    for number in range(3):
        said = shell.process(
            "remember", f"Authenticator {number} opens at six.", ONRECORD_DB=server.config.db
        )
        assert said.code == 0
        assert server.client.get(f"/v1/memories/{2 * number + 1}").status_code == 200
        server.client.post("/v1/memories", json={"content": f"Port {number} is closed at night."})
        assert shell.process("show", str(2 * number + 2), ONRECORD_DB=server.config.db).code == 0
