// Topology: who had sessions with whom, and the edges of link states.

const ROLE_SYMBOLS = { router: 'diamond', peer: 'roundRect', client: 'circle' };
const LABELS_MAX = 60;
let topologyBody = null;

function setUpTopology() {
  topologyBody = el('div', {});
  begin(
    'topology',
    'Topology and sessions',
    'Solid lines are sessions that were seen, dashed ones are links that link states announce. Larger nodes sent and received more.',
  ).append(topologyBody);
}

function nodeWeights() {
  const weights = new Map();
  const { cells } = data.traffic;
  for (let i = 0; i < cells.bin.length; i += 1) {
    for (const id of [cells.sender[i], cells.receiver[i]])
      weights.set(id, (weights.get(id) || 0) + cells.messages[i]);
  }
  return weights;
}

function fittingEdges() {
  const { sessions, groups, adjacencies } = data.topology;
  return {
    sessions: sessions.filter(([a, b]) => nodeFits(a, b)),
    groups: groups.filter((members) => nodeFits(...members)),
    adjacencies: adjacencies.filter(([a, b]) => nodeFits(a, b)),
  };
}

function drawTopology() {
  const { outcomes, bad, badInAll } = data.topology;
  const edges = fittingEdges();
  const seen = new Set([
    ...edges.sessions.flatMap(([a, b]) => [a, b]),
    ...edges.groups.flat(),
    ...edges.adjacencies.flatMap(([a, b]) => [a, b]),
  ]);
  if (chosen.node === null) data.topology.nodes.forEach(([id]) => seen.add(id));
  else seen.add(chosen.node);
  const parts = [];
  if (data.topology.nodes.length === 0) {
    topologyBody.replaceChildren(nothing('No node was seen.'));
    return;
  }
  parts.push(
    el(
      'p',
      {},
      outcomes.length
        ? 'Sessions: ' +
            outcomes.map(([outcome, number]) => count(number) + ' ' + outcome).join(', ') +
            '.'
        : 'No sessions were seen.',
    ),
  );
  const chart = el('div', { class: 'chart tall' });
  parts.push(chart);
  if (data.names.nodesInAll > data.names.nodesRanked) {
    parts.push(
      remark(
        'Of ' +
          plural(data.names.nodesInAll, 'node') +
          ' ' +
          count(data.names.nodesRanked) +
          ' are drawn: those with the most messages, and who they talk to.',
      ),
    );
  }
  parts.push(
    el('h3', {}, 'Sessions that were lost or refused'),
    badSessions(
      bad.filter((session) => nodeFits(session.from, session.to)),
      badInAll,
    ),
    nodeTable(seen),
  );
  topologyBody.replaceChildren(...parts);
  drawGraph(chart, seen, edges);
}

