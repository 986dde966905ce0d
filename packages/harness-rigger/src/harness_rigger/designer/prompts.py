"""What a designer model is told about its work."""

from __future__ import annotations

from harness_core.registry import helper_source
from harness_core.sandbox.allowed import MODULES
from harness_core.spec import StackSpec
from harness_rigger.designer.building import helpers_of
from harness_rigger.designer.catalogue import registered_components

DIAGNOSE = """\
You study an agent in an environment. Somebody will then reshape the environment so that it aims
at the agent's weakness. You see the task, the environment, figures, and recorded rollouts.

- Read failures and successes. A failure shows a weakness; a success shows where it ends: what
  works already, and from where on it breaks.
- Look for the systematic cause, not for an accident: the same action again and again, words of an
  observation that are not read, a rule of the tools that is misread, giving up, stopping early.
- Ask three things. Can the agent solve the task at all? How: a solution of 4 steps leaves less
  room than one of 30? Which parts of the environment does it really use?
- Direction. "harder": it solves the task nearly always; the environment is too lenient to show
  what is weak. "easier": it struggles; a missing step should be supported. "skip": leave the task
  alone, with a reason: "hopeless" (it never solves the task, and no support would change that),
  "no-weakness" (there is nothing systematic to aim at), "no-lever" (the weakness is real, but no
  change of start, rules or words reaches it).

Answer with one JSON object and nothing else:

{"weakness": "one or two sentences: the root cause",
 "evidence": ["rollout 2, step 5: what happened there", "..."],
 "direction": "harder" | "easier" | "skip",
 "reason": "" | "hopeless" | "no-weakness" | "no-lever"}"""

_WRITE = """\
You write components that wrap an environment, to aim it at a weakness of an agent. The
environment, its tasks and its judge stay as they are; a component changes where an episode starts
and what passes between agent and environment. Your candidate is tried with fresh rollouts of the
agent, and accepted or refused as a whole.

Rules

- Never make the task unsolvable. What makes success impossible is not harder: a rate of 0 because
  nothing helps is exactly as useless as a rate of 1 because nothing is needed.
- If a candidate turned out unsolvable (rollouts out of time, actions blocked, no success), take
  back or loosen what did it. More prohibitions never lead up again.
- Calibrate by the success rate as it is and by the length of a solution. Where the rate is near 0,
  harder makes no sense: support a missing step. A short solution leaves little room: change little.
- Perturb what the agent uses. A command that it never gives may be barred without any effect.
- A block says why, and leaves a way.
- After a trial. If the measure moved toward the target, the kind of change is right: keep what
  works to the letter, every line of it, and change magnitudes only. If it did not move, start
  over with another kind.
- There is no reward here. Success is the benchmark's own decision; no component sees or moves it.
"""

_STYLE = """\
- Every text that you let the agent see reads like this environment's own texts.
"""

_STAGE = """\
"stage": replays actions after the reset, through the ordinary interface, before the agent begins;
  the agent does not pay for them. Each must be accepted, must change the state and must not end
  the episode; all together they must not solve the task. Use it to set an obstacle up, or to do
  the first part of the task already.
  {"kind": "stage", "actions": ["...", "..."]}
  An action is a text, or {"tool": name, "arguments": {...}}."""

_CONTRACT = '''\
"contract": Python text with exactly one subclass of Contract and any of its three hooks. It runs
  in a sandbox, and must give the same answer each time.
  {"kind": "contract", "source": "class Rule(Contract):\\n    ..."}

    class Rule(Contract):
        def filter_action(self, action, env_state):
            """Before the step: return action, another Action, or Blocked("why")."""
            return action

        def modify_transition(self, action, response, env_state):
            """After the step: return response, or response.replace(observation=..., ...)."""
            return response

        def filter_observation(self, observation, env_state):
            """What is shown: return observation, or observation.replace(text=...)."""
            return observation

  Values: Action(text, tool, arguments), Observation(text, data, images),
  StepResult(observation, terminated, truncated, info), Blocked(reason). They are frozen: make
  copies with .replace(field=...). env_state.data is the state described below (in filter_action
  that before the step), env_state.task the id, env_state.steps the steps paid so far, and
  env_state.extras a dict of JSON values: the only memory, for one episode. A blocked action does
  not reach the environment; the agent sees the reason and pays the step. An ending may be added;
  it may be taken back only where the task below says so. No __init__, no attributes of your own, no
  names with leading underscores; constants and functions may stand beside the class.
  Modules: {modules}.'''

_CHAIN = """\
"chain": after this task follows another one in the same episode and step budget; both must be
  solved. Allowed are the tasks {tasks}.
  {{"kind": "chain", "task": "ID"}}"""

_REGISTERED = """\
"registered": a component that exists already, by its id and fields.
  {{"kind": "registered", "spec": {{"type": "ID", "field": value}}}}
{listed}"""

_ANSWER = """\
Answer with one JSON object and nothing else; components innermost first, any number of them:

{"rationale": "what this does to the agent, and why so much of it",
 "components": [{"kind": "stage", "actions": ["..."]}, {"kind": "contract", "source": "..."}]}"""


def writing(stack: StackSpec, extensions: tuple[str, ...], in_distribution: bool) -> str:
    """The system prompt of the writer.

    Args:
        stack: the env as it is.
        extensions: tasks that a chain may lead to; none: no chain is offered.
        in_distribution: ask for texts in the env's own style.
    """
    parts = [(_WRITE + (_STYLE if in_distribution else "")).strip(), "Kinds of components", _STAGE]
    contract = _CONTRACT.replace("{modules}", ", ".join(sorted(MODULES)))
    lender = helpers_of(stack)
    if lender:
        contract += f"\n  Functions that a contract may call here:\n\n{helper_source(lender)}"
    parts.append(contract)
    if extensions:
        parts.append(_CHAIN.format(tasks=", ".join(extensions)))
    parts += [_REGISTERED.format(listed="\n".join(registered_components())), _ANSWER]
    return "\n\n".join(parts)
