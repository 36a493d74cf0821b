"""Where secrets lie on a person's disk: what no command that a model chose may read.

Keys, tokens, keyrings, wallets and the profiles of browsers and mail; also where a variable of the
environment says that such a thing lies. A list can't be complete; it is long because a place that
is not there costs nothing.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_IN_HOME = _words(
    """
    .ssh .gnupg .pki .aws .azure .kube .docker .oci .s3cfg .boto .netrc .npmrc .yarnrc
    .yarnrc.yml .pypirc .git-credentials .vault-token .pgpass .my.cnf .mylogin.cnf .dbshell
    .dockercfg .databrickscfg .rclone.conf .terraformrc .terraform.d/credentials.tfrc.json
    .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .ivy2/.credentials .sbt/.credentials
    .composer/auth.json .nuget/NuGet/NuGet.Config .bundle/config .condarc .kaggle
    .huggingface/token .cache/huggingface/token .ansible .chef .fly .heroku .password-store
    .gsutil .claude.json .claude/.credentials.json .codex/auth.json .gemini .anthropic
    .openai .copilot .aider.conf.yml .mozilla .thunderbird .var/app snap/firefox/common
    snap/chromium/common snap/thunderbird/common .bitcoin .ethereum .electrum .monero .zcash
    .1password .bitwarden .keepass .keepassxc .authy .Xauthority .ICEauthority .dbus
    .dbus-keyrings .gnome2/keyrings .kde/share/apps/kwallet .bash_history .zsh_history
    .history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history
    .lesshst .local/share/fish/fish_history
    """
)

_IN_CONFIG = _words(
    """
    gh hub glab-cli git/credentials gcloud doctl heroku configstore rclone sops op
    pip/pip.conf containers/auth.json composer/auth.json github-copilot anthropic openai
    io.datasette.llm kwalletrc rbw Bitwarden 1Password keepassxc KeePass google-chrome
    google-chrome-beta google-chrome-unstable chromium BraveSoftware microsoft-edge vivaldi
    opera epiphany qutebrowser falkon librewolf zen evolution geary Signal Slack discord
    Element telegram-desktop skypeforlinux filezilla remmina hcloud linode-cli stripe
    netlify vercel fly
    """
)

_IN_DATA = _words(
    """
    keyrings kwalletd kwallet evolution epiphany qutebrowser geary TelegramDesktop gopass
    password-store remmina io.datasette.llm python_keyring nacre com.vercel.cli
    """
)

_SYSTEM = _words(
    """
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d
    /etc/ssl/private /etc/NetworkManager/system-connections /etc/wireguard /etc/krb5.keytab
    /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key
    /var/lib/docker /var/lib/containerd /var/lib/systemd/coredump /var/lib/bluetooth
    /var/spool/cron /var/lib/gdm3 /var/lib/sss/db
    """
)

_NAMED_BY = _words(
    """
    GNUPGHOME AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE DOCKER_CONFIG KUBECONFIG NETRC
    NPM_CONFIG_USERCONFIG CLOUDSDK_CONFIG AZURE_CONFIG_DIR GOOGLE_APPLICATION_CREDENTIALS
    REGISTRY_AUTH_FILE PASSWORD_STORE_DIR PGPASSFILE XAUTHORITY ICEAUTHORITY HISTFILE
    PIP_CONFIG_FILE SOPS_AGE_KEY_FILE
    """
)


def secret_places(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where secrets would lie, for the home and the variables of this environment.

    Nothing is looked at: the places need not exist and may be links.
    """
    found = [Path(one) for one in _SYSTEM]
    home = environment.get("HOME", "")
    if Path(home).is_absolute():
        config = _folder(environment, "XDG_CONFIG_HOME", Path(home, ".config"))
        data = _folder(environment, "XDG_DATA_HOME", Path(home, ".local/share"))
        found += [Path(home, one) for one in _IN_HOME]
        # Also where they lie without the variable: other programs may run without it.
        found += [Path(each, one) for each in {config, Path(home, ".config")} for one in _IN_CONFIG]
        found += [
            Path(each, one) for each in {data, Path(home, ".local/share")} for one in _IN_DATA
        ]
    cargo = environment.get("CARGO_HOME", "")
    if Path(cargo).is_absolute():
        found += [Path(cargo, "credentials"), Path(cargo, "credentials.toml")]
    for name in _NAMED_BY:
        found += [
            Path(one)
            for one in environment.get(name, "").split(os.pathsep)
            if Path(one).is_absolute()
        ]
    return tuple(dict.fromkeys(found))


def existing(
    places: Iterable[Path], *, never: Path | None = None
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The real folders and the real files among these places, links followed.

    What is or contains `never` (the home) is left out: a variable that names the whole home as the
    place of a key would hide everything that a command needs.
    """
    folders: list[Path] = []
    files: list[Path] = []
    kept = None if never is None else Path(os.path.realpath(never))
    for place in places:
        if not os.path.lexists(place):
            continue
        real = Path(os.path.realpath(place))
        if real == Path("/") or Path("/dev") in real.parents:
            continue
        if kept is not None and (real == kept or real in kept.parents):
            continue
        try:
            is_folder = real.is_dir()
            if is_folder or real.exists():
                (folders if is_folder else files).append(real)
        except OSError:
            continue  # where we may not look a command may neither
    return tuple(dict.fromkeys(folders)), tuple(dict.fromkeys(files))


def _folder(environment: Mapping[str, str], name: str, default: Path) -> Path:
    chosen = Path(environment.get(name, ""))
    return chosen if chosen.is_absolute() else default
