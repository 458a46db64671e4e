"""WHAT runs in a process of its own? One look: a query over a connection that cannot write, or the hash of a file.

The work comes on standard input and its result goes to standard output, both as JSON: an address with its password is in
no argument, no variable and no file. This module loads little, since one process is started for each check.
"""

import contextlib
import hashlib
import json
import os
import signal
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

_AT_ONCE: Final = 500
_CELL: Final = 500
_MEGABYTE: Final = 1024 * 1024
_LARGEST_FILE: Final = 64 * _MEGABYTE
#: SQLite may have to make the index of another process's log anew.
_WRITTEN: Final = 8 * _MEGABYTE
_SQLITE_FUNCTIONS: Final = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "random", "randomblob"}
)
_SQLITE_READS: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_FUNCTION}
)
#: Whether the role may write anything, or read and run what lies beside the database.
_MAY_WRITE: Final = """
select r.rolsuper or r.rolcreaterole or r.rolcreatedb
    or exists (select 1 from pg_roles g where g.rolname in ('pg_write_all_data', 'pg_write_server_files',
            'pg_read_server_files', 'pg_execute_server_program') and pg_has_role(r.oid, g.oid, 'member'))
    or exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
            and n.nspname not like 'pg_toast%' and n.nspname not like 'pg_temp%'
            and (has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                or has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')
                or pg_has_role(r.oid, c.relowner, 'member')))
from pg_roles r where r.rolname = current_user
"""

Work = dict[str, Any]
Row = tuple[Any, ...]


class Broken(Exception):
    """The database is there, and says that the query cannot run on it: what it names is not there."""


def main() -> None:
    """Do the one piece of work. Whatever goes wrong becomes a result, or the end of this process."""
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What a library prints must not be taken for the result.
    os.dup2(2, 1)
    work = json.load(sys.stdin)
    try:
        _limit(work)
        found = _DOES[work["kind"]](work)
    except Broken as problem:
        found = {"broken": str(problem)}
    except MemoryError:
        found = {"problem": "it took more memory than a check may take"}
    except Exception as problem:
        found = {"problem": f"{type(problem).__name__}: {problem}"}
    json.dump(found, result)
    result.flush()
    # Nothing that a driver wants to do at its end may hold this process.
    os._exit(0)


def _limit(work: Work) -> None:
    """Bound what this process may take, also if whoever started it dies."""
    if sys.platform == "win32":
        return
    import resource

    seconds = int(work["seconds"]) + 1
    signal.alarm(seconds)
    memory = int(work["megabytes"]) * _MEGABYTE
    written = _WRITTEN if work["kind"] == "sqlite" else 0
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, written),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (bound, bound))


def _sqlite(work: Work) -> Work:
    from onrecord.store.sqlite_read_only import connect_read_only

    path = Path(work["address"]).expanduser()
    if not path.is_file():
        raise OSError("there is no such file")
    with contextlib.closing(connect_read_only(path, timeout=work["seconds"])) as connection:
        connection.execute("PRAGMA query_only = on")
        connection.execute("PRAGMA temp_store = memory")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MEGABYTE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(_lets_read)
        try:
            cursor = connection.execute(work["sql"])
            names = [each[0] for each in cursor.description]
            return _counted(names, [None] * len(names), cursor.fetchmany, work["rows"])
        except sqlite3.Error as problem:
            if str(problem).startswith(
                ("no such table", "no such column", "ambiguous", "near ", "misuse", "wrong number")
            ):
                raise Broken(str(problem)) from None
            raise


