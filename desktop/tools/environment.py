"""What a child process may know: the person's environment without secrets and packager's paths.

A command is chosen by a model, so it gets no key, no session bus (the keyring answers there,
PLATFORM.md §0.2), no agent socket, nothing that runs code at a shell's start, and nothing that
waits for a person who can't be reached (an editor, a pager, a password prompt).
"""

import re
from collections.abc import Mapping

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^ANTHROPIC_", re.IGNORECASE)
_SESSION = frozenset(
    {
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_STARTER_ADDRESS",
        "XDG_RUNTIME_DIR",
        "SSH_AUTH_SOCK",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "GPG_AGENT_INFO",
    }
)
_RUNS_CODE = re.compile(
    r"^(BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|GIT_SSH_COMMAND|GIT_SSH"
    r"|GIT_EXTERNAL_DIFF|GIT_CONFIG.*|LD_PRELOAD|LD_AUDIT|PYTHONSTARTUP|LESSOPEN)$"
)
_PACKAGER = re.compile(r"^(LD_LIBRARY_PATH|DYLD_\w+|QT_\w+|QML\w*_IMPORT_PATH)$")
_PACKAGER_OWN = re.compile(r"^(_PYI_|_MEIPASS|.*_ORIG$)")

QUIET: Mapping[str, str] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "DEBIAN_FRONTEND": "noninteractive",
}


def scrubbed_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for `Scene.environment`, from one like `os.environ`.

    A library path that the packager replaced comes back from its `*_ORIG`, or goes.
    """
    kept = {name: value for name, value in environment.items() if _may_stay(name)}
    for name, value in environment.items():
        original = name.removesuffix("_ORIG")
        if original != name and _PACKAGER.match(original):
            kept[original] = value
    return {**kept, **QUIET}


def _may_stay(name: str) -> bool:
    patterns = (_RUNS_CODE, _PACKAGER, _PACKAGER_OWN)
    if name in _SESSION or _SECRET.search(name):
        return False
    return not any(pattern.match(name) for pattern in patterns)


# What is about languages, tools and their places, and never a secret by its kind.
_CONFINED = re.compile(
    r"^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|COLUMNS|LINES|CI"
    r"|XDG_(CONFIG|DATA|STATE|CACHE)_HOME|XDG_(DATA|CONFIG)_DIRS|GIT_(AUTHOR|COMMITTER)_\w+"
    r"|VIRTUAL_ENV|CONDA_\w+|MAMBA_\w+|PYENV\w*|PYTHON\w*|PIP_NO_\w+|UV_PYTHON\w*|POETRY_HOME"
    r"|NVM_\w+|NODE_(PATH|OPTIONS|ENV|EXTRA_CA_CERTS)|NPM_CONFIG_(PREFIX|CACHE)|PNPM_HOME|BUN_INSTALL"
    r"|DENO_DIR|VOLTA_HOME|FNM_\w+|GO(PATH|ROOT|CACHE|MODCACHE|FLAGS|BIN|OS|ARCH|PROXY|SUMDB|PRIVATE)"
    r"|CGO_\w+|CARGO_(HOME|TARGET_DIR|INCREMENTAL|BUILD_\w+)|RUST(UP_HOME|FLAGS|_BACKTRACE|UP_TOOLCHAIN)"
    r"|JAVA_\w+|JDK_\w+|MAVEN_\w+|GRADLE_(HOME|USER_HOME)|SDKMAN_\w+|ANDROID_(HOME|SDK_ROOT)"
    r"|DOTNET_\w+|RBENV_\w+|GEM_(HOME|PATH)|BUNDLE_PATH|ASDF_\w+|MISE_\w+|NIX_\w+|GUIX_\w+"
    r"|CC|CXX|LD|AR|CPP|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|MAKEFLAGS|CPATH|LIBRARY_PATH|LD_LIBRARY_PATH"
    r"|PKG_CONFIG_PATH|CMAKE_\w+|MANPATH|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|SOURCE_DATE_EPOCH|NACRE_COMMAND)$"
)
_PROXY = re.compile(r"^(https?|ftp|all|no)_proxy$", re.IGNORECASE)


def confined_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What of a scrubbed environment goes into a sandbox: known names only.

    A proxy that is named with a password is left out.
    """
    return {
        name: value
        for name, value in environment.items()
        if name in QUIET or _CONFINED.match(name) or (_PROXY.match(name) and "@" not in value)
    }
