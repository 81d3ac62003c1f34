"""zenlake router: runs a router, with the options of zenohd (behaviour reference §6.1)."""

from __future__ import annotations

import argparse
import json
import logging
from typing import TYPE_CHECKING, Final

from zenlake.cli import router_explain
from zenlake.cli.ending import Ending
from zenlake.cli.readiness import report_ready
from zenlake.cli.recording_options import (
    add_recording_arguments,
    refuse_without_path,
    set_recording,
)
from zenlake.cli.version import ShowVersion
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from zenlake.api.config.config import Config
    from zenlake.api.session.session import Session

EXAMPLES = """examples:
  zenlake router
  zenlake router -l tcp/[::]:7447 -l udp/[::]:7447 -e tcp/other.example:7447
  zenlake router -c router.json5 --cfg 'transport/link/tx/lease:5000' --log debug
  zenlake router --json | jq .message
  zenlake router --record recording --keep-bytes 10G
  zenlake router explain robot/7/pose -e tcp/router.example:7447

exit codes: 0 ended by SIGTERM or SIGINT; 2 the configuration is wrong, or an endpoint
cannot be opened
"""
_PERMISSIONS: Final = ("r", "w", "rw", "none")
_LOOK_S: Final = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("-c", "--config", metavar="PATH", help="configuration file, JSON5")
    add("-l", "--listen", metavar="ENDPOINT", action="append", help="where to listen; repeatable")
    add("-e", "--connect", metavar="ENDPOINT", action="append", help="where to connect; repeatable")
    add("-i", "--id", metavar="HEX", help="id of this node; random by default")
    add("--no-timestamp", action="store_true", help="do not add missing timestamps")
    add("--no-multicast-scouting", action="store_true", help="neither send nor answer SCOUT")
    add(
        "--cfg",
        metavar="KEY:VALUE",
        action="append",
        help="set a configuration key, by its path, to a JSON5 value; applied last; an empty KEY "
        "sets the whole configuration, instead of a file; repeatable",
    )
    add(
        "--adminspace-permissions",
        metavar="[r|w|rw|none]",
        choices=_PERMISSIONS,
        help="what the admin space allows: read, write, both or nothing",
    )
    add("--record", metavar="DIR", help="record all links into this folder; see docs/recording.md")
    add_recording_arguments(parser)
    add("--log", metavar="FILTER", help="what to log, such as `debug`; overrides RUST_LOG")
    add("--json", action="store_true", help="logs as JSON, one object per line")
    add("-P", "--plugin", metavar="NAME", action="append", help="not supported")
    add("--plugin-search-dir", metavar="PATH", action="append", help="not supported")
    add("--rest-http-port", metavar="SOCKET", help="not supported, except `none`")
    add("-V", "--version", action=ShowVersion)
    actions = parser.add_subparsers(dest="action", metavar="explain")
    explain = actions.add_parser(
        "explain",
        help="show where a running router sends a key; see zenlake router explain --help",
        description="Show where a running router sends a publication or query, and why.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    router_explain.add_arguments(explain)


def run(args: argparse.Namespace) -> int:
    if args.action == "explain":
        return router_explain.run(args)
    import zenlake
    from zenlake.cli.router_log import start_log

    _refuse_unsupported(args)
    config = config_of(args)
    start_log(args.log, args.json)
    log = logging.getLogger("zenlake.router")
    ending = Ending()
    log.info("zenlake %s, mode %s", zenlake.__version__, config.mode)
    log.debug("configuration: %s", config)
    with zenlake.open(config) as session:
        locators = _locators(session)
        log.info("the id is %s", session.zid())
        for locator in locators:
            log.info("reachable at %s", locator)
        report_ready(", ".join(locators))
        while not ending.wait(_LOOK_S):
            pass
        log.info("ended by %s", ending.name)
    return 0


def _locators(session: Session) -> list[str]:
    from zenlake.node import Node

    node = session._handle.node
    assert isinstance(node, Node)
    return [str(locator) for locator in node.locators()]


def _refuse_unsupported(args: argparse.Namespace) -> None:
    """Refuse options that zenlake lacks: ignoring them would start a different router."""
    if args.plugin or args.plugin_search_dir:
        raise LocalError("plugins are not supported: run without --plugin, --plugin-search-dir")
    port = args.rest_http_port
    if port is not None and port.lower() != "none":
        raise LocalError("the REST plugin is not supported: run without --rest-http-port")


def config_of(args: argparse.Namespace) -> Config:
    """Options override the file, and `--cfg` overrides other options."""
    from zenlake.api.config.config import Config

    settings = [key_and_value(text) for text in args.cfg or ()]
    whole = [value for key, value in settings if not key]
    if whole:
        config = Config.from_json5(whole[-1])
    elif args.config is not None:
        config = Config.from_file(args.config)
    else:
        config = Config()
    if "mode" not in config.explicit():
        config.insert_json5("mode", '"router"')
    config.insert_json5("adminspace/enabled", "true")
    if args.id is not None:
        config.insert_json5("id", json.dumps(args.id))
    set_network(config, args)
    if args.no_timestamp:
        config.insert_json5("timestamping/enabled", "false")
    if args.adminspace_permissions is not None:
        letters = args.adminspace_permissions
        may = {"read": letters in ("r", "rw"), "write": letters in ("w", "rw")}
        config.insert_json5("adminspace/permissions", json.dumps(may))
    if args.record is not None:
        set_recording(config, args, args.record)
    else:
        refuse_without_path(args, "--record")
    for key, value in settings:
        if key:
            insert_setting(config, key, value)
    return config


def set_network(config: Config, args: argparse.Namespace) -> None:
    """Set the configuration keys of --listen, --connect and --no-multicast-scouting."""
    if args.listen:
        config.insert_json5("listen/endpoints", json.dumps(args.listen))
    if args.connect:
        config.insert_json5("connect/endpoints", json.dumps(args.connect))
    if args.no_multicast_scouting:
        config.insert_json5("scouting/multicast/enabled", "false")


def insert_setting(config: Config, key: str, value: str) -> None:
    try:
        config.insert_json5(key, value)
    except LocalError as error:
        raise LocalError(f"--cfg {key}: {error}") from None


def key_and_value(text: str) -> tuple[str, str]:
    key, colon, value = text.partition(":")
    if not colon:
        raise LocalError(f"--cfg takes KEY:VALUE, not {text!r}")
    return key.strip("/"), value
