"""The admin space: the replies on each key, and the queries and writes that are refused."""

from __future__ import annotations

import pytest

from tests.admin.admin_play import AdminPlay
from tests.routing.playbook import final, interest, put, queryable, subscriber, token, zid_of
from zenlake.admin.facts import SessionEntry
from zenlake.wire import QueryTarget, ResponderId, Response, ResponseFinal, WhatAmI

C1, C2, P1 = (str(zid_of(name)) for name in ("c1", "c2", "p1"))


@pytest.fixture
def play() -> AdminPlay:
    play = AdminPlay()
    for client in ("c1", "c2"):
        play.connects(client, "client")
    play.connects("p1", "peer")
    play.sends("p1", final(0))
    play.sends("c1", subscriber(1, "demo/**"), token(2, "alive/c1"))
    play.sends("c2", subscriber(1, "demo/**"), queryable(2, "ask"))
    play.sends("p1", subscriber(1, "demo/p"))
    play.sends("c1", interest(3, "current_future", "KS", "demo/pub"))
    play.sends("c2", interest(3, "current_future", "KQ", "ask/**"))
    play.clear_received()
    return play


ALL_KEYS = [
    "",
    "/linkstate/north",
    "/metrics",
    "/publisher/demo/pub",
    "/querier/ask/**",
    "/queryable/ask",
    "/subscriber/demo/**",
    "/subscriber/demo/p",
    "/token/alive/c1",
    "/zenlake/node",
]


@pytest.mark.parametrize(
    ("selector", "keys"),
    [
        ("@/**", ALL_KEYS),
        ("ROOT/**", ALL_KEYS),
        ("@/*/peer/**", ALL_KEYS),
        ("@/*/*", [""]),
        ("ROOT", [""]),
        ("@/*/peer", [""]),
        ("@/*/*/metrics", ["/metrics"]),
        ("@/*/*/*/demo/p", ["/subscriber/demo/**", "/subscriber/demo/p"]),
        ("ROOT/subscriber/*", ["/subscriber/demo/**"]),
        ("ROOT/subscriber", []),
        ("@/*/**/demo/p", ["/querier/ask/**", "/subscriber/demo/**", "/subscriber/demo/p"]),
        ("@/**/alive/*", ["/querier/ask/**", "/subscriber/demo/**", "/token/alive/c1"]),
        ("@/*/*/**/c1", ["/token/alive/c1", "/querier/ask/**", "/subscriber/demo/**"]),
        ("@/*/*/linkstate/*", ["/linkstate/north"]),
        ("@/*/*/linkstate/**", ["/linkstate/north"]),
        ("@/*/*/config/**", []),
        ("@/*/*/plugins/**", []),
        ("@/*/*/route/**", []),
        ("@/*/*/nonsense", []),
    ],
)
def test_selector_is_answered_on_the_keys_it_intersects(
    play: AdminPlay, selector: str, keys: list[str]
) -> None:
    found = play.keys("c1", selector.replace("ROOT", play.root))
    assert found == sorted(keys)


@pytest.mark.parametrize("selector", ["**", "@/*/router", "@/x/peer", "@/*/*/@/**", "@/*/@x/**"])
def test_other_selectors_do_not_reach_the_admin_space(play: AdminPlay, selector: str) -> None:
    request_id = play.asks("c1", selector)
    if selector == "**":  # the other queryable gets the query
        play.received("c2")
        return
    assert play.answers("c1", request_id) == {}


def test_a_subscriber_of_everything_is_found_without_a_chunk(play: AdminPlay) -> None:
    play.sends("c1", subscriber(7, "**"), interest(8, "future", "KS", "**"))
    play.clear_received()
    assert play.keys("c1", f"{play.root}/subscriber") == ["/subscriber/**"]
    assert play.keys("c1", f"{play.root}/publisher") == ["/publisher/**"]
    assert play.keys("c1", f"{play.root}/querier") == []


