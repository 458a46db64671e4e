"""HOW is advice requested without delaying the caller? Within limits of time, concurrency and budget; a failure is
noted, and the operation goes on as it would without advice.
"""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Final

from onrecord.advisor.budget import Account
from onrecord.advisor.models import CountedReply, ModelName, ModelQuestion, Models, NoReply
from onrecord.advisor.policy import Policy
from onrecord.advisor.showing import shown
from onrecord.advisor.tasks import REPLY_TOKENS, SHAPES, prompt_of, read_reply
from onrecord.errors import OnRecordError, ProviderError
from onrecord.lru_cache import LruCache
from onrecord.model.advice import MICROS, TASKS, YES, AdviceInput, Advised, Task
from onrecord.providers.advising import AdvisorState, Asker, ModelState, NoAdvice
from onrecord.providers.breaker import Breaker
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.store import Store

_LOG: Final = logging.getLogger(__name__)
_REMEMBERED: Final = 256
_PATIENCE: Final = 3
_PAUSE_S: Final = 30.0


class OpenedAdvisor:
    """Advice by the configured models; threads may share it. The same question of the same caller is asked once."""

    is_there = True

    def __init__(
        self,
        store: Store,
        policy: Policy,
        *,
        models: Models | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._store, self._policy, self._clock = store, policy, clock
        self._models = models or Models(policy.access)
        self._breakers = {name: Breaker(_PATIENCE, _PAUSE_S, clock) for name in policy.models}
        self._places = BoundedSemaphore(policy.at_once)
        self._remembered: LruCache[bytes, Advised] = LruCache(_REMEMBERED)
        self._lock = Lock()
        self._busy = 0
        #: By tenant: how often its answers were looked at, and were too close to call.
        self._looked, self._asked = Counter[str](), Counter[str]()
        self._listeners: list[Callable[[Advised], None]] = []

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        prompt = prompt_of(task)
        advised = Advised(task=task, model="" if model == YES else model, applied=False, prompt=prompt.name)
        try:
            name = self._policy.chosen(task, model)
        except NoAdvice as problem:
            return replace(advised, note=str(problem))
        # An id is needed as it is, so one that is a secret stays here.
        input = replace(
            input, candidates=tuple(each for each in input.candidates if not scrub(each.id).found)
        )
        text = shown(task, input)
        advised = replace(advised, model=str(name), shown=tuple(each.id for each in input.candidates))
        key = _fingerprint(by, advised, text)
        if (known := self._remembered.get(key)) is not None:
            return known
        question = ModelQuestion(
            instructions=prompt.text, text=text, shape=SHAPES[task], reply_tokens=REPLY_TOKENS[task]
        )
        started = self._clock()
        advised = self._advised(name, question, advised, input, by)
        advised = replace(advised, ms=(self._clock() - started) * 1000)
        if advised.applied:
            self._remembered.put(key, replace(advised, ms=0.0, tries=0, tokens_in=0, tokens_out=0, cost=0.0))
        for listener in self._listeners:
            listener(advised)
        return advised

    def _advised(
        self, name: ModelName, question: ModelQuestion, advised: Advised, input: AdviceInput, by: Asker
    ) -> Advised:
        account = Account(self._store, self._policy, name, advised.task, by)
        try:
            answer = self._replied(name, question, account)
            advised = replace(
                advised,
                tries=answer.tries,
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                cost=account.cost_of(answer) / MICROS,
            )
            taken = read_reply(advised.task, answer.reply, input)
        except NoReply as problem:
            return replace(advised, tries=problem.tries, note=str(problem))
        except NoAdvice as problem:
            return replace(advised, note=f"The reply of the advisor {name} was not used: {problem}")
        except OnRecordError as problem:
            return replace(advised, note=str(problem))
        except Exception as problem:
            # Whatever a reply contains, an error in reading it must not lose a save or an answer.
            _LOG.error("Advice on %s failed.", advised.task, exc_info=problem)
            return replace(advised, note=f"The advisor {name} failed ({type(problem).__name__}).")
        return replace(advised, applied=True, said=taken.said, verdict=taken.verdict, why=taken.why)

    def _replied(self, name: ModelName, question: ModelQuestion, account: Account) -> CountedReply:
        """Ask a model in its turn, if it may be asked, and keep account of it."""
        breaker, called = self._breakers[name], f"The advisor {name}"
        if (paused := breaker.paused(called)) is not None:
            raise ProviderError(paused)
        # The first time, this loads the client library, for which the model has no blame.
        tokens = self._models.reply_tokens(name, question.reply_tokens)
        question = replace(question, reply_tokens=tokens)
        until = self._clock() + self._policy.timeout_s
        with self._place(called, until):
            breaker.check(called)
            account.open(question)
            try:
                answer = self._models.ask(name, question, max(until - self._clock(), 0.01))
            except NoReply as problem:
                if not problem.is_about_it:
                    breaker.failed(problem)
                account.close(problem)
                raise
            breaker.worked()
        account.close(answer)
        return answer

    @contextmanager
    def _place(self, called: str, until: float) -> Iterator[None]:
        """Take one of the slots for concurrent calls; without one in time, raise ProviderError."""
        if not self._places.acquire(timeout=max(until - self._clock(), 0)):
            raise ProviderError(f"{called} is still busy with {self._policy.at_once} earlier calls.")
        try:
            with self._lock:
                self._busy += 1
            yield
        finally:
            with self._lock:
                self._busy -= 1
            self._places.release()

    def note_looked(self, tenant: str, *, asked: bool) -> None:
        with self._lock:
            self._looked[tenant] += 1
            self._asked[tenant] += asked

    def state(self, tenant: str | None = None) -> AdvisorState:
        policy, limits = self._policy, self._policy.limits
        with self._lock:
            busy = self._busy
            looked, asked = (
                each.total() if tenant is None else each[tenant] for each in (self._looked, self._asked)
            )
        return AdvisorState(
            models=tuple(self._state_of(name) for name in policy.models),
            timeout_s=policy.timeout_s,
            at_once=policy.at_once,
            busy=busy,
            calls_per_day=limits.calls_per_day,
            calls_per_agent=limits.calls_per_agent,
            dollars_per_day=_dollars(limits.micros_per_day),
            dollars_per_agent=_dollars(limits.micros_per_agent),
            looked_at=looked,
            asked=asked,
        )

    def _state_of(self, name: ModelName) -> ModelState:
        tasks = tuple(task for task in TASKS if self._policy.usual_for(task) == name)
        return ModelState(
            model=str(name), tasks=tasks, paused=self._breakers[name].paused(f"The advisor {name}")
        )

    def close(self) -> None:
        self._models.close()

    def listen(self, heard: Callable[[Advised], None]) -> None:
        self._listeners.append(heard)


def _fingerprint(by: Asker, asked: Advised, text: str) -> bytes:
    """What makes a question the same: who asks, whom, by which prompt, and everything that is sent."""
    parts = (by.caller.tenant, by.caller.user, by.agent or "", asked.model, asked.prompt or "", text)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


def _dollars(micros: int | None) -> float | None:
    return None if micros is None else micros / MICROS
