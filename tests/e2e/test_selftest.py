"""`nacre --selftest`: an installation proves itself, and says what it lacks (PLATFORM §1.2)."""

import json
from dataclasses import replace

from tests.e2e.nacre import Home


def test_the_selftest_proves_the_installation_and_leaves_nothing(home: Home) -> None:
    found = replace(home, key="").nacre("--selftest")
    assert found.code == 0, found.out + found.err
    report = json.loads(found.out)
    assert report["ok"]
    assert report["tour"]["outcome"] == "done"
    assert report["window"]["platform"] == "offscreen"
    assert report["keyring"]["backend"].endswith("SecretService.Keyring")
    assert report["keyring"]["state"] == "absent"
    assert report["children"]["leaks"] == {"ofCommands": [], "ofOthers": []}
    assert report["modules"]["count"] > 400
    assert not home.data.exists()
    assert "Traceback" not in found.err


def test_an_installation_that_lacks_something_names_it_and_ends_with_1(home: Home) -> None:
    broken = {
        "SSL_CERT_FILE": "/nowhere/ca.pem",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    found = replace(home, extra=broken).nacre("--selftest")
    assert found.code == 1
    report = json.loads(found.out)
    assert not report["ok"]
    wrong = {name for name, one in report.items() if name != "ok" and not one["ok"]}
    assert wrong == {"certificates", "keyring"}
    assert "SSL_CERT_FILE" in report["certificates"]["problem"]
    assert "Traceback" not in found.err


def test_without_a_screen_the_selftest_draws_offscreen(home: Home) -> None:
    """Over SSH an administrator can prove an installation as well."""
    bare = replace(home, extra={"QT_QPA_PLATFORM": ""})
    found = bare.nacre("--selftest")
    assert found.code == 0, found.out + found.err
    assert json.loads(found.out)["window"]["platform"] == "offscreen"
