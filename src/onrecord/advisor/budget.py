"""MAY it be asked once more, and what has it cost? Each call is noted in the audit and taken from the budget before anything
leaves, and settled when the reply is there.
"""

from contextlib import suppress
from typing import Final

from onrecord.advisor.models import TOKEN_BYTES, CountedReply, ModelName, ModelQuestion, NoReply
from onrecord.advisor.policy import FREE, DailyLimits, Policy
from onrecord.errors import OnRecordError
from onrecord.model.advice import MICROS, Task
from onrecord.providers.advising import Asker, NoAdvice
from onrecord.store.ports.ledger import Ledger, Spending
from onrecord.store.ports.store import Store

#: The operation under which the audit lists each call.
AUDITED: Final = "advise"


class Account:
    """One call, from its estimate to what it took."""

    def __init__(self, store: Store, policy: Policy, name: ModelName, task: Task, by: Asker) -> None:
        self._store, self._policy, self._name, self._task, self._by = store, policy, name, task, by
        self._price = policy.price_of(name)
        self._estimate = 0
        self._day = by.now.toordinal()

    def open(self, question: ModelQuestion) -> None:
        """Note what is about to be sent and take it from the budget, in one transaction; NoAdvice if it is used up."""
        limits = self._policy.limits
        if limits.are_of_money and self._price is None:
            raise NoAdvice(
                f"there is a budget in dollars, but the price of {self._name} is not known: set `advisor_prices`."
            )
        self._estimate = (self._price or FREE).micros(question.size // TOKEN_BYTES, question.reply_tokens)
        call = f"{self._task} {self._name} {question.size} bytes"
        subject = f"{call}\n{question.text}" if self._policy.keeps_texts else call
        with self._store.ledger(self._by.caller.tenant) as ledger:
            # The audit allows one writer of the tenant at a time, so two cannot take the last call.
            ledger.note(self._by.caller, AUDITED, self._by.now, subject)
            self._refuse_beyond(limits, ledger)
            ledger.spend(self._day, self._spending(calls=1, micros=self._estimate))

    def close(self, answer: CountedReply | NoReply) -> None:
        """Settle a call, or note that it failed. The advice counts even if this cannot be kept: what was estimated stays.
        Each repetition is a call, too, and the estimate stays for each reply that the service may have worked on in vain.
        """
        # One try and its reply were taken already.
        counted = {"calls": max(answer.tries - 1, 0), "micros": (answer.lost - 1) * self._estimate}
        if isinstance(answer, NoReply):
            counted["failed"] = 1
        else:
            counted |= {"tokens_in": answer.tokens_in, "tokens_out": answer.tokens_out}
            counted["micros"] += self.cost_of(answer)
        settled = self._spending(**counted)
        with suppress(OnRecordError), self._store.ledger(self._by.caller.tenant) as ledger:
            ledger.spend(self._day, settled)

    def cost_of(self, answer: CountedReply) -> int:
        """What a reply cost, in millionths of a dollar."""
        return (self._price or FREE).micros(answer.tokens_in, answer.tokens_out)

    def _spending(self, **counted: int) -> Spending:
        return Spending(self._by.caller.user, self._by.agent or "", self._task, str(self._name), **counted)

    def _refuse_beyond(self, limits: DailyLimits, ledger: Ledger) -> None:
        spent = ledger.spent(self._day)
        own = [each for each in spent if each.agent == self._by.agent]
        tenant, agent = "this tenant", f"the agent {self._by.agent}"
        _refuse(tenant, spent, limits.calls_per_day, limits.micros_per_day, self._estimate)
        if self._by.agent is not None:
            _refuse(agent, own, limits.calls_per_agent, limits.micros_per_agent, self._estimate)


def _refuse(whose: str, spent: list[Spending], calls: int | None, micros: int | None, more: int) -> None:
    if calls is not None and sum(each.calls for each in spent) >= calls:
        raise NoAdvice(f"{whose} has asked {calls} times today, which is its budget.")
    if micros is not None and (used := sum(each.micros for each in spent)) + more > micros:
        raise NoAdvice(
            f"{whose} has used ${used / MICROS:.4f} of ${micros / MICROS:g} today, and this request could exceed that."
        )
