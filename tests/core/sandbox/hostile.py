"""Contracts that attack: what the check must reject, what must be stopped while it runs, and what
code does that found a hole in the check.
"""

from __future__ import annotations

from textwrap import dedent, indent

from harness_core.errors import (
    ContractError,
    HarnessError,
    SandboxCrash,
    SandboxError,
    SandboxTimeout,
    SandboxViolation,
    WireError,
)


def hook(body: str, before: str = "") -> str:
    """A contract whose `filter_action` runs `body`, then lets the action through."""
    return (
        f"{dedent(before)}\nclass C(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        f"{indent(dedent(body).strip(), ' ' * 8)}\n"
        "        return action\n"
    )


def contract(members: str) -> str:
    """A contract with these members in its class body."""
    return f"class C(Contract):\n{indent(dedent(members).strip(), '    ')}\n"


REJECTED: dict[str, str] = {
    "file": hook("open('/etc/passwd').read()"),
    "import os": hook("import os\nos.system('id')"),
    "import as": hook("import subprocess as re\nre.run('id')"),
    "import from": hook("from socket import socket"),
    "import star": hook("pass", before="from math import *"),
    "import relative": hook("pass", before="from . import kernel"),
    "import of a hidden name": hook("from re import sys"),
    "import of a host module": hook("from harness_core import env"),
    "import by dunder": hook("__import__('os')"),
    "import dotted": hook("import collections.abc as c"),
    "import update_wrapper": hook("from functools import update_wrapper"),
    "import attrgetter": hook("from operator import attrgetter"),
    "import Formatter": hook("from string import Formatter"),
    "builtins by name": hook("__builtins__['open']"),
    "eval": hook("eval('1')"),
    "exec": hook("exec('import os')"),
    "compile": hook("compile('1', '', 'eval')"),
    "getattr": hook("getattr(action, '__cl' + 'ass__')"),
    "setattr": hook("setattr(action, 'text', '')"),
    "type": hook("type('X', (), {})"),
    "vars": hook("vars(action)"),
    "globals": hook("globals()['x'] = 1"),
    "breakpoint": hook("breakpoint()"),
    "subclasses": hook("().__class__.__base__.__subclasses__()"),
    "mro": hook("Contract.mro()"),
    "function globals": hook("self.filter_action.__func__.__globals__"),
    "private attribute": hook("action._fields['text'] = 'x'"),
    "frame": hook("(x for x in [1]).gi_frame.f_back"),
    "generator code": hook("g = (x for x in [1])\ng.gi_code.co_consts"),
    "coroutine": contract("async def filter_action(self, action, env_state): return action"),
    "traceback": hook(
        """
        try:
            1 / 0
        except Exception as e:
            e.__traceback__.tb_frame.f_back.f_globals
        """
    ),
    "traceback parts": hook("action.tb_frame"),
    "error's object": hook("try:\n    action.nope\nexcept AttributeError as e:\n    e.obj"),
    "with_traceback": hook("Exception().with_traceback(None)"),
    "format": hook("'{0.__class__}'.format(action)"),
    "format by reference": hook("f = str.format\nlist(map(f, ['{0.text}'], [action]))"),
    "format_map": hook("'{a.__class__}'.format_map({'a': action})"),
    "f-string": hook("f'{action.__class__}'"),
    "nested f-string": hook("f'{1:{action.__class__}}'"),
    "match attributes": hook("match action:\n    case Action(__class__=c):\n        c"),
    "match underscore": hook("match action:\n    case object(_fields=f):\n        f"),
    "match as dunder": hook("match action:\n    case __builtins__:\n        pass"),
    "unicode dunder": hook("action.__\uff43lass__"),
    "unicode builtin": hook("\uff4fpen('x')"),
    "unicode keyword argument": hook(
        "match action:\n    case Action(__\uff43lass__=c):\n        c"
    ),
    "letters outside ASCII": hook("é = 1"),
    "decorator on the class": "@print\n" + hook("pass").lstrip(),
    "decorator on a hook": contract("@print\ndef filter_action(self, a, s): return a"),
    "metaclass": "class C(Contract, metaclass=print):\n    pass\n",
    "other base": "class C(Contract, dict):\n    pass\n",
    "no base": "class C:\n    pass\n",
    "base from a call": "class C(print(Contract)):\n    pass\n",
    "two classes": "class C(Contract):\n    pass\nclass D(Contract):\n    pass\n",
    "no class": "x = 1\n",
    "class in a function": "def f():\n    class C(Contract):\n        pass\n",
    "another Contract": "Contract = object\nclass C(Contract):\n    pass\n",
    "class replaced": "class C(Contract):\n    pass\nC = print\n",
    "__init__": contract("def __init__(self): pass"),
    "__init_subclass__": contract("def __init_subclass__(cls): pass"),
    "__getattr__": contract("def __getattr__(self, name): return 1"),
    "__slots__": contract("__slots__ = ()"),
    "__del__": contract("def __del__(self): pass"),
    "walrus to a dunder": hook("(__builtins__ := 1)"),
    "walrus to the class": hook("(Contract := 1)"),
    "lambda to eval": hook("(lambda e=eval: e('1'))()"),
    "default argument": contract("def filter_action(self, action, env_state, o=open): return o"),
    "class body": contract("x = open('/etc/passwd').read()"),
    "comprehension": hook("[c for c in ().__class__.__mro__]"),
    "global": hook("global x\nx = 1"),
    "loop on load": hook("pass", before="while True: pass"),
    "loop in the class body": contract("for x in iter(int, 1): pass"),
    "loop in a value": contract("x = [1 for _ in iter(int, 1) if 0]"),
    "memory in a counter": hook("next(N)", before="from itertools import count\nN = count()"),
    "memory in self": hook("self.seen = 1"),
    "memory in the class": contract(
        "seen = []\ndef filter_action(self, action, env_state):\n    self.seen.append(1)"
    ),
    "memory in the module": hook("SEEN['x'] = 1", before="SEEN = {}"),
    "assigned attribute": hook("action.text = 'x'"),
    "deleted attribute": hook("del action.text"),
    "with": hook("with action:\n    pass"),
    "await": hook("await action"),
    "hook as a lambda": contract("filter_action = lambda self, action, env_state: action"),
    "hook under a condition": contract("if 1:\n    def filter_action(self, a, s): return a"),
    "hook with other parameters": contract("def filter_action(self, action): return action"),
    "hook that yields": contract("def filter_action(self, action, env_state): yield action"),
    "misspelt hook": contract("def filter_actions(self, action, env_state): return action"),
    "except star": hook("try:\n    pass\nexcept* ValueError:\n    pass"),
    "deep parentheses": hook("(" * 5000 + ")" * 5000),
    "deep signs": hook("-" * 50000 + "1"),
    "deep nots": hook("not " * 15000 + "1"),
    "deep sum": hook("1" + "+1" * 20000),
    "deep attributes": hook("action" + ".text" * 10000),
    "deep lambdas": hook("lambda:" * 9000 + "1"),
    "deep comparisons": hook("[" * 150 + "]" * 150),
    "null byte": hook("pass") + "\0",
    "lone surrogate": hook("'\ud800'"),
    "too large": hook("pass") + "#" * 70_000,
    "huge number": hook("x = " + "9" * 6000),
    "no Python": "class C(Contract)\n  pass",
    "return outside": "return 1\nclass C(Contract):\n    pass\n",
    "not text but pickle": "\x80\x04\x95.",
}
"""Wall 1 alone must stop these: `SourceRejected`."""