def test_sources_are_listed_by_role_and_nodes_below_as_own_zid(play: AdminPlay) -> None:
    own = str(play.dispatcher.zid)
    answers = play.get("c1", f"{play.root}/**")

    def sources(key: str) -> object:
        return answers[f"{play.root}/{key}"].json

    both = {"routers": [], "peers": [own], "clients": [C1, C2]}
    assert sources("subscriber/demo/**") == both
    assert sources("subscriber/demo/p") == {"routers": [], "peers": [P1], "clients": []}
    assert sources("queryable/ask") == {"routers": [], "peers": [own], "clients": [C2]}
    assert sources("token/alive/c1") == {"routers": [], "peers": [own], "clients": [C1]}
    assert sources("publisher/demo/pub") == {"routers": [], "peers": [], "clients": [C1]}
    assert sources("querier/ask/**") == {"routers": [], "peers": [], "clients": [C2]}


def test_a_router_above_a_peer_is_listed_as_a_peer(play: AdminPlay) -> None:
    play.connects("r1", "router")
    play.sends("r1", queryable(1, "ask/r", answer_to=1))
    play.clear_received()
    answers = play.get("c1", f"{play.root}/queryable/ask/r")
    lists = {"routers": [], "peers": [str(zid_of("r1"))], "clients": []}
    assert answers[f"{play.root}/queryable/ask/r"].json == lists


def test_a_client_lists_its_gateway_by_role() -> None:
    play = AdminPlay("client")
    play.connects("app")
    play.connects("r1", "router")
    play.sends("app", interest(1, "current_future", "KS", "demo/a"))
    play.sends("r1", subscriber(1, "demo/**", answer_to=1), final(1))
    play.clear_received()
    found = play.get("app", f"{play.root}/**")
    lists = {"routers": [str(zid_of("r1"))], "peers": [], "clients": []}
    assert found[f"{play.root}/subscriber/demo/**"].json == lists
    assert f"{play.root}/linkstate/north" not in found


def test_ended_declaration_is_not_listed(play: AdminPlay) -> None:
    play.disconnects("c2")
    play.clear_received()
    answers = play.get("c1", f"{play.root}/**")
    assert f"{play.root}/queryable/ask" not in answers
    assert f"{play.root}/querier/ask/**" not in answers
    assert answers[f"{play.root}/subscriber/demo/**"].json["clients"] == [C1]


def test_root_describes_the_node_and_its_sessions(play: AdminPlay) -> None:
    play.facts.names = ["c1"]
    member = SessionEntry(zid_of("g1"), WhatAmI.PEER, None, "udp/224.0.0.1:7447", [("a", "b")])
    play.facts.members = [member]
    answers = play.get("c1", play.root)
    root = answers[play.root].json
    assert root.pop("version").startswith("zenlake v")
    assert root == {
        "zid": str(play.dispatcher.zid),
        "metadata": None,
        "locators": ["tcp/10.0.0.1:7447"],
        "plugins": None,
        "sessions": [
            {
                "peer": C1,
                "whatami": "client",
                "region": "south:0:client",
                "shm": False,
                "weight": None,
                "links": [{"src": "tcp/127.0.0.1:1", "dst": "tcp/127.0.0.1:2"}],
            },
            {
                "peer": str(zid_of("g1")),
                "whatami": "peer",
                "group": "udp/224.0.0.1:7447",
                "links": [{"src": "a", "dst": "b"}],
            },
        ],
    }
    response = answers[play.root].response
    assert response.responder == ResponderId(play.dispatcher.zid, 1)


def test_metadata_is_returned_unchanged() -> None:
    play = AdminPlay(metadata={"name": "Zürich", "n": [1, None]})
    play.connects("c1", "client")
    answers = play.get("c1", play.root)
    assert answers[play.root].json["metadata"] == {"name": "Zürich", "n": [1, None]}


def test_graph_has_the_neighbours_beside_and_above(play: AdminPlay) -> None:
    answers = play.get("c1", f"{play.root}/linkstate/north")
    own = play.dispatcher.zid
    text = f'graph {{\n    0 [ label = "{own}" ]\n    1 [ label = "{P1}" ]\n}}\n'
    assert answers[f"{play.root}/linkstate/north"].text == text