function drawGraph(element, seen, edges) {
  const weights = nodeWeights();
  const most = Math.max(1, ...weights.values());
  const ids = [...seen].filter((id) => id >= 0);
  const roles = ['router', 'peer', 'client', 'unknown'];
  const pairs = [
    ...edges.sessions.map(([a, b]) => ['n' + a, 'n' + b]),
    ...edges.adjacencies.map(([a, b]) => ['n' + a, 'n' + b]),
    ...edges.groups.flatMap((members, i) => members.map((id) => ['n' + id, 'g' + i])),
  ];
  const names = [...ids.map((id) => 'n' + id), ...edges.groups.map((_, i) => 'g' + i)];
  const size = ids.length > 40 || element.clientWidth < 500 ? 12 : 24;
  const ratio = element.clientWidth / Math.max(1, element.clientHeight - 60);
  let places = null;
  // In large numbers: the ends of upright and level lines are rounded.
  const place = (name) => {
    places ??= arranged(names, pairs, ratio);
    return { id: name, name, x: places.get(name)[0] * 100, y: places.get(name)[1] * 100 };
  };
  draw(
    element,
    'Graph of ' +
      plural(ids.length, 'node') +
      ' and ' +
      plural(edges.sessions.length, 'pair with sessions', 'pairs with sessions'),
    (c) => ({
      legend: {
        ...legend(c),
        icon: undefined,
        data: roles
          .slice(0, ids.some((id) => !role(id)) ? 4 : 3)
          .map((name) => ({ name, icon: ROLE_SYMBOLS[name] || 'triangle' })),
      },
      tooltip: {
        formatter: ({ dataType, data: item }) =>
          dataType === 'node' ? item.tip() : item.words ? tip(item.words, []) : '',
      },
      series: [
        {
          type: 'graph',
          layout: 'none',
          preserveAspect: 'contain',
          roam: 'move',
          draggable: true,
          top: 50,
          bottom: 20,
          left: 20,
          right: 70,
          categories: roles.map((name, i) => ({
            name,
            itemStyle: { color: [c.series[1], c.series[2], c.series[0], c.other][i] },
          })),
          label: {
            show: true,
            position: 'right',
            color: c.text,
            fontSize: 11,
            formatter: ({ data: item }) => item.label2,
          },
          labelLayout: { hideOverlap: true },
          lineStyle: { color: c.soft, width: 1.5, opacity: 0.8, curveness: 0 },
          emphasis: { focus: 'adjacency' },
          data: [
            ...ids.map((id) => ({
              ...place('n' + id),
              category: Math.max(0, roles.indexOf(role(id) || 'unknown')),
              symbol: ROLE_SYMBOLS[role(id)] || 'triangle',
              symbolSize: 8 + size * Math.sqrt((weights.get(id) || 0) / most),
              label2:
                ids.length <= LABELS_MAX || (weights.get(id) || 0) > most / 3
                  ? shown(nodeShort(id))
                  : '',
              tip: () =>
                tip(shown(nodeName(id)), [
                  [null, 'role', role(id) || 'unknown'],
                  [null, 'messages', count(weights.get(id) || 0)],
                ]),
            })),
            ...edges.groups.map((members, i) => ({
              ...place('g' + i),
              category: 3,
              symbol: 'emptyCircle',
              symbolSize: 14,
              label2: element.clientWidth < 500 ? '' : 'multicast group',
              tip: () => tip('multicast group', [[null, 'members', count(members.length)]]),
            })),
          ],
          links: [
            ...edges.sessions.map(([a, b, number, lost]) => ({
              source: 'n' + a,
              target: 'n' + b,
              words:
                nodeShort(a) +
                ' – ' +
                nodeShort(b) +
                ': ' +
                plural(number, 'session') +
                (lost ? ', ' + lost + ' lost or refused' : ''),
              lineStyle: lost ? { color: c.bad, width: 2 } : {},
            })),
            ...edges.groups.flatMap((members, i) =>
              members.map((id) => ({
                source: 'n' + id,
                target: 'g' + i,
                words: 'member of a multicast group',
                lineStyle: { type: 'dotted' },
              })),
            ),
            ...edges.adjacencies.map(([a, b, lasts]) => ({
              source: 'n' + a,
              target: 'n' + b,
              words:
                nodeShort(a) +
                ' – ' +
                nodeShort(b) +
                ', from link state' +
                (lasts ? '' : ', until it was no longer'),
              lineStyle: { type: 'dashed', curveness: 0.2, color: c.series[0] },
            })),
          ],
        },
      ],
    }),
  );
}

function badSessions(sessions, inAll) {
  if (!sessions.length)
    return nothing(
      inAll && isNarrowed()
        ? 'None of the listed ones fits the filter.'
        : 'None: every session that ended was closed.',
    );
  const rows = sessions.map((session) => [
    badge(session.outcome, session.outcome === 'refused' ? 'bad' : 'odd'),
    shown(nodeShort(session.from) + ' → ' + nodeShort(session.to)),
    shown(session.step || '–'),
    short(session.reason || '–', 120),
    session.seconds === null ? '–' : durationText(session.seconds * 1000),
    dateAndClock(session.at),
    short(
      (session.packet ? 'packet ' + session.packet + ' of ' : '') + captureName(session.capture),
      60,
    ),
    short(session.session || '', 60),
    copyButton(session.command),
  ]);
  const place = el(
    'div',
    {},
    table(
      'Sessions that were lost or refused',
      [
        ['', ''],
        ['nodes', 'key'],
        ['refused at', ''],
        ['reason', ''],
        ['lasted', 'number'],
        ['began', ''],
        ['ended in', 'key'],
        ['session', 'key'],
        ['', ''],
      ],
      rows,
      sessions.map((session) => 'session-' + data.topology.bad.indexOf(session)),
    ),
  );
  if (inAll > data.topology.bad.length)
    place.append(
      remark(count(data.topology.bad.length) + ' of ' + count(inAll) + ' are listed.'),
    );
  return place;
}

function nodeTable(seen) {
  const rows = data.topology.nodes
    .filter(([id]) => seen.has(id))
    .map(([id, locators, first, last]) => [
      el('code', {}, shown(nodeName(id))),
      shown(role(id) || 'unknown'),
      short(locators || '–', 120),
      dateAndClock(first),
      dateAndClock(last),
    ]);
  return el(
    'details',
    {},
    el('summary', {}, plural(rows.length, 'node') + ' as a table'),
    table(
      'Nodes',
      [
        ['id', 'key'],
        ['role', ''],
        ['listens at', 'key'],
        ['first seen', ''],
        ['last seen', ''],
      ],
      rows,
    ),
  );
}