CONTAINED: dict[str, tuple[str, type[HarnessError]]] = {
    "loop": (hook("while True: pass"), SandboxTimeout),
    "loop that catches": (
        hook("while True:\n    try:\n        1 / 0\n    except: pass"),
        SandboxTimeout,
    ),
    "power on load": (hook("pass", before="N = 9 ** 9 ** 9"), SandboxTimeout),
    "power in the class body": (contract("n = 9 ** 9 ** 9"), SandboxTimeout),
    "power in a default": (
        hook("pass", before="B = 9 ** 9\ndef f(n=9 ** B): pass"),
        SandboxTimeout,
    ),
    "endless generator": (
        hook("import itertools\nsum(itertools.count())"),
        SandboxTimeout,
    ),
    "power": (hook("9 ** 9 ** 9"), SandboxTimeout),
    "power by shift": (hook("1 << (1 << 62)"), ContractError),
    "factorial": (hook("import math\nmath.factorial(10 ** 7)"), SandboxTimeout),
    "regex": (hook("import re\nre.match('(a+)+$', 'a' * 60 + 'b')"), SandboxTimeout),
    "recursion": (hook("f()", before="def f(): return f()"), ContractError),
    "deep data": (
        hook(
            """
            x = []
            for _ in range(100000): x = [x]
            action = action.replace(arguments={"x": x})
            """
        ),
        ContractError,
    ),
    "deep repr": (
        hook("x = []\nfor _ in range(100000): x = [x]\nprint(repr(x))"),
        ContractError,
    ),
    "deep extras": (
        hook("x = env_state.extras\nfor _ in range(500):\n    x['x'] = {}\n    x = x['x']"),
        WireError,
    ),
    "cycle": (hook("x = []\nx.append(x)\naction = Action('', 'x', {'x': x})"), ContractError),
    "memory": (hook("x = 'x' * (1 << 33)"), ContractError),
    "memory bit by bit": (
        hook("x = []\nwhile True: x.append('x' * (4 << 20) + str(len(x)))"),
        ContractError,
    ),
    "huge list": (hook("list(range(10 ** 12))"), ContractError),
    "huge repetition": (hook("[0] * (1 << 40)"), ContractError),
    "huge answer": (hook("action = Action('x' * (3 << 20))"), WireError),
    "huge number in an answer": (
        hook("action = Action('', 'x', {'x': 1 << 60000})"),
        ContractError,
    ),
    "NaN": (hook("action = Action('', 'x', {'x': float('nan')})"), ContractError),
    "infinity": (hook("action = Action('', 'x', {'x': [float('inf')]})"), ContractError),
    "set in an answer": (hook("action = Action('', 'x', {'x': {1}})"), ContractError),
    "key that is no text": (hook("action = Action('', 'x', {1: 2})"), ContractError),
    "text that is no text": (hook("action = action.replace(text=5)"), ContractError),
    "text of half a character": (hook(r"action = Action('\ud800')"), WireError),
    "None": (hook("return None"), ContractError),
    "class for an instance": (hook("return Action"), ContractError),
    "another value": (hook("return Observation('x')"), ContractError),
    "reason that is no text": (hook("return Blocked(['no'])"), ContractError),
    "set in extras": (hook("env_state.extras['x'] = {1, 2}"), WireError),
    "tuple in extras": (hook("env_state.extras['x'] = (1, 2)"), WireError),
    "function in extras": (hook("env_state.extras['x'] = lambda: 1"), WireError),
    "value in extras": (hook("env_state.extras['x'] = action"), WireError),
    "number as key in extras": (hook("env_state.extras[1] = 1"), WireError),
    "huge extras": (hook("env_state.extras['x'] = 'x' * (3 << 20)"), WireError),
    "extras in a cycle": (hook("env_state.extras['x'] = env_state.extras"), WireError),
    "unknown name": (hook("os.getcwd()"), ContractError),
    "a module's hidden name": (hook("import re\nre.sys"), ContractError),
    "a module's hidden function": (hook("import json\njson.codecs"), ContractError),
    "generator throw": (
        hook("g = (x for x in [1])\ng.throw(ValueError('x'))"),
        ContractError,
    ),
    "flood of errors": (hook("raise ValueError('x' * 10 ** 7)"), ContractError),
    "switch without a route": (hook("env_state.switch_to(1)"), ContractError),
}
"""What passes wall 1 and is then stopped; extras are judged when they are saved."""


