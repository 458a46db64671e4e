"""WHICH model is asked, how often, and at which price? The configuration of an advisor, read from settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from onrecord.advisor.models import FORMS, KINDS, Access, Form, ModelName, model_named
from onrecord.errors import Fault, Invalid
from onrecord.model.advice import MICROS, TASKS, YES, Task
from onrecord.providers.advising import NoAdvice

NONE: Final = "none"
TIMEOUT_S: Final = 10.0
AT_ONCE: Final = 8


class Price(NamedTuple):
    """What a million tokens cost in dollars: those that are read, and those that are written."""

    read: Decimal
    written: Decimal

    def micros(self, tokens_in: int, tokens_out: int) -> int:
        """What so many cost, in millionths of a dollar, rounded up."""
        exact = self.read * tokens_in + self.written * tokens_out
        return int(exact.to_integral_value(rounding="ROUND_CEILING"))


FREE: Final = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """How much an advisor may be asked on a day, in calls and in millionths of a dollar; None for no limit."""

    calls_per_day: int | None = None
    calls_per_agent: int | None = None
    micros_per_day: int | None = None
    micros_per_agent: int | None = None

    @property
    def are_of_money(self) -> bool:
        return self.micros_per_day is not None or self.micros_per_agent is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The models that may be asked and how they are reached, their prices, and the limits."""

    usual: ModelName
    of_tasks: Mapping[Task, ModelName] = field(default_factory=dict)
    others: tuple[ModelName, ...] = ()
    access: Access = Access()
    prices: Mapping[ModelName, Price] = field(default_factory=dict)
    limits: DailyLimits = DailyLimits()
    timeout_s: float = TIMEOUT_S
    at_once: int = AT_ONCE
    #: Whether the audit keeps what was sent, too.
    keeps_texts: bool = False

    @property
    def models(self) -> tuple[ModelName, ...]:
        return tuple(dict.fromkeys((self.usual, *self.of_tasks.values(), *self.others)))

    def usual_for(self, task: Task) -> ModelName:
        return self.of_tasks.get(task, self.usual)

    def chosen(self, task: Task, name: str) -> ModelName:
        """The model that a request names, with or without its provider; NoAdvice if it is not one of those configured."""
        if name == YES:
            return self.usual_for(task)
        for known in self.models:
            if name in (str(known), known.model):
                return known
        raise NoAdvice(
            f"{name!a} is not a model that is configured here; the configured ones are {', '.join(map(str, self.models))}."
        )

    def price_of(self, name: ModelName) -> Price | None:
        """What a model costs, from the settings or from the price list of the client library; None if neither has it."""
        if name in self.prices:
            return self.prices[name]
        return FREE if name.kind == "ollama" else _listed_price(name)


def _listed_price(name: ModelName) -> Price | None:
    try:
        from genai_prices import Usage, calc_price

        million = calc_price(Usage(input_tokens=MICROS), model_ref=name.model, provider_id=name.kind)
        written = calc_price(Usage(output_tokens=MICROS), model_ref=name.model, provider_id=name.kind)
    except (ImportError, LookupError, ValueError):
        return None
    return Price(million.total_price, written.total_price)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTexts:
    """The settings of an advisor as they are written."""

    advisor: str = NONE
    models: str | None = None
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    key_file: str | None = None
    form: str = "tools"
    timeout: str | None = None
    at_once: str | None = None
    calls_per_day: str | None = None
    calls_per_agent: str | None = None
    dollars_per_day: str | None = None
    dollars_per_agent: str | None = None
    prices: str | None = None
    keeps_texts: str = "no"


def read_policy(texts: PolicyTexts) -> Policy:
    """What is configured; Invalid lists everything that is wrong."""
    reader = _SettingsReader()
    usual = reader.model("advisor", texts.advisor)
    of_tasks, others = reader.models(texts.models)
    policy = Policy(
        usual=usual,
        of_tasks=of_tasks,
        others=others,
        access=Access(
            urls=reader.urls(texts.url, usual.kind),
            keys=reader.keys(texts.key, texts.key_file, usual.kind),
            form=reader.form(texts.form),
        ),
        prices=reader.prices(texts.prices),
        limits=DailyLimits(
            calls_per_day=reader.count("advisor_calls_per_day", texts.calls_per_day),
            calls_per_agent=reader.count("advisor_calls_per_agent", texts.calls_per_agent),
            micros_per_day=reader.micros("advisor_dollars_per_day", texts.dollars_per_day),
            micros_per_agent=reader.micros("advisor_dollars_per_agent", texts.dollars_per_agent),
        ),
        timeout_s=float(reader.number("advisor_timeout", texts.timeout, Decimal(3600)) or TIMEOUT_S),
        at_once=reader.count("advisor_at_once", texts.at_once) or AT_ONCE,
        keeps_texts=texts.keeps_texts == "yes",
    )
    reader.end()
    return policy


