"""The explanation of a route as text."""

from __future__ import annotations

from typing import Final

from zenlake.cli.output import count_text, safe
from zenlake.cli.router_explain import Json, is_received
from zenlake.cli.router_explain_losses import LOST_INWARD, LOST_OUTWARD, REFUSED, losses_in_words

_SHOWN_MAX: Final = 20


def text_of(steps: list[Json], own_zid: str = "") -> str:
    """`own_zid` is the id of this command's session."""
    lines: list[str] = []
    for index, step in enumerate(steps):
        if index:
            lines.append("")
        lines += _silent_lines(step) if "error" in step else _step_lines(step, index == 0, own_zid)
    if not any(is_received(step) for step in steps):
        lines += ["", "Nobody gets it."]
    return "\n".join(map(safe, lines))  # keys come from other nodes


def _step_lines(step: Json, is_first: bool, own_zid: str) -> list[str]:
    node = _name(step["node"])
    source = _name(step["source"])
    if step["source"]["zid"] == own_zid:
        source = "this command, as a client"
    if is_first:
        lines = [f"A {_what(step)} on `{step['key']}` comes to {node} from {source}."]
    else:
        lines = [f"{node[0].upper()}{node[1:]} gets it from {source}."]
    lines += _source_troubles(step)
    neighbours = [step["source"], *step["sent_to"]]
    if step["root"] is not None and any(one["region"] == "north" for one in neighbours):
        lines.append(f"Between routers it follows the tree of router {step['root']}.")
    lines += _destinations(step)
    lines += _obstacles(step)
    lines += _refusals(step)
    return lines


def _what(step: Json) -> str:
    if step["kind"] == "publication":
        return "publication"
    return f"query (target {step['target'].replace('_', ' ')})"


def _destinations(step: Json) -> list[str]:
    sent_to = step["sent_to"]
    if not sent_to:
        return [_no_receiver(step)]
    lines = [f"It goes to {count_text(len(sent_to), 'neighbour')}{_rule(step)}:"]
    for hop in sent_to[:_SHOWN_MAX]:
        decisions = [one for one in step["decisions"] if _leads_to(one, hop)]
        reasons = [_reason(one, hop, _entity(step)) for one in decisions]
        lines.append(f"  {_name(hop)}, because {_joined(reasons)}.")
        lines += _link_troubles(hop)
    return lines + _more(len(sent_to))


def _link_troubles(hop: Json) -> list[str]:
    """Causes for which the message may not arrive although it is sent."""
    lines: list[str] = []
    if hop.get("queued_bytes"):
        lines.append(f"    But: {hop['queued_bytes']:,} bytes wait for its link.")
    lost = losses_in_words(hop.get("drops", {}), LOST_OUTWARD)
    if lost:
        lines.append(f"    Lost since it connected: {'; '.join(lost)}.")
    return lines


def _source_troubles(step: Json) -> list[str]:
    """Causes for which the message may not have reached this node."""
    lost = losses_in_words(step.get("source_drops", {}), LOST_INWARD)
    return [f"Lost from there since it connected: {'; '.join(lost)}."] if lost else []


def _refusals(step: Json) -> list[str]:
    """Messages and declarations that the node refused, from any neighbour."""
    refused = losses_in_words(step.get("refusals", {}), REFUSED)
    if not refused:
        return []
    return [f"Refused by this node since it started, on any key: {'; '.join(refused)}."]


def _rule(step: Json) -> str:
    """The queryables that the target of a query selects."""
    if step["kind"] == "query" and step["target"] == "best_matching":
        return ", in each region to the nearest complete queryable or, without one, to all"
    return ""


def _no_receiver(step: Json) -> str:
    if not step["counts"]:
        text = f"It goes nowhere: this node knows of no {_entity(step)} that matches the key"
        if any(chunk.startswith("@") for chunk in step["key"].split("/")):
            text += "; wildcards do not match a chunk that begins with @"
        return f"{text}."
    return f"It goes nowhere, although this node knows of a {_entity(step)} that matches."


def _leads_to(decision: Json, hop: Json) -> bool:
    if decision["verdict"] not in ("sent", "unknown"):
        return False
    return bool(_identity(decision["hop"]) == _identity(hop))


def _identity(node: Json) -> tuple[str, str]:
    return node["zid"], node["region"]


def _reason(decision: Json, hop: Json, entity: str) -> str:
    if decision["verdict"] == "unknown":
        if hop["zid"] == "group":
            return "everything that leaves this node goes to a multicast group"
        return "it has not sent its declarations for this key yet"
    owner = "it" if _identity(decision["holder"]) == _identity(hop) else _name(decision["holder"])
    complete = "complete " if decision["complete"] else ""
    reason = f"{owner} has declared a {complete}{entity} on `{decision['declared']}`"
    return reason if owner == "it" else f"{reason} and this is the way there"


def _entity(step: Json) -> str:
    return "queryable" if step["kind"] == "query" else "subscriber"


def _obstacles(step: Json) -> list[str]:
    """Nodes with a matching declaration that do not receive the message."""
    left_out = [one for one in step["decisions"] if one["verdict"] not in ("sent", "unknown")]
    if not left_out:
        return []
    lines = ["It does not go to:"]
    for decision in left_out[:_SHOWN_MAX]:
        holder = f"{_name(decision['holder'])} with a {_entity(step)} on `{decision['declared']}`"
        lines.append(f"  {holder}: {_obstacle(decision, step)}.")
    total = sum(count for name, count in step["counts"].items() if name not in ("sent", "unknown"))
    return lines + _more(total)


def _obstacle(decision: Json, step: Json) -> str:
    verdict = decision["verdict"]
    if verdict == "is_source":
        if decision["holder"] == step["source"]:
            return "it is where it came from"
        return "the way there leads back to where it came from, so others deliver it"
    if verdict == "same_region":
        mode = step["node"]["whatami"]
        return (
            f"it and the sender are both peers of this {mode}, which does not pass on between "
            f"peers: they have to be connected to each other"
        )
    if verdict == "no_way":
        return "the tree does not lead there; the network of routers may just have changed"
    if verdict == "other_gateway":
        return "another gateway of the peer, with a greater id, carries its messages"
    if verdict == "not_elected":
        return "another router is elected to carry this key between linkstate peers and others"
    if verdict == "not_complete":
        return "only complete queryables are asked, and it is not complete for this key"
    if verdict == "other_is_best":
        return "a complete queryable of the same region is asked, and it is not the nearest one"
    return str(verdict)


def _silent_lines(step: Json) -> list[str]:
    lines = [f"Router {step['node']['zid']} cannot be queried further: {step['error']}."]
    for declared, zids in step["declared"].items():
        lines.append(f"  It knows of `{declared}`, declared by {_joined(zids) or 'other routers'}.")
    return lines


def _name(node: Json) -> str:
    if node["zid"] == "group":
        return "a multicast group"
    if node.get("region") == "local":
        return f"a session within {node['whatami']} {node['zid']}"
    return f"{node.get('whatami', 'router')} {node['zid']}"


def _joined(parts: list[str]) -> str:
    unique = list(dict.fromkeys(parts))
    shown = unique[:3]
    more = len(unique) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _more(total: int) -> list[str]:
    return [f"  and {total - _SHOWN_MAX:,} more"] if total > _SHOWN_MAX else []