HARMLESS: dict[str, str] = {
    "output flood": hook("for _ in range(20000): print('x' * 1000)"),
    "inputs": hook("action.arguments['x'] = 1\naction = Action('look')"),
    "state": hook("env_state.data['stolen'] = 1"),
    "class level": contract("x = (1, 2) * 3"),
    "shadowed builtins": hook("str = len = print = None"),
    "shadowed values": hook("pass", before="def Action(*a): return 1"),
    "percent format": hook("'%s %r' % (action, self)"),
    "catch everything": hook("try:\n    [0] * (1 << 40)\nexcept:\n    pass"),
    "nested function": hook("def f(n): return n and f(n - 1)\nf(100)"),
    "print to itself": hook("try:\n    print('x', file=action)\nexcept Exception:\n    pass"),
}
"""Ugly, but nothing outside changes."""


def escaped(body: str) -> str:
    """Code that got hold of the real builtins: what a hole in wall 1 would give."""
    prelude = """
        real = Contract.filter_action.__globals__["__builtins__"]
        load, open = real["__import__"], real["open"]
        os, sys, signal, ctypes = load("os"), load("sys"), load("signal"), load("ctypes")
        parent = os.getppid
        """
    return hook(dedent(prelude) + dedent(body) + "\naction = Action('ESCAPED')")


