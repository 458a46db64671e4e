"""WHAT is in the data exports of chat programs? Conversations: each question with its answer is one item. Of Claude also what
it remembers itself, and the texts of projects.
"""

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.items import Item, Unread, Unreadable, json_of, moment, text_of

_CONVERSATIONS: Final = "conversations.json"
_MEMORIES: Final = "memories.json"
_PROJECTS: Final = "projects.json"
_ROLES: Final = {"human": "user", "assistant": "assistant"}
_WORDS: Final = ("text", "multimodal_text")
#: More is no export, but something that unpacks without end.
_MOST_BYTES: Final = 2 * 1024**3


@dataclass(slots=True)
class _Exchange:
    """What a person asked, and what was answered."""

    asked: str
    at: datetime | None
    key: str
    answers: list[str] = field(default_factory=list)


def chatgpt(path: Path) -> Iterator[Item | Unread]:
    held = held_in(path, _CONVERSATIONS)
    if not isinstance(held, list) or not all(isinstance(each, dict) and "mapping" in each for each in held):
        raise Unreadable("its conversations have no mapping of messages")
    for number, each in enumerate(held, 1):
        id = text_of(each.get("conversation_id") or each.get("id") or number)
        place = f"{_CONVERSATIONS} conversation {number}"
        messages = [
            (str(message["id"]), *_of_chatgpt(message))
            for message in _branch(each)
            if isinstance(message, dict)
        ]
        yield from _items(id, text_of(each.get("title")), messages, place, moment(each.get("create_time")))


def claude(path: Path) -> Iterator[Item | Unread]:
    held = held_in(path, _CONVERSATIONS)
    if not isinstance(held, list) or not all(
        isinstance(each, dict) and "chat_messages" in each for each in held
    ):
        raise Unreadable("its conversations have no chat_messages")
    for number, each in enumerate(held, 1):
        messages = [
            (
                text_of(one.get("uuid")),
                _ROLES.get(str(one.get("sender")), ""),
                _of_claude(one),
                moment(one.get("created_at")),
            )
            for one in each["chat_messages"]
            if isinstance(one, dict)
        ]
        place = f"{_CONVERSATIONS} conversation {number}"
        yield from _items(text_of(each.get("uuid")), text_of(each.get("name")), messages, place, None)
    yield from _remembered(held_in(path, _MEMORIES, needed=False))
    for project in held_in(path, _PROJECTS, needed=False) or ():
        yield from _of_project(project)


def held_in(path: Path, name: str, needed: bool = True) -> Any:
    """A file of an export, which may still be packed."""
    if path.is_dir():
        path = path / name
    elif zipfile.is_zipfile(path):
        return _packed(path, name, needed)
    elif path.name != name and not needed:
        path = path.with_name(name)
    if not path.exists() and not needed:
        return None
    return json_of(path)


def _packed(path: Path, name: str, needed: bool) -> Any:
    with zipfile.ZipFile(path) as archive:
        found = [each for each in archive.infolist() if each.filename.rpartition("/")[2] == name]
        if not found:
            if needed:
                raise Unreadable(f"there is no {name} in it")
            return None
        if found[0].file_size > _MOST_BYTES:
            raise Unreadable(f"{name} in it is larger than {_MOST_BYTES:,} bytes")
        try:
            return json.loads(archive.read(found[0]))
        except (ValueError, RecursionError, zipfile.BadZipFile, RuntimeError) as problem:
            raise Unreadable(f"{name} in it cannot be read ({type(problem).__name__})") from None


def _branch(conversation: dict[str, Any]) -> list[Any]:
    """The messages that lead to the last one shown: what was asked again differently is left out."""
    mapping = conversation["mapping"] if isinstance(conversation["mapping"], dict) else {}
    at, seen, messages = conversation.get("current_node"), set[str](), list[Any]()
    if at not in mapping:
        at = next((name for name in reversed(mapping) if not (mapping[name] or {}).get("children")), None)
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        node = mapping[at] or {}
        if isinstance(node.get("message"), dict):
            messages.append(node["message"] | {"id": node["message"].get("id") or at})
        at = node.get("parent")
    return messages[::-1]


def _of_chatgpt(message: dict[str, Any]) -> tuple[str, str, datetime | None]:
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else ""
    parts = (
        content.get("parts") if isinstance(content, dict) and content.get("content_type") in _WORDS else ()
    )
    text = "\n".join(each for each in parts or () if isinstance(each, str))
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    return str(role), "" if hidden else text.strip(), moment(message.get("create_time"))


def _of_claude(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [
        each["text"]
        for each in (content if isinstance(content, list) else ())
        if isinstance(each, dict) and each.get("type") == "text" and isinstance(each.get("text"), str)
    ]
    return ("\n".join(parts) or text_of(message.get("text"))).strip()


def _items(
    id: str,
    title: str,
    messages: Sequence[tuple[str, str, str, datetime | None]],
    place: str,
    began: datetime | None,
) -> Iterator[Item | Unread]:
    exchanges: list[_Exchange] = []
    for key, role, text, at in messages:
        if not text:
            continue
        if role == "user":
            exchanges.append(_Exchange(text, at or began, key))
        elif role == "assistant" and exchanges:
            exchanges[-1].answers.append(text)
    for each in exchanges:
        said = [f"Asked: {each.asked}", *(f"Answered: {answer}" for answer in each.answers)]
        yield Item(
            key=f"{id}.{each.key}",
            place=place,
            content="\n\n".join(said),
            title=f"{title}: {each.asked}" if title else None,
            kind="context",
            category="conversation",
            created_at=each.at,
            metadata={"conversation": id, "conversation_title": title},
        )


def _remembered(held: Any) -> Iterator[Item | Unread]:
    for number, each in enumerate(held if isinstance(held, list) else (), 1):
        if not isinstance(each, dict):
            continue
        texts = {"": each.get("conversations_memory"), **(each.get("project_memories") or {})}
        for project, text in texts.items():
            if isinstance(text, str) and text.strip():
                yield Item(
                    key=f"memory.{project or 'conversations'}",
                    place=f"{_MEMORIES} entry {number}",
                    content=text,
                    kind="summary",
                    category="memory",
                    metadata={"project": project} if project else {},
                )


def _of_project(project: Any) -> Iterator[Item | Unread]:
    if not isinstance(project, dict):
        return
    name = text_of(project.get("name"))
    for number, each in enumerate(project.get("docs") or (), 1):
        if isinstance(each, dict) and text_of(each.get("content")).strip():
            yield Item(
                key=f"project.{each.get('uuid') or f'{name}-{number}'}",
                place=f"{_PROJECTS} {name} document {number}",
                content=text_of(each["content"]),
                title=f"{name}: {text_of(each.get('filename'))}",
                kind="reference",
                category="project",
                created_at=moment(each.get("created_at")),
                metadata={"project": name, "filename": each.get("filename")},
            )
