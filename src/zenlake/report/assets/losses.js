// Losses: when, of what kind, on which links.

const LOSS_WORDS = {
  sn_gap: 'sequence numbers missing',
  tcp_gap: 'TCP bytes missing',
  fragment: 'incomplete fragments',
  truncated: 'cut by the snap length',
  resync: 'framing lost',
};
let lossesBody = null;

function setUpLosses() {
  lossesBody = el('div', {});
  begin(
    'losses',
    'Losses',
    'What was sent and is not in the captures, or did not arrive whole. Losses have no key: only the node filter applies.' +
      pauseWords(),
  ).append(lossesBody);
}

// Counts of each kind, with `step` time bins in a bar.
function lossBars(step) {
  const { kinds, cells } = data.losses;
  const bars = kinds.map(() => new Array(Math.ceil(axis.bins / step)).fill(0));
  for (const [bin, kind, sender, receiver, number] of cells)
    if (nodeFits(sender, receiver)) bars[kind][Math.floor((bin * data.losses.step) / step)] += number;
  return bars;
}

function drawLosses() {
  const { kinds, groups, times, leftOut } = data.losses;
  if (times === 0) {
    lossesBody.replaceChildren(nothing('No losses: nothing is missing.'));
    return;
  }
  const fitting = groups.filter(
    (group) => nodeFits(group.from, group.to) && captureFits(group.capture),
  );
  if (!lossBars(1).some((bar) => bar.some(Boolean))) {
    lossesBody.replaceChildren(nothing('No losses between this node and others.'));
    return;
  }
  const chart = el('div', { class: 'chart low' });
  const rows = fitting.map((group) => [
    LOSS_WORDS[group.kind] || shown(group.kind),
    count(group.times),
    group.missing === null ? '–' : count(group.missing),
    group.bytes === null ? '–' : bytesText(group.bytes),
    shown(nodeShort(group.from) + ' → ' + nodeShort(group.to)),
    [group.reliability, group.priority === null ? null : 'priority ' + group.priority]
      .filter(Boolean)
      .join(', ') || '–',
    'packet ' + group.packet + ' of ' + short(captureName(group.capture), 60),
    copyButton(group.command),
  ]);
  lossesBody.replaceChildren(
    chart,
    table(
      'Losses',
      [
        ['what', ''],
        ['times', 'number'],
        ['messages', 'number'],
        ['bytes', 'number'],
        ['from → to', 'key'],
        ['channel', ''],
        ['first', ''],
        ['', ''],
      ],
      rows,
      fitting.map((group) => 'loss-' + groups.indexOf(group)),
    ),
  );
  if (leftOut > 0)
    lossesBody.append(
      remark(plural(leftOut, 'loss', 'losses') + ' on further links are not in this table.'),
    );
  const make = (c, step) => ({
    ...overTime(c, step, (points) =>
      points
        .filter((point) => point.value > 0)
        .map((point) => [point.color, point.seriesName, plural(point.value, 'time')]),
    ),
    yAxis: valueAxis(c, axisNumber, { minInterval: 1 }),
    series: kinds
      .map((kind, i) => ({
        name: LOSS_WORDS[kind],
        type: 'bar',
        stack: 'all',
        barMinWidth: 3,
        barCategoryGap: '0%',
        itemStyle: { color: c.series[i] },
        data: lossBars(step)[i],
        markLine: i === 0 ? pauses(c, step) : undefined,
      }))
      .filter((series) => series.data.some(Boolean)),
  });
  draw(chart, 'Losses over time, by kind', make, () => stepOf(data.losses.step));
}
