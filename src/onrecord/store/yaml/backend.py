"""HOW is a YAML file a store? The text is the truth; a SQLite file beside it is an index that answers everything.

`memories.yaml` holds the present state of each memory, `memories.history.jsonl` its versions and relations. The index
in the folder `.onrecord` is derived from both and may be deleted at any time. It holds the digests of its files: if
they differ, someone has edited or pulled a file, and the index is updated before anything is read.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from onrecord.errors import Invalid, StoreUnavailable, invalid
from onrecord.model.memory import Memory
from onrecord.store.backend import not_distributed
from onrecord.store.index.entries import INDEX_VERSION
from onrecord.store.ports.store import CopyReport
from onrecord.store.prepared import Statements
from onrecord.store.presence import no_store
from onrecord.store.records.archive import SqlArchive
from onrecord.store.records.facts import fact, keep_fact
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.yaml.document import YamlDocument, read_document
from onrecord.store.yaml.entries import EntryKey, identity_of, key_of, memory_of
from onrecord.store.yaml.files import EDITED, Digests, Files
from onrecord.store.yaml.following import Clean, EntriesMissing, FileIndex, bring_back, derive, take_edits
from onrecord.store.yaml.history import digest_of, read_history, tail_of
from onrecord.store.yaml.index_file import IndexFile, folder_beside
from onrecord.store.yaml.locking import FolderLock, HeldLock
from onrecord.store.yaml.recording import record
from onrecord.store.yaml.watching import Changes, changes_of, watch
from onrecord.yaml_reader import UnreadableYaml, decoded

_STAMP: Final = "yaml stamp"
_LAYOUT: Final = "yaml layout"
_LOOK_AGAIN_S: Final = 0.05
_WRITTEN_WITHIN_S: Final = 5


class _Stamp(NamedTuple):
    """The digests of the files of an index, and how it was made."""

    files: Digests
    version: str = INDEX_VERSION


class YamlBackend:
    """One memories.yaml with its history, and the index over both."""

    insert = staticmethod(SqliteBackend.insert)
    is_shared = SqliteBackend.is_shared
    positional = SqliteBackend.positional
    fetch = staticmethod(SqliteBackend.fetch)

    def __init__(
        self,
        path: Path,
        *,
        clean: Clean = lambda memory: memory,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        create: bool = True,
    ) -> None:
        path = path.resolve()
        self.location = str(path)
        self._clean = clean
        self._clock = clock
        self._files = Files(path)
        if not create and not self._files.are_there():
            raise no_store(self.location)
        # If the folder cannot be written, there is no lock, and the index is in memory.
        self._folder = folder = folder_beside(path)
        self._lock = None if folder is None else FolderLock(folder / "lock", self.location)
        self._index = IndexFile(folder, self.location)
        self.version_table = self._index.of_today().version_table
        self._statements = Statements(self)
        self.nearest = self._index.nearest
        self.similarity = self._index.similarity
        self.warm = self._index.warm
        self.explain = self._index.explain

    def exists(self) -> bool:
        return True

    def is_gone(self) -> bool:
        # Each change replaces memories.yaml, so that another file is no sign.
        return not self._files.are_there()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Takes no lock, unless the files have changed: then the index is updated first, if nobody is writing just
        now.
        """
        with ExitStack() as stack:
            connection = stack.enter_context(self._index.reading())
            if not self._is_true(connection):
                is_empty = _stamp(connection) is None
                stack.close()
                self._follow_if_free(wait=is_empty)
                connection = stack.enter_context(self._index.reading())
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._held() as held:
            with self._index.reading() as connection:
                is_true = self._is_true(connection)
            if not is_true:
                self._follow(held)
            is_put_down = False
            try:
                with self._index.writing() as connection:
                    watch(connection)
                    yield connection
                    if changes := changes_of(connection):
                        document, digests = self._put_down(connection, changes, held)
                        is_put_down = True
                        self._note(connection, document, digests)
            except DBAPIError:
                # The files hold the change, and the index follows them when it can be written again.
                if not is_put_down:
                    raise

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        with self.writing() as connection:
            yield connection

    @contextmanager
    def _held(self) -> Iterator[HeldLock | None]:
        if self._lock is None:
            yield None
        else:
            with self._lock.held() as held:
                yield held

    def _is_true(self, connection: Connection) -> bool:
        """Whether the index fits the files, and no crash has left anything to clean up."""
        is_tidy = self._lock is None or not self._files.has_leftovers()
        return is_tidy and _stamp(connection) == _Stamp(self._files.digests())

    def _follow_if_free(self, *, wait: bool) -> None:
        """Update the index unless someone holds the lock: they have checked the files, so the index is right until
        they are done.
        """
        if self._lock is None or wait:
            with self._held() as held:
                self._follow(held)
        else:
            with self._lock.tried() as tried:
                if tried is not None:
                    self._follow(tried)

    def _follow(self, held: HeldLock | None) -> None:
        """Update the index to the files. A file that was written just now and looks wrong is read again."""
        deadline = time.monotonic() + _WRITTEN_WITHIN_S
        while True:
            is_calm = self._files.is_calm() or time.monotonic() > deadline
            try:
                with self._index.writing() as connection:
                    self._take_over(connection, held, is_calm)
                return
            except (Invalid, EntriesMissing):
                if is_calm:
                    raise
            time.sleep(_LOOK_AGAIN_S)

    def _take_over(self, connection: Connection, held: HeldLock | None, is_calm: bool) -> None:
        index = FileIndex(connection, self._statements, self, self._clock(), self._clean)
        lines = self._files.history.read()
        stamp, tail = _stamp(connection), tail_of(lines or b"")
        is_same = stamp is not None and stamp == _Stamp(Digests(stamp.files.yaml, digest_of(lines)))
        read = None if is_same else read_history(lines or b"", tail.sound, str(self._files.history.path))
        if held is not None:
            lines = self._files.recover(lines, tail)
        content = self._files.yaml.read()
        document = self._read(content)
        kept = {} if read is None else derive(index, read)
        self._refuse_emptiness(index, content, is_calm)
        watch(connection)
        take_edits(index, document, self.location, calm=is_calm)
        if kept:
            bring_back(index, kept)
        digests = Digests(digest_of(content), digest_of(lines))
        changes = changes_of(connection)
        changes.anew |= read is not None and read.is_mended
        if (changes or document.is_outdated) and held is not None:
            written, document = record(connection, changes, document, digests)
            digests = self._files.put_down(held, written, digests)
        self._note(connection, document, digests)

    def _read(self, content: bytes | None) -> YamlDocument:
        try:
            return YamlDocument() if content is None else read_document(decoded(content))
        except UnreadableYaml as broken:
            raise invalid(f"{self.location}, line {broken.line}", broken.reason) from None

    def _refuse_emptiness(self, index: FileIndex, content: bytes | None, is_calm: bool) -> None:
        """Refuse a missing or empty file: losing it is not a wish to forget everything."""
        shown = (home for home in index.archive.homes() if home.collection.stands_in_file)
        known = sum(map(index.archive.count, shown))
        if known and not (content or b"").strip():
            if not is_calm:
                raise EntriesMissing
            state = "is gone" if content is None else "is empty"
            raise StoreUnavailable(
                f"{self.location} {state}, but its history has memories ({known}). Restore it; or, to "
                f"forget them all, write [] into it. Nothing was changed."
            )

    def _put_down(
        self, connection: Connection, changes: Changes, held: HeldLock | None
    ) -> tuple[YamlDocument, Digests]:
        """Write a change into the files; returns their state afterwards."""
        if held is None:
            raise StoreUnavailable(
                f"{self.location} cannot be written (read-only); nothing was changed. It can still be read."
            )
        content, stamp, layout = self._files.yaml.read(), _stamp(connection), fact(connection, _LAYOUT)
        assert stamp is not None
        assert layout is not None
        if digest_of(content) != stamp.files.yaml:
            raise StoreUnavailable(EDITED.format(path=self.location))
        document = YamlDocument() if content is None else YamlDocument.laid_out(content.decode(), layout)
        written, document = record(connection, changes, document, stamp.files)
        return document, self._files.put_down(held, written, stamp.files)

    def _note(self, connection: Connection, document: YamlDocument, digests: Digests) -> None:
        for name, value in ((_STAMP, json.dumps(_Stamp(digests))), (_LAYOUT, document.layout())):
            keep_fact(connection, self, name, value)

    def backup(self, path: Path, report: CopyReport) -> bool:
        """Always False: an export holds in one file what is in several here."""
        return False

    def copy_aside(self, name: str) -> str | None:
        """Always None: the texts do not change with the tables."""
        return None

    def files(self) -> list[Path]:
        beside = [] if self._folder is None else sorted(self._folder.iterdir())
        return [self._files.yaml.path, self._files.history.path, *beside]

    def integrity(self) -> Iterator[str]:
        yield from self._index.of_today().integrity()
        with self.reading() as connection:
            yield from self._disagreements(connection)

    def _disagreements(self, connection: Connection) -> Iterator[str]:
        """Where the index and the files differ, though their digests are right."""
        content, history = self._files.yaml.read(), self._files.history.read() or b""
        if self._lock is None or not self._is_true(connection):
            # A read-only store keeps edits in its index only; and while someone writes, the files cannot be compared.
            return
        archive = SqlArchive(connection)
        recorded = read_history(history, len(history), str(self._files.history.path))
        in_file = dict(_entries_of(self._read(content), archive))
        for home in archive.homes():
            histories, edges = list(archive.histories(home)), list(archive.edges(home))
            if histories != recorded.histories.get(home, []) or edges != recorded.edges.get(home, []):
                yield f"the index differs from {self._files.history.path} in tenant {home}"
            here = {key_of(memory): memory for memory in archive.memories(home)}
            if home.collection.stands_in_file and here != {
                key: memory for key, memory in in_file.items() if key.tenant == home.tenant
            }:
                yield f"the index differs from {self.location} in tenant {home}"

    def after_loading(self) -> None:
        self._index.of_today().after_loading()

    def after_embedding(self) -> None:
        self._index.of_today().after_embedding()

    def distribute(self) -> list[str]:
        raise not_distributed(self.location)

    def after_erasing(self) -> str | None:
        return self._index.of_today().after_erasing()

    def close(self) -> None:
        self._index.close()


def _stamp(connection: Connection) -> _Stamp | None:
    value = fact(connection, _STAMP)
    if value is None:
        return None
    files, version = json.loads(value)
    return _Stamp(Digests(*files), version)


def _entries_of(document: YamlDocument, archive: SqlArchive) -> Iterator[tuple[EntryKey, Memory]]:
    """The memory that the file describes; what it leaves open comes from what is known."""
    shown = (home for home in archive.homes() if home.collection.stands_in_file)
    known = {key_of(memory): memory for home in shown for memory in archive.memories(home)}
    for slot in document.slots:
        if slot.entry is not None:
            key = identity_of(slot.entry.values)
            memory = known.get(key)
            yield key, memory_of(slot.entry.values, datetime.now(UTC), memory)
