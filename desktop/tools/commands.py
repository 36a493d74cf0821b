"""How a command line will be understood, and what a kept "always" plainly covers of it.

A rule is a text: `=COMMAND` covers that command to the letter, `PREFIX` covers plain simple
commands that start with those words, and either covers a command that asks for the network only
with `&network ` before it. Whatever could carry a second command past the question is
not plain and is covered by its exact text only (FIELD F-T02). In doubt: not plain.
"""

import os
import re
import shlex
import unicodedata


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LONGEST_OFFER = 200
_NETWORK = "&network "  # no other rule begins with a sign that is active in a shell
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_ACTIVE = frozenset("$`;&|<>()\\*?[{#!~")
_ACTIVE_IN_DOUBLE = frozenset("$`\\!")

_KEYWORDS = _set(
    "if then elif else fi for while until do done case esac select function in time coproc "
    "eval exec source . command builtin trap alias unalias export declare typeset local readonly "
    "set shopt enable hash bind complete"
)
_INTERPRETERS = _set(
    "sh bash dash ash zsh ksh mksh fish csh tcsh rbash busybox toybox "
    "node nodejs deno bun perl ruby irb php lua luajit tclsh wish expect R Rscript julia swift "
    "java jshell scala groovy ghci runghc racket guile sbcl osascript pwsh powershell cmd "
    "awk gawk mawk nawk sed ed ex vi vim nvim emacs gdb lldb sqlite3 psql mysql ipython "
    "env xargs parallel sudo doas su ssh scp sftp rsync find fd fdfind nice ionice nohup setsid "
    "stdbuf timeout watch entr strace ltrace script screen tmux at batch crontab chroot unshare "
    "nsenter bwrap setpriv systemd-run flock xvfb-run dbus-run-session socat nc ncat tar "
    "npx bunx pnpx uvx pipx docker podman kubectl time"
)
_INTERPRETER_FAMILY = re.compile(r"(python|pypy|perl|ruby|lua|php|node)[\d.]*(w|t|\.exe)?$")
_RUNNERS = _set("uv poetry pipenv pdm hatch rye conda mamba npm pnpm yarn cargo go")
_RUNNER_WORDS = _set("run exec dlx x shell tool")

_GIT_RUNS = (
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--open-files-in-pager",
    "--extcmd",
    "--config",
    "--ext-diff",
    "--textconv",
    "--output",
    "-O",
    "-x",
    "-u",
    "-c",
)
_GIT_OFFERED = _set("status log diff show add blame ls-files rev-parse describe")
_LOOKERS = _set(
    "ls pwd wc stat file du df echo true date whoami uname which realpath basename dirname"
)
_CHECKERS = _set("pytest ruff mypy basedpyright pyright tsc eslint flake8 pylint")
_SUBCOMMAND_OFFERED = {
    "npm": frozenset({"test", "ls"}),
    "yarn": frozenset({"test"}),
    "pnpm": frozenset({"test", "ls"}),
    "cargo": frozenset({"build", "check", "test", "clippy", "fmt"}),
    "go": frozenset({"build", "test", "vet", "fmt"}),
    "pip": frozenset({"list", "show", "freeze"}),
}
_WORD = re.compile(r"[A-Za-z0-9@%+=:,./_-]+")


def words_of(command: str) -> tuple[str, ...] | None:
    """The words of a plain simple command as the shell will see them; None: it is not plain."""
    if not command.strip(" ") or not all(_is_plain(char) for char in command):
        return None
    words = _split(command)
    if words is None or "=" in words[0] or words[0] in _KEYWORDS:
        return None
    return words


def _is_plain(char: str) -> bool:
    if " " <= char <= "~":
        return True
    letter = char.isalpha() and unicodedata.category(char) != "Lm"
    return letter and char not in _INVISIBLE_LETTERS


def _split(command: str) -> tuple[str, ...] | None:
    """Splits at spaces outside of quotes; None where anything active or unclosed is in it."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    for char in command:
        if quote:
            if char == quote:
                quote = ""
            elif quote == '"' and char in _ACTIVE_IN_DOUBLE:
                return None
            elif word is not None:
                word.append(char)
        elif char in _ACTIVE:
            return None
        elif char == " ":
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = [] if word is None else word
            if char in "'\"":
                quote = char
            else:
                word.append(char)
    if quote:
        return None
    if word is not None:
        words.append("".join(word))
    return tuple(words)


def coverable_by(command: str, *, network: bool = False) -> tuple[str, ...]:
    """Every rule that covers this command, narrowest first: its text, then its prefixes.

    Rules with the network are others than those without: no rule covers both.
    """
    found = [f"={command}"]
    words = _prefix_words(command)
    if words is not None:
        found += [shlex.join(words[:length]) for length in range(len(words), 0, -1)]
    return tuple(_with(one, network=network) for one in found)


def offer(command: str, *, network: bool = False) -> str:
    """The rule to propose for "always": the narrow form; empty where none should be proposed."""
    words = _prefix_words(command)
    prefix = () if words is None else _offered_prefix(words)
    if prefix:
        return _with(shlex.join(prefix), network=network)
    readable = len(command) <= _LONGEST_OFFER and all(_is_plain(char) for char in command)
    return _with(f"={command}", network=network) if readable else ""


def _with(rule: str, *, network: bool) -> str:
    return f"{_NETWORK}{rule}" if network else rule


def _prefix_words(command: str) -> tuple[str, ...] | None:
    words = words_of(command)
    if os.name != "posix" or words is None or _runs_another(words):
        return None
    return words


def _runs_another(words: tuple[str, ...]) -> bool:
    """Whether the program is an interpreter or a wrapper, for which no prefix says what it does."""
    program = words[0].rpartition("/")[2]
    if not program or program in _INTERPRETERS or _INTERPRETER_FAMILY.match(program):
        return True
    if program in _RUNNERS and any(word in _RUNNER_WORDS for word in words[1:3]):
        return True
    if program == "git":
        return _git_runs_another(words[1:])
    return False


def _git_runs_another(arguments: tuple[str, ...]) -> bool:
    if arguments and arguments[0].startswith("-"):
        return True
    return any(word.startswith(_GIT_RUNS) for word in arguments)


def _offered_prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest prefix that still says what is done; empty: only the exact command does."""
    program = words[0]
    if program in _LOOKERS:
        return words[:1]
    second = words[1] if len(words) > 1 else ""
    if not _WORD.fullmatch(second):
        return ()
    if program in _CHECKERS:
        return words[:2] if second.startswith("-") or second.isalpha() else ()
    offered = _GIT_OFFERED if program == "git" else _SUBCOMMAND_OFFERED.get(program, frozenset())
    return words[:2] if second in offered else ()


def explain(match: str) -> str:
    """A shell rule in words for the person."""
    rule = match.removeprefix(_NETWORK)
    network = ", with the network" if rule != match else ""
    if rule.startswith("="):
        return f"Run exactly `{rule[1:]}`{network}"
    return f"Run commands that start with `{rule}`{network}"
