"""The words for bubblewrap: what counts where places lie in each other, and nothing too new."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from desktop.tools.sandbox_profile import Profile, arguments
from desktop.tools.secret_places import existing, secret_places

KNOWN = re.compile(
    r"--(ro-bind|bind|dev-bind|dev|proc|tmpfs|size|perms|remount-ro|chdir|cap-drop|new-session"
    r"|unshare-(user|pid|ipc|uts|net|cgroup-try))?"
)

paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda one: Path("/", *one))
places = st.lists(paths, max_size=4).map(tuple)
profiles = st.builds(
    Profile,
    folder=paths,
    writable=places,
    guarded=places,
    fresh=places,
    hidden_folders=places,
    hidden_files=places,
    network=st.booleans(),
)


def mounts(words: tuple[str, ...]) -> dict[str, str]:
    """The last mount on each path, in the order in which they are made."""
    found: dict[str, str] = {}
    for index, word in enumerate(words):
        if word in ("--ro-bind", "--bind", "--dev-bind"):
            found.pop(words[index + 2], None)
            found[words[index + 2]] = word
        elif word == "--tmpfs":
            found.pop(words[index + 1], None)
            found[words[index + 1]] = word
    return found


@given(profiles)
def test_an_outer_place_never_covers_an_inner_one(profile: Profile) -> None:
    made = [Path(one) for one in mounts(arguments(profile))]
    for index, place in enumerate(made):
        assert not any(place in earlier.parents for earlier in made[:index])


@given(profiles)
def test_a_hidden_place_is_hidden_whatever_else_is_said_of_it(profile: Profile) -> None:
    made = mounts(arguments(profile))
    assert all(made[str(one)] in ("--tmpfs", "--dev-bind") for one in profile.hidden_folders)
    assert all(made[str(one)] in ("--tmpfs", "--dev-bind") for one in profile.hidden_files)
    seen = {*profile.hidden_folders, *profile.hidden_files}
    assert all(made[str(one)] == "--ro-bind" for one in profile.guarded if one not in seen)


@given(profiles)
def test_only_options_of_an_old_bubblewrap_are_used(profile: Profile) -> None:
    words = arguments(profile)
    assert words[-1] == "--"
    assert all(KNOWN.fullmatch(one) for one in words if one.startswith("--"))
    assert ("--unshare-net" in words) is not profile.network
    assert {"--unshare-user", "--unshare-pid", "--cap-drop", "--new-session"} <= set(words)


def test_the_whole_disk_is_read_only_unless_it_is_the_workspace() -> None:
    assert arguments(Profile(Path("/w"), writable=(Path("/w"),)))[:3] == ("--ro-bind", "/", "/")
    assert arguments(Profile(Path("/"), writable=(Path("/"),)))[:3] == ("--bind", "/", "/")


def test_places_are_hidden_where_variables_say_that_they_are() -> None:
    found = secret_places(
        {
            "HOME": "/h",
            "XDG_DATA_HOME": "/d",
            "XDG_CONFIG_HOME": "relative",
            "GNUPGHOME": "/g",
            "KUBECONFIG": "/k1:/k2",
            "HISTFILE": "",
        }
    )
    assert {Path("/h/.ssh"), Path("/d/keyrings"), Path("/g"), Path("/k1"), Path("/k2")} <= set(
        found
    )
    assert Path("/h/.local/share/keyrings") in found
    assert all(one.is_absolute() for one in found)


def test_a_variable_that_names_the_whole_home_hides_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / "link").symlink_to(home / ".ssh")
    (home / "broken").symlink_to(home / "nowhere")
    (home / "file").write_text("")
    looked = existing(
        [tmp_path, home, home / "link", home / "broken", home / "file", Path("/dev/null")],
        never=home,
    )
    assert looked == ((home / ".ssh",), (home / "file",))