def _lets_read(action: int, one: str | None, two: str | None, schema: str | None, by: str | None) -> int:
    if action not in _SQLITE_READS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in _SQLITE_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _duckdb(work: Work) -> Work:
    import duckdb

    path = Path(work["address"]).expanduser()
    if not path.is_file():
        raise OSError("there is no such file")
    settings: dict[str, Any] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": f"{int(work['megabytes']) // 4}MB",
        "temp_directory": "",
        "threads": "1",
    }
    with contextlib.closing(duckdb.connect(str(path), read_only=True, config=settings)) as connection:
        connection.execute("SET lock_configuration = true")
        try:
            connection.execute(work["sql"])
            described = connection.description or []
            names, types = [each[0] for each in described], [str(each[1]) for each in described]
            return _counted(names, types, connection.fetchmany, work["rows"])
        except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as problem:
            raise Broken(str(problem).splitlines()[0]) from None


def _postgresql(work: Work) -> Work:
    import psycopg

    milliseconds = int(work["seconds"]) * 1_000
    own = psycopg.conninfo.conninfo_to_dict(work["address"]).get("options") or ""
    # The last word about a setting counts.
    options = f"{own} -c default_transaction_read_only=on -c statement_timeout={milliseconds} -c lock_timeout={milliseconds}"
    try:
        opened = psycopg.connect(
            work["address"], connect_timeout=max(2, int(work["seconds"])), options=options
        )
    except psycopg.OperationalError as problem:
        # Before that stands where the server is.
        raise psycopg.OperationalError(str(problem).rpartition(" failed: ")[2]) from None
    with opened as connection:
        connection.read_only = True
        writes = connection.execute(_MAY_WRITE).fetchone()
        if writes is None or writes[0]:
            raise PermissionError("its role can write; give the connection a role that can only read")
        try:
            with connection.cursor(name="checked") as cursor:
                cursor.execute(work["sql"])
                described = cursor.description or []
                names = [each.name for each in described]
                types = [each.type_display for each in described]
                return _counted(names, types, cursor.fetchmany, work["rows"])
        except psycopg.errors.InsufficientPrivilege:
            raise
        except psycopg.Error as problem:
            if (problem.sqlstate or "").startswith("42"):
                raise Broken(str(problem).splitlines()[0]) from None
            raise


def _counted(
    names: list[str], types: Sequence[str | None], fetch: Callable[[int], list[Row]], most: int
) -> Work:
    """Columns, types, the number of rows up to a bound, and the first value; no more than a few rows are held."""
    rows, first, known = 0, None, list(types)
    while rows <= most:
        page = fetch(min(_AT_ONCE, most + 1 - rows))
        if not page:
            break
        if not rows and page[0]:
            first = _plain(page[0][0])
        for at in (at for at, each in enumerate(known) if each is None):
            known[at] = next((type(row[at]).__name__ for row in page if row[at] is not None), None)
        rows += len(page)
    return {
        "columns": names,
        "types": [each or "null" for each in known],
        "rows": min(rows, most),
        "more": rows > most,
        "first": first,
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:_CELL]


def _folder(work: Work) -> Work:
    """The hash of a file in a folder, or of some of its lines."""
    root = Path(work["address"]).expanduser().resolve(strict=True)
    try:
        path = (root / work["path"]).resolve(strict=True)
    except FileNotFoundError:
        raise Broken("the file is not there") from None
    if not path.is_relative_to(root):
        raise PermissionError("the path leads out of the folder")
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(opened, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise PermissionError("it is not a file")
        if about.st_size > _LARGEST_FILE:
            raise OSError(f"the file has more than {_LARGEST_FILE // _MEGABYTE} MB")
        digest = hashlib.sha256()
        lines = 0
        for piece in _lines(file, work.get("lines")):
            digest.update(piece)
            lines += 1
    if work.get("lines") and not lines:
        raise Broken(f"the file has no line {work['lines'][0]}")
    return {"sha256": digest.hexdigest()}


def _lines(file: Any, between: list[int] | None) -> Iterator[bytes]:
    if not between:
        yield from iter(lambda: file.read(_MEGABYTE), b"")
        return
    for number, line in enumerate(file, 1):
        if number > between[1]:
            return
        if number >= between[0]:
            yield line


_DOES: Final[dict[str, Callable[[Work], Work]]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "folder": _folder,
}

if __name__ == "__main__":
    main()