def test_metrics_are_compressed_by_default(play: AdminPlay) -> None:
    key = f"{play.root}/metrics"
    kind = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    packed = play.get("c1", key)[key]
    plain = play.get("c1", f"{key}?compression=false")[key]
    assert packed.encoding == f"{kind};content-encoding=gzip"
    assert plain.encoding == kind
    assert packed.text == plain.text
    lines = plain.text.splitlines()
    assert lines[0] == "# HELP zenoh_build Zenoh build version."
    assert lines[1] == "# TYPE zenoh_build info"
    labels = f'local_id="{play.dispatcher.zid}",local_whatami="peer",version="zenlake v'
    assert lines[2].startswith(f"zenoh_build_info{{{labels}")
    assert lines[-1] == "# EOF"
    bare = play.get("c1", f"{key}?compression=false;descriptors=false")[key]
    assert [line for line in bare.text.splitlines() if line.startswith("#")] == ["# EOF"]


def test_metrics_have_the_counters_of_each_transport(play: AdminPlay) -> None:
    play.facts.names = ["c1"]
    key = f"{play.root}/metrics"
    lines = play.get("c1", f"{key}?compression=false")[key].text.splitlines()
    labels = f'remote_id="{C1}",remote_whatami="client"'
    more = f'{labels},direction="in",kind="push"'
    assert f"zenlake_messages_total{{{more}}} 2" in lines
    assert f"zenlake_bytes_total{{{more}}} 30" in lines
    assert f"zenlake_queued_bytes{{{labels}}} 5" in lines
    assert f'zenlake_drops_total{{{labels},cause="dropped_messages"}} 7' in lines
    assert not any(line.startswith("zenlake_round_trip_us") for line in lines)
    lines = play.get("c1", f"{key}?compression=false;per_transport=false")[key].text.splitlines()
    assert not any("remote_id" in line for line in lines)


def test_a_parameter_without_effect_is_reported_once(play: AdminPlay) -> None:
    key = f"{play.root}/metrics"
    play.get("c1", f"{key}?per_link=false;per_key=false;disconnected=false")
    assert play.reports == []
    assert list(play.get("c1", f"{key}?disconnected=true")) == [key]
    play.get("c1", f"{key}?disconnected=true")
    (report,) = play.reports
    assert "`disconnected=true` has no effect" in report


def test_node_and_each_neighbour_have_counters(play: AdminPlay) -> None:
    play.facts.names = ["c1", "c2"]
    answers = play.get("c1", f"{play.root}/zenlake/**")
    assert sorted(answers) == sorted(
        f"{play.root}/zenlake/{name}" for name in ("node", f"face/{C1}", f"face/{C2}")
    )
    assert answers[f"{play.root}/zenlake/face/{C1}"].json["queued_bytes"] == 5
    node = answers[f"{play.root}/zenlake/node"].json
    assert node["transports"] == 2
    assert node["refusals"]["invalid_keys"] == 0
    assert 0 < node["memory_bytes"] < node["memory_bytes_max"]
    key = f"{play.root}/zenlake/face/{C2}"
    assert list(play.get("c1", f"@/*/*/*/face/{C2}")) == [key]


def test_the_queryable_is_not_complete(play: AdminPlay) -> None:
    assert play.get("c1", "@/**", QueryTarget.ALL_COMPLETE) == {}


def test_an_application_of_the_same_process_is_answered() -> None:
    play = AdminPlay()
    play.connects("app")
    request_id = play.asks("app", play.root)
    first, last = play.received("app")
    assert isinstance(first, Response)
    assert isinstance(last, ResponseFinal)
    assert first.request_id == last.request_id == request_id


def test_without_permission_to_read_the_answer_is_empty() -> None:
    play = AdminPlay(read=False)
    play.connects("c1", "client")
    assert play.get("c1", "@/**") == {}
    text = "GET on `@/**` is refused: adminspace/permissions/read is false"
    assert play.reports == [text]


@pytest.mark.parametrize(
    ("write", "path", "payload", "words"),
    [
        (False, "metadata", "1", "adminspace/permissions/write is false"),
        (True, "metadata", "1", "only keys under `plugins/` can be changed"),
        (True, "plugins", "{}", "only keys under `plugins/` can be changed"),
        (True, "plugins/rest/http_port", "8000", "has no effect: zenlake has no plugins"),
        (True, "plugins/*", "8000", "it must name one key"),
    ],
)
def test_configuration_writes_are_reported_and_change_nothing(
    write: bool, path: str, payload: str, words: str
) -> None:
    play = AdminPlay(write=write)
    play.connects("c1", "client")
    play.sends("c1", put(f"{play.root}/config/{path}", payload))
    (report,) = play.reports
    assert words in report
    play.nothing_received()