ANY = (SandboxError, ContractError)
ESCAPED: dict[str, tuple[str, tuple[type[HarnessError], ...]]] = {
    "read a file": (escaped("open('/etc/passwd').read()"), (ContractError,)),
    "read the host's environment": (
        escaped("open(f'/proc/{HOST}/environ', 'rb').read()"),
        (ContractError,),
    ),
    "read its own environment": (escaped("open('/proc/self/environ').read()"), (ContractError,)),
    "write a file": (escaped("open('/tmp/harness-escaped', 'w')"), (ContractError,)),
    "list a folder": (escaped("os.listdir('/')"), (ContractError,)),
    "stat": (escaped("os.stat('/')"), (ContractError,)),
    "change folder": (escaped("os.chdir('/')"), (ContractError,)),
    "make a folder": (escaped("os.mkdir('x')"), (ContractError,)),
    "pipe": (escaped("os.pipe()"), (ContractError,)),
    "memory file": (escaped("os.memfd_create('x')"), (ContractError,)),
    "duplicate": (escaped("os.dup(3)"), (ContractError,)),
    "socket": (escaped("load('socket').socket()"), (SandboxViolation,)),
    "socket pair": (escaped("load('socket').socketpair()"), ANY),
    "fork": (escaped("os.fork()"), (SandboxViolation,)),
    "execve": (escaped("os.execve('/bin/sh', ['sh'], {})"), (SandboxViolation,)),
    "system": (escaped("os.system('id') == 0 or 1 / 0"), ANY),
    "spawn": (escaped("os.posix_spawn('/bin/sh', ['sh'], {})"), ANY),
    "thread": (escaped("load('_thread').start_new_thread(print, ())"), ANY),
    "signal the host": (escaped("os.kill(HOST, signal.SIGKILL)"), (SandboxViolation,)),
    "signal everybody": (escaped("os.kill(-1, signal.SIGKILL)"), (SandboxViolation,)),
    "signal handler": (escaped("signal.signal(signal.SIGTERM, print)"), ANY),
    "raise limits": (
        escaped("load('resource').setrlimit(7, (99, 99))"),
        (ContractError,),
    ),
    "become root": (escaped("os.setuid(0)"), (ContractError,)),
    "chroot": (escaped("os.chroot('/')"), (ContractError,)),
    "prctl": (escaped("ctypes.CDLL(None).prctl(4, 1) and 1 / 0"), ANY),
    "ptrace": (escaped("ctypes.CDLL(None).ptrace(16, HOST, 0, 0)"), (SandboxViolation,)),
    "executable memory": (
        escaped("load('mmap').mmap(-1, 4096, prot=7)"),
        ANY,
    ),
    "bad memory": (escaped("ctypes.string_at(0)"), (SandboxCrash,)),
    "abort": (escaped("os.abort()"), (SandboxCrash,)),
    "exit": (escaped("os._exit(0)"), (SandboxCrash,)),
    "system exit": (escaped("raise real['SystemExit'](0)"), (ContractError,)),
    "crash by recursion": (
        escaped("sys.setrecursionlimit(10 ** 9)\nf = lambda: f()\nf()"),
        (SandboxCrash, ContractError, SandboxTimeout),
    ),
    "close the channel": (escaped("os.close(3)\nwhile True: pass"), (SandboxCrash,)),
    "sleep": (escaped("load('time').sleep(60)"), ANY),
    "pickle for an answer": (
        escaped("os.write(3, b'\\0\\0\\0\\x05\\x80\\x04K\\x01.')\nwhile True: pass"),
        (WireError,),
    ),
    "oversized answer": (
        escaped("os.write(3, b'\\xff\\xff\\xff\\xff')\nwhile True: pass"),
        (WireError,),
    ),
    "two answers": (
        escaped("os.write(3, 2 * b'\\0\\0\\0\\x08[\"same\"]')\nwhile True: pass"),
        (WireError,),
    ),
    "answer in drops": (
        escaped(
            """
            clock = load('time').monotonic
            os.write(3, b'\\0\\0\\x0f\\xff')
            while True:
                os.write(3, b' ')
                due = clock() + 0.1
                while clock() < due: pass
            """
        ),
        (SandboxTimeout,),
    ),
    "flood of the channel": (
        escaped("while True: os.write(3, b'\\0\\x0f\\xff\\xff' + b' ' * 10 ** 6)"),
        (WireError,),
    ),
    "flood of the standard streams": (
        escaped("for _ in range(200): os.write(1, b'x' * 10 ** 6)\n1 / 0"),
        (ContractError,),
    ),
    "asking for ever": (
        escaped("while True: os.write(3, b'\\0\\0\\0\\x09[\"state\"]'); os.read(3, 65536)"),
        (WireError,),
    ),
}
"""Attacks with wall 1 out of the way; HOST is replaced by the host's process id. An `Action` with
the text ESCAPED would mean that one succeeded."""