class _SettingsReader:
    """Reads settings and collects what is wrong with them."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def end(self) -> None:
        if self._faults:
            raise Invalid(self._faults)

    def model(self, field: str, text: str) -> ModelName:
        found = model_named(text)
        if found is None:
            there = ", ".join(f"{kind}:MODEL" for kind in KINDS)
            self._wrong(field, f"{text!a} is not a model; there are {there}, or {NONE}")
        return found or ModelName("ollama", text)

    def models(self, text: str | None) -> tuple[dict[Task, ModelName], tuple[ModelName, ...]]:
        of_tasks, others = dict[Task, ModelName](), list[ModelName]()
        for each in _several(text):
            task, equals, name = each.partition("=")
            if not equals:
                others.append(self.model("advisor_models", each))
            elif task.strip() in TASKS:
                of_tasks[cast(Task, task.strip())] = self.model("advisor_models", name)
            else:
                self._wrong("advisor_models", f"{task!a} is not a task; there are {', '.join(TASKS)}")
        return of_tasks, tuple(others)

    def urls(self, text: str | None, usual: str) -> dict[str, str]:
        found = _by_kind(text, usual)
        for url in found.values():
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                self._wrong("advisor_url", "must be an address such as http://127.0.0.1:11434/v1")
        return found

    def keys(self, text: str | None, file: str | None, usual: str) -> dict[str, str]:
        if file is None:
            return self._sendable("advisor_key", _by_kind(text, usual))
        if text is not None:
            self._wrong("advisor_key_file", "cannot be set together with advisor_key")
        try:
            held = ",".join(Path(file).expanduser().read_text(encoding="utf-8").split())
        except (OSError, UnicodeDecodeError) as problem:
            self._wrong("advisor_key_file", f"cannot be read: {type(problem).__name__}")
            return {}
        return self._sendable("advisor_key_file", _by_kind(held, usual))

    def _sendable(self, field: str, keys: dict[str, str]) -> dict[str, str]:
        for kind, key in keys.items():
            if not (key.isascii() and key.isprintable()) or " " in key:
                self._wrong(field, f"holds a key for {kind} with a character that no key has")
        return keys

    def form(self, text: str) -> Form:
        if text not in FORMS:
            self._wrong("advisor_form", f"must be one of {', '.join(FORMS)}")
        return cast(Form, text)

    def prices(self, text: str | None) -> dict[ModelName, Price]:
        found = {}
        for each in _several(text):
            name, _, rates = each.rpartition("=")
            read, _, written = rates.partition("/")
            try:
                price = Price(Decimal(read), Decimal(written))
            except InvalidOperation:
                price = Price(Decimal(-1), Decimal(-1))
            if not all(part.is_finite() and part >= 0 for part in price):
                self._wrong(
                    "advisor_prices", f"{each!a} is not MODEL=READ/WRITTEN in dollars for a million tokens"
                )
            found[self.model("advisor_prices", name)] = price
        return found

    def count(self, field: str, text: str | None) -> int | None:
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and 0 < int(text[:18]) <= 10**9):
            self._wrong(field, "must be a whole number from 1 to 1000000000")
            return None
        return int(text)

    def number(self, field: str, text: str | None, most: Decimal) -> Decimal | None:
        if not text:
            return None
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal(-1)
        if not value.is_finite() or not 0 < value <= most:
            self._wrong(field, f"must be a number above 0 and at most {most}")
            return None
        return value

    def micros(self, field: str, text: str | None) -> int | None:
        value = self.number(field, text, Decimal(10**6))
        return None if value is None else int(value * MICROS)

    def _wrong(self, field: str, message: str) -> None:
        self._faults.append(Fault(field, message))


def _several(text: str | None) -> list[str]:
    return [part for each in (text or "").split(",") if (part := each.strip())]


def _by_kind(text: str | None, usual: str) -> dict[str, str]:
    """One value for the usual provider, or several, each after the name of its provider: openai=…,anthropic=…"""
    found = {}
    for each in _several(text):
        kind, equals, value = each.partition("=")
        if equals and kind.strip() in KINDS:
            found[kind.strip()] = value.strip()
        else:
            found[usual] = each
    return found
