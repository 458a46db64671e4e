"""MAY it be asked once more, and what has it cost? Each call is noted in the audit and taken from the budget before anything
leaves, and settled when the reply is there.
"""

from contextlib import suppress
from typing import Final

from onrecord.advisor.asking import ModelName, Question, Told
from onrecord.advisor.policy import FREE, Limits, Policy
from onrecord.errors import OnRecordError
from onrecord.model.advice import MICROS, Task
from onrecord.providers.advising import Asker, NoAdvice
from onrecord.store.ports.ledger import Ledger, Spending
from onrecord.store.ports.store import Store

#: The operation under which the audit lists each call.
AUDITED: Final = "advise"
#: A token has at least so many bytes as a rule, so that an estimate is rather too high.
_TOKEN_BYTES: Final = 2


class Account:
    """One call, from its estimate to what it took."""

    def __init__(self, store: Store, policy: Policy, name: ModelName, task: Task, by: Asker) -> None:
        self._store, self._policy, self._name, self._task, self._by = store, policy, name, task, by
        self._price = policy.price_of(name)
        self._estimate = 0
        self._day = by.now.toordinal()

    def open(self, question: Question) -> None:
        """Note what is about to be sent and take it from the budget, in one transaction; NoAdvice if it is used up."""
        limits = self._policy.limits
        if limits.are_of_money and self._price is None:
            raise NoAdvice(
                f"there is a budget in dollars, and nobody knows what {self._name} costs: set `advisor_prices`."
            )
        size = len((question.instructions + question.text).encode("utf-8", "surrogatepass"))
        self._estimate = (self._price or FREE).micros(size // _TOKEN_BYTES, question.reply_tokens)
        told = f"{self._task} {self._name} {size} bytes"
        subject = f"{told}\n{question.text}" if self._policy.keeps_texts else told
        with self._store.ledger(self._by.caller.tenant) as ledger:
            # The audit allows one writer of the tenant at a time, so two cannot take the last call.
            ledger.note(self._by.caller, AUDITED, self._by.now, subject)
            self._refuse_beyond(limits, ledger)
            ledger.spend(self._day, self._spending(calls=1, micros=self._estimate))

    def close(self, told: Told | None) -> None:
        """Settle a call, or note that it failed. The advice counts even if this cannot be kept: what was estimated stays."""
        if told is None:
            settled = self._spending(failed=1, micros=-self._estimate)
        else:
            tokens = {"tokens_in": told.tokens_in, "tokens_out": told.tokens_out}
            settled = self._spending(**tokens, micros=self.cost_of(told) - self._estimate)
        with suppress(OnRecordError), self._store.ledger(self._by.caller.tenant) as ledger:
            ledger.spend(self._day, settled)

    def cost_of(self, told: Told) -> int:
        """What a reply cost, in millionths of a dollar."""
        return (self._price or FREE).micros(told.tokens_in, told.tokens_out)

    def _spending(self, **counted: int) -> Spending:
        return Spending(self._by.caller.user, self._by.agent or "", self._task, str(self._name), **counted)

    def _refuse_beyond(self, limits: Limits, ledger: Ledger) -> None:
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
            f"{whose} has used ${used / MICROS:.4f} of ${micros / MICROS:g} today, and this could take more."
        )
