// Traffic over time: two charts, the same grouping.

const SERIES_MAX = 6;
let grouping = 'kind';
let trafficBody = null;

function setUpTraffic() {
  const body = begin(
    'traffic',
    'Traffic over time',
    'Messages and their bytes, on every link they crossed. Frames and fragments count as messages; ' +
      'their bytes are those of what they carry. Times are UTC.' +
      pauseWords(),
  );
  trafficBody = el('div', {});
  body.append(
    choice(
      'Group traffic by',
      [
        ['kind', 'By kind'],
        ['direction', 'By direction'],
        ['sender', 'By sender'],
      ],
      grouping,
      (value) => {
        grouping = value;
        drawTraffic();
      },
    ),
    zoomControls(),
    trafficBody,
  );
  trafficBody.append(
    el(
      'div',
      { id: 'traffic-charts' },
      el('h3', {}, 'Messages per second'),
      el('div', { class: 'chart', id: 'traffic-messages' }),
      el('h3', {}, 'Bytes per second'),
      el('div', { class: 'chart', id: 'traffic-bytes' }),
    ),
    el('p', { class: 'nothing', id: 'traffic-nothing' }, 'No traffic fits the filter.'),
    el('p', { class: 'remark', id: 'traffic-note' }),
  );
}

function groupOf(cells, i) {
  if (grouping === 'kind') return data.traffic.kinds[cells.kind[i]];
  if (grouping === 'sender') return nodeShort(cells.sender[i]);
  return nodeShort(cells.sender[i]) + ' → ' + nodeShort(cells.receiver[i]);
}

// Whether only kinds are asked for: of these the page may have smaller parts of the time.
function isByKindAlone() {
  return grouping === 'kind' && chosen.keys === null && chosen.node === null;
}

function trafficSource() {
  return (isByKindAlone() && data.traffic.fine) || data.traffic;
}

// For each group two rows of sums, the largest groups first, the rest as one.
function grouped(step) {
  const source = trafficSource();
  const { cells } = source;
  const bins = Math.ceil(axis.bins / step);
  const groups = new Map();
  let unlisted = 0;
  for (let i = 0; i < cells.bin.length; i += 1) {
    if (!isByKindAlone() && !nodeFits(cells.sender[i], cells.receiver[i])) continue;
    if (!isByKindAlone() && !keyFits(cells.key[i])) {
      if (cells.key[i] === OTHER) unlisted += cells.messages[i];
      continue;
    }
    const name = groupOf(cells, i);
    if (!groups.has(name))
      groups.set(name, {
        name,
        total: 0,
        messages: new Float64Array(bins),
        bytes: new Float64Array(bins),
      });
    const group = groups.get(name);
    const bin = Math.floor((cells.bin[i] * source.step) / step);
    group.messages[bin] += cells.messages[i];
    group.bytes[bin] += cells.bytes[i];
    group.total += cells.messages[i];
  }
  const sorted = [...groups.values()].sort((a, b) => b.total - a.total);
  if (grouping === 'kind')
    return {
      unlisted,
      groups: data.traffic.kinds.filter((kind) => groups.has(kind)).map((kind) => groups.get(kind)),
    };
  if (sorted.length > SERIES_MAX + 1) {
    const rest = sorted.splice(SERIES_MAX);
    sorted.push(
      rest.reduce(
        (sum, one) => {
          one.messages.forEach((value, i) => {
            sum.messages[i] += value;
          });
          one.bytes.forEach((value, i) => {
            sum.bytes[i] += value;
          });
          sum.total += one.total;
          return sum;
        },
        {
          name: plural(rest.length, 'other'),
          total: 0,
          messages: new Float64Array(bins),
          bytes: new Float64Array(bins),
        },
      ),
    );
  }
  return { unlisted, groups: sorted };
}

function trafficStep() {
  return stepOf(trafficSource().step);
}

function drawTraffic() {
  const { groups, unlisted } = grouped(trafficStep());
  const total = groups.reduce((sum, group) => sum + group.total, 0);
  byId('traffic-charts').hidden = total === 0;
  byId('traffic-nothing').hidden = total > 0;
  drawRates('messages', groups, rateText, total);
  drawRates('bytes', groups, byteRateText, total);
  const notes = [];
  if (unlisted > 0)
    notes.push(
      plural(unlisted, 'message') +
        ' of less frequent keys are not shown: the page does not know which of them fit.',
    );
  if (chosen.keys !== null) notes.push('Messages without a key, such as keep-alives, are left out.');
  if (data.traffic.leftOut > 0 && trafficSource() === data.traffic)
    notes.push(plural(data.traffic.leftOut, 'message') + ' did not find room in this page.');
  if (data.traffic.fine && trafficSource() === data.traffic)
    notes.push('Zoom shows smaller parts of the time by kind, without a filter by key or node.');
  byId('traffic-note').textContent = notes.join(' ');
}

function drawRates(measure, groups, format, total) {
  const label =
    (measure === 'messages' ? 'Messages' : 'Bytes') +
    ' per second over time, stacked by ' +
    grouping +
    ': ' +
    (total === 0
      ? 'none'
      : groups.map((group) => group.name + ' ' + count(group.total) + ' messages').join(', '));
  const make = (c, step, seconds = (axis.width * step) / 1000) => ({
    ...overTime(c, step, (points) => {
      const seen = points.filter((point) => point.value > 0);
      return seen.length
        ? seen.map((point) => [point.color, shown(point.seriesName), format(point.value)])
        : [[null, 'nothing', '']];
    }),
    yAxis: valueAxis(c, format),
    series: grouped(step).groups.map((group, i) => ({
      name: group.name,
      type: 'bar',
      stack: 'all',
      barCategoryGap: '0%',
      large: false,
      itemStyle: {
        color:
          c.series[grouping === 'kind' ? data.traffic.kinds.indexOf(group.name) : i] || c.other,
      },
      data: Array.from(group[measure], (value) => value / seconds),
      markLine: i === 0 ? pauses(c, step) : undefined,
    })),
  });
  draw(byId('traffic-' + measure), label, make, trafficStep);
}
