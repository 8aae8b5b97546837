"""Which judge a wait gets, whether one is configured, and whether it can answer now."""

from __future__ import annotations

from collections.abc import Mapping

from acud.config import Settings, key_variable
from acud.config.api_keys import ApiKey
from acud.config.backends import NEEDING_KEY, PREDEFINED
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.types import JudgeChoice, JudgeName


class JudgeSelection:
    """Selects judges by the settings and by what evaluators report of them. `keys`: of the backends, by name."""

    def __init__(self, settings: Settings, pool: EvaluatorPool, keys: Mapping[str, ApiKey]) -> None:
        self._settings, self._pool, self._keys = settings, pool, keys
        self._had_ollama = False

    def effective_judge(self) -> str:
        """Return the judge that `auto` means now: the first of the chain that is not down."""
        chain = self._settings.vision.chain()
        healths = {name: self._pool.find_judge(name) for name in chain}
        well = [name for name, health in healths.items() if health is None or health.state != "down"]
        return (well or list(chain) or [self.judge_of(JudgeName.AUTO)])[0]

    def judge_of(self, choice: JudgeChoice) -> JudgeChoice:
        """Return the judge for a wait that asks for `choice`; `auto` for a chain, which evaluators try in order."""
        if choice != JudgeName.AUTO:
            return choice
        chain = self._settings.vision.chain()
        if chain:
            return chain[0] if len(chain) == 1 else JudgeName.AUTO
        ollama = self._pool.find_judge("ollama")
        return JudgeName.OLLAMA if ollama is not None and ollama.state == "ready" else JudgeName.OCR

    def explain_missing_judge(self, choice: JudgeChoice) -> str:
        """Return why no vision judge is configured for `choice`, or "" if one is (even if it is down)."""
        chain = (choice,) if choice != JudgeName.AUTO else self._settings.vision.chain()
        if not chain:
            return self.explain_missing_ollama()
        missing = [self._explain_unset(name) for name in chain]
        return "" if "" in missing else "; ".join(missing)

    def explain_missing_ollama(self) -> str:
        """Return why `auto` means OCR only: no backend is set, and no ollama with the model was ever up; else ""."""
        ollama = self._pool.find_judge("ollama")
        well = ollama is None or ollama.state != "down"
        self._had_ollama |= ollama is not None and well
        if well or self._had_ollama or self._settings.backends["ollama"] != PREDEFINED["ollama"]:
            return ""
        return f"no vision backend is configured, and the usual ollama is not there ({ollama.reason if ollama else ''})"

    def _explain_unset(self, name: str) -> str:
        if name == JudgeName.OCR:
            return "OCR reads text, and sees nothing else"
        if name == JudgeName.FLEET:
            return "" if self._settings.fleet.urls else "fleet has no url in [fleet]"
        if isinstance(self._settings.backends.get(name), NEEDING_KEY) and not self._keys[name].is_set:
            return f"{name} has no key: set {key_variable(name)}"
        return ""

    def is_local(self, choice: JudgeChoice) -> bool:
        """Return whether no judge for `choice`, also of a chain, gets a picture outside of this machine."""
        chain = self._settings.vision.chain() if choice == JudgeName.AUTO else ()
        return all(map(self._settings.keeps, chain or (self.judge_of(choice),)))

    def describe_lack(self, choice: JudgeChoice) -> str:
        """Return why none of the judges for `choice` can answer now, "" if one may."""
        chain = (choice,) if choice != JudgeName.AUTO else self._settings.vision.chain()
        healths = [self._pool.find_judge(name) for name in chain]
        down = [f"{one.name} is down: {one.reason}" for one in healths if one is not None and one.state == "down"]
        return "; ".join(down) if len(down) == len(chain) else ""
