"""Splits: assigns the connections of a capture, and parts of the survey, to tasks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.regularity.survey import Survey

_IRREGULAR_WEIGHT: Final = 8
"""How many times longer the exact reader needs for a packet."""
_OTHER_WEIGHT: Final = 12
"""The same factor for packets that are not TCP, nearly all of which have messages."""
_PACKET_WEIGHT: Final = 512
"""The fixed cost of a packet, as a number of payload bytes."""
_LARGE_SHARE: Final = 1 / 8
"""Sessions above this share of a split are assigned first, to balance loads."""
_UNEVEN_MAX: Final = 1.25
"""Connected nodes stay together if no split exceeds this multiple of the average load."""


class Assignment(NamedTuple):
    of_pair: NDArray[np.int64]
    """The split of each pair of ends."""
    is_closed: bool
    """Whether all sessions of connected nodes are in one split, as far as TCP shows."""


def assign(survey: Survey, splits: int) -> Assignment:
    """Keeps all sessions of connected nodes in one split if loads stay balanced, else each session.

    The first split reads packets that are not TCP. Sessions that are neighbours in the file go to
    the same split, so that splits are contiguous parts of the file as far as possible.
    """
    loads = _loads(survey)
    networks = by_network(survey, splits)
    heaviest = np.bincount(networks, loads, splits).max(initial=0)
    average = (loads.sum() + _other_load(survey)) / splits
    if heaviest <= _UNEVEN_MAX * average:
        return Assignment(networks, True)
    return Assignment(by_session(survey, splits), splits == 1)


def by_network(survey: Survey, splits: int) -> NDArray[np.int64]:
    return _assigned(survey, _first_of_network(survey), splits)


def by_session(survey: Survey, splits: int) -> NDArray[np.int64]:
    return _assigned(survey, _first_of_session(survey), splits)


def _assigned(survey: Survey, firsts: NDArray[np.int64], splits: int) -> NDArray[np.int64]:
    """The split of each pair; pairs with equal `firsts` stay together."""
    groups, group_of = np.unique(firsts, return_inverse=True)
    totals = np.bincount(group_of, _loads(survey), len(groups)).astype(np.float64)
    loads = np.zeros(splits)
    loads[0] = _other_load(survey)
    is_large = totals * splits > _LARGE_SHARE * (totals.sum() + loads[0])
    of_group = np.zeros(len(groups), np.int64)
    _assign_largest_first(np.flatnonzero(is_large), totals, loads, of_group)
    small = np.flatnonzero(~is_large)
    # Long groups come first: their split reads most of the file anyway, as the first split does.
    # The other groups are in the order of the file, as pairs are.
    span = _spans(survey, group_of, len(groups))[small]
    small = small[np.argsort(span * splits <= survey.packets, kind="stable")]
    of_group[small] = _in_order(totals[small], loads)
    found: NDArray[np.int64] = of_group[group_of]
    return found


def _other_load(survey: Survey) -> int:
    return survey.others * _PACKET_WEIGHT * _OTHER_WEIGHT


def _first_of_network(survey: Survey) -> NDArray[np.int64]:
    """For each pair, the first pair of its network: all directly or indirectly connected nodes."""
    zids, numbers = np.unique(survey.zids, return_inverse=True)
    nodes = numbers.reshape(survey.zids.shape)
    is_known = (survey.zids != "").all(axis=1)
    # Each node takes the lowest number of its neighbours until nothing changes.
    lowest = np.arange(len(zids))
    one, other = nodes[is_known, 0], nodes[is_known, 1]
    while True:
        before = lowest.copy()
        least = np.minimum(lowest[one], lowest[other])
        np.minimum.at(lowest, one, least)
        np.minimum.at(lowest, other, least)
        lowest = lowest[lowest]
        if (lowest == before).all():
            break
    # A pair whose nodes are unknown is a separate network.
    labels = np.where(is_known, lowest[nodes[:, 0]], len(zids) + np.arange(len(nodes)))
    _, firsts, found = np.unique(labels, return_index=True, return_inverse=True)
    result: NDArray[np.int64] = firsts[found]
    return result


def _first_of_session(survey: Survey) -> NDArray[np.int64]:
    """For each pair, the first pair of the same two nodes: both may belong to one session."""
    numbers: dict[tuple[str, str] | int, int] = {}
    firsts = [
        numbers.setdefault((min(one, other), max(one, other)) if one and other else pair, pair)
        for pair, (one, other) in enumerate(survey.zids.tolist())
    ]
    return np.array(firsts, np.int64)


def _loads(survey: Survey) -> NDArray[np.int64]:
    """The cost of reading each pair."""
    found = survey.pair_packets * _PACKET_WEIGHT + survey.pair_bytes
    found[~survey.may_be_regular] *= _IRREGULAR_WEIGHT
    return found


def _spans(survey: Survey, group_of: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The number of packets from the first of each group to its last."""
    first = np.full(groups, survey.packets)
    last = np.zeros(groups, np.int64)
    np.minimum.at(first, group_of, survey.first_packet)
    np.maximum.at(last, group_of, survey.last_packet)
    found: NDArray[np.int64] = last - first
    return found


def _assign_largest_first(
    groups: NDArray[np.int64],
    totals: NDArray[np.float64],
    loads: NDArray[np.float64],
    of_group: NDArray[np.int64],
) -> None:
    """Assigns each group to the split with the smallest load; adds to `loads`."""
    for group in groups[np.argsort(-totals[groups], kind="stable")].tolist():
        split = int(np.argmin(loads))
        of_group[group] = split
        loads[split] += totals[group]


def _in_order(totals: NDArray[np.float64], loads: NDArray[np.float64]) -> NDArray[np.int64]:
    """Fills one split after the other up to a common level."""
    ends = np.cumsum(totals)
    if not len(ends):
        return np.zeros(0, np.int64)
    lowest = np.sort(loads)
    levels = (ends[-1] + np.cumsum(lowest)) / np.arange(1, len(lowest) + 1)
    # Splits with a load above the level get nothing, and are not part of the average.
    level = levels[np.flatnonzero(levels >= lowest)[-1]]
    room = np.cumsum(np.maximum(level - loads, 0))
    found = np.searchsorted(room, ends - totals / 2)
    return np.minimum(found, len(loads) - 1)


def parts(survey: Survey, of_pair: NDArray[np.int64], splits: int) -> Iterator[Survey]:
    """For each split its part of the survey: its pairs, and their ranges of the file."""
    # The last entry is for NO_PAIR, which is -1.
    owners = np.append(of_pair, 0).astype(np.min_scalar_type(splits))[survey.pair_of]
    numbers = [*survey.marks[:, 1].tolist(), survey.packets + 1]
    bounds = [number - survey.first_number for number in numbers]
    has_packets = np.zeros((len(survey.marks), splits), np.bool_)
    for stretch, (first, stop) in enumerate(pairwise(bounds)):
        has_packets[stretch] = np.bincount(owners[first:stop], minlength=splits) > 0
    for split in range(splits):
        yield survey.part(of_pair == split, split == 0, has_packets[:, split])


def save_splits(survey: Survey, of_pair: NDArray[np.int64], splits: int, place: Path) -> None:
    for split, part in enumerate(parts(survey, of_pair, splits)):
        part.save(str(split_file(place, split)))


def split_file(place: Path, split: int) -> Path:
    """The file with the part of the survey for one split."""
    return place.with_suffix(f".{split}.npz")
