"""Grants of a fleet's administrator, and the accounts that follow from them."""

import stat
from pathlib import Path

import pytest

from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.config.fleet import HOST
from acud.features.fleet.names import ENDPOINT, FleetNames
from acud_fleet import access
from acud_fleet.access import Grant, Grants, Role
from acud_fleet.initialisation import FleetRoles

KEYS = [f"U{letter * 55}" for letter in "ABCDE"]


def fleet() -> Grants:
    held = Grants("acud")
    for grant in (
        Grant(Role.HOST, "h1", (KEYS[0],), ("vision",), ("main",)),
        Grant(Role.HOST, "h2", (KEYS[1],)),
        Grant(Role.ENDPOINT, "endpoint", (KEYS[2],)),
        Grant(Role.WORKER, "vision", (KEYS[3],)),
        Grant(Role.ADMIN, "admin", (KEYS[4],)),
    ):
        held = held.with_grant(grant)
    return held


def block(text: str, account: str) -> str:
    return text.split(f'  "{account}" {{\n')[1].split("\n  }\n")[0]


def test_everybody_is_in_an_account_of_its_own_and_the_administrator_with_the_streams() -> None:
    text = access.permissions(fleet())
    for account, key in {
        "host-h1": KEYS[0],
        "host-h2": KEYS[1],
        "endpoint-endpoint": KEYS[2],
        "fleet": KEYS[4],
    }.items():
        inside = block(text, account)
        assert [one for one in KEYS if one in inside] == [key]
        assert ("jetstream: enabled" in inside) == (account == "fleet")


def test_what_leaves_an_account_is_what_its_role_needs() -> None:
    text = access.permissions(fleet())
    own = block(text, "host-h1")
    assert 'service: "acud.req.h1", response: stream, accounts: ["endpoint-endpoint"]' in own
    assert 'service: "acud.answer.h1.*.*", response: stream, accounts: ["worker-vision"]' in own
    assert 'stream: "acud.told.h1.>", accounts: ["endpoint-endpoint"]' in own
    assert "h2" not in own
    assert "acud.wake.*._" in block(text, "endpoint-endpoint")
    assert "acud.wake.*._" not in own
    assert "acud.answer" not in block(text, "host-h2")  # it asks no jobs
    assert 'account: "host-h2"' not in block(text, "worker-vision")
    for line in block(text, "fleet").splitlines():
        if 'accounts: ["host-h2"]' in line:
            subject = line.split('"')[1]
            assert "h1" not in subject
            assert subject.startswith(("acud.", "$KV.", "$JS.API.STREAM.INFO.", "$JS.API.DIRECT.GET.", "$JS."))


def test_jetstream_is_asked_in_the_streams_account_by_a_name_of_ours() -> None:
    inside = block(access.permissions(fleet()), "host-h2")
    assert 'subject: "$JS.API.STREAM.INFO.ACUD_EVENTS" }, to: "acud.api.STREAM.INFO.ACUD_EVENTS"' in inside
    assert '"$JS.API.INFO"' in inside  # by which it learns that its own account has none


def test_consumers_are_made_for_all_that_are_granted_something() -> None:
    assert fleet().list_roles() == FleetRoles(("h1", "h2"), ("main",), ("vision",))


def test_a_grant_is_written_read_and_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "access"
    assert access.read_grants(folder, "acud") == Grants("acud")
    grant = access.make_grant(Grants("acud"), Role.HOST, "h1", key="")
    path, key = access.new_seed(folder, grant)
    assert (path.name, stat.S_IMODE(path.stat().st_mode), key[0]) == ("host-h1.nk", 0o600, "U")
    held = Grants("acud").with_grant(Grant(Role.HOST, "h1", (key,), ("vision",)))
    access.write_grants(folder, held)
    assert access.read_grants(folder, "acud") == held
    text = (folder / access.PERMISSIONS).read_text()
    assert key in text
    assert path.read_text() not in text
    with pytest.raises(Conflict, match="has its grant"):
        access.make_grant(held, Role.HOST, "h1", key="")
    again, _ = access.new_seed(folder, access.make_grant(held, Role.HOST, "h1", key="", rotate=True))
    assert again != path  # the former one is not written over
    assert held.without(held.must_find(Role.HOST, "h1")) == Grants("acud")


@pytest.mark.parametrize(("role", "name", "fault"), [
    (Role.HOST, "", "no name of a host"), (Role.HOST, "H 1", "no name of a host"),
    (Role.WORKER, "a.b", "no kind of jobs"),
])  # fmt: skip
def test_names_that_cannot_be_are_refused(role: Role, name: str, fault: str) -> None:
    with pytest.raises(InvalidRequest, match=fault):
        access.make_grant(Grants("acud"), role, name, key="")


def test_what_is_wrong_with_a_grant_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="by hosts"):
        access.make_grant(Grants("acud"), Role.AGENT, "", key="", carries=("main",))
    with pytest.raises(NotFound, match="no host h9"):
        access.make_grant(fleet(), Role.HOST, "h9", key="", rotate=True)
    with pytest.raises(Conflict, match="that key is host h1's"):
        fleet().with_grant(Grant(Role.HOST, "h3", (KEYS[0],)))
    with pytest.raises(InvalidRequest, match="never the seed"):
        access.check_key("SUABC")
    (tmp_path / access.GRANTS).write_text("{")
    with pytest.raises(InvalidRequest, match="the file of grants is no JSON"):
        access.read_grants(tmp_path, "acud")
    access.write_grants(tmp_path, fleet())
    with pytest.raises(Conflict, match="of the fleet acud, not other"):
        access.read_grants(tmp_path, "other")


def test_the_sender_is_the_last_of_a_wakes_and_a_jobs_subject() -> None:
    names = FleetNames("acud")
    assert names.wake("an.agent", "h1").endswith(".h1")
    assert names.wake("*", ENDPOINT) == "acud.wake.*._"
    assert not HOST.fullmatch(ENDPOINT)  # or a host could be called so
    assert names.acknowledgement("h1", "main").endswith(".main")
    assert names.job("vision", "h1").endswith(".h1")
