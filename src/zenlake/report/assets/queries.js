// Queries: what became of them, and how long they took.

// By name: what the page calls a verdict, and how bad it is. Python writes the list.
const VERDICTS = new Map(data.queries.verdicts.map((verdict) => [verdict.name, verdict]));
let queriesBody = null;
let waterfallBody = null;

function setUpQueries() {
  const body = begin(
    'queries',
    'Queries',
    'Each query counts once, where it was asked. First reply and final are measured from the request, at the place of the capture.',
  );
  queriesBody = el('div', {});
  waterfallBody = el('div', {});
  body.append(queriesBody, waterfallBody);
}

function severityOf(verdict) {
  return VERDICTS.get(verdict)?.severity || 'bad';
}

function labelOf(verdict) {
  return VERDICTS.get(verdict)?.label || shown(verdict);
}

function drawQueries() {
  const { verdicts, cells, bins } = data.queries;
  const first = new Array(bins).fill(0),
    final = new Array(bins).fill(0),
    by = new Map();
  for (const [key, requester, responder, verdict, firstBin, finalBin, number] of cells) {
    if (!keyFits(key) || !nodeFits(requester, responder)) continue;
    by.set(verdict, (by.get(verdict) || 0) + number);
    if (firstBin >= 0) first[firstBin] += number;
    if (finalBin >= 0) final[finalBin] += number;
  }
  const total = [...by.values()].reduce((sum, number) => sum + number, 0);
  if (total === 0) {
    queriesBody.replaceChildren(
      nothing(isNarrowed() ? 'No queries fit the filter.' : 'No queries: nobody asked anything.'),
    );
    waterfallBody.replaceChildren();
    return;
  }
  const tiles = verdicts
    .map((verdict, id) => [verdict, by.get(id) || 0])
    .filter(([, number]) => number > 0)
    .map(([{ label, severity }, number]) =>
      el(
        'div',
        { class: 'tile ' + severity },
        el('b', {}, count(number)),
        el('span', {}, label),
      ),
    );
  const chart = el('div', { class: 'chart', id: 'latency' });
  queriesBody.replaceChildren(
    el('div', { class: 'tiles' }, tiles),
    el('h3', {}, 'How many queries took how long'),
    percentileWords(first, final),
    chart,
  );
  if (first.some(Boolean) || final.some(Boolean)) drawLatency(chart, first, final);
  else chart.replaceWith(nothing('No query got a reply or a final.'));
  drawWaterfall();
}

function binStart(place) {
  return data.queries.firstMs * 10 ** (place / data.queries.binsADecade);
}

// From the bars, so within the width of one: a third of its value.
function percentile(bars, share) {
  const total = bars.reduce((sum, number) => sum + number, 0);
  let before = 0;
  for (let i = 0; i < bars.length; i += 1) {
    if (bars[i] && before + bars[i] >= share * total)
      return binStart(i + (share * total - before) / bars[i]);
    before += bars[i];
  }
  return null;
}

function percentileWords(first, final) {
  const exact = !isFiltered();
  const words = [
    ['First reply', first],
    ['Final', final],
  ].map(([title, bars], which) => {
    const values = exact
      ? data.queries.percentiles[which]
      : [0.5, 0.9, 0.99].map((share) => percentile(bars, share));
    if (values[0] === null) return title + ': none.';
    const [median, ninety, most] = values.map(durationText);
    return (
      title + ': half within ' + median + ', 90 % within ' + ninety + ', 99 % within ' + most + '.'
    );
  });
  return el('p', {}, words.join(' ') + (exact ? '' : ' (Estimated from the bars.)'));
}

function drawLatency(element, first, final) {
  const used = first.map((number, i) => number + final[i]);
  const from = Math.max(0, used.findIndex(Boolean) - 1);
  const to = Math.min(used.length, used.findLastIndex(Boolean) + 2);
  const places = Array.from({ length: to - from }, (_, i) => from + i);
  const decade = data.queries.binsADecade;
  draw(
    element,
    'Histogram of the time to the first reply and to the final, on a logarithmic scale',
    (c) => ({
      legend: legend(c),
      grid: { left: 8, right: 16, top: 34, bottom: 4, containLabel: true },
      tooltip: {
        trigger: 'axis',
        axisPointer: { type: 'shadow' },
        formatter: (points) =>
          tip(
            durationText(binStart(places[points[0].dataIndex])) +
              ' to ' +
              durationText(binStart(places[points[0].dataIndex] + 1)),
            points.map((point) => [
              point.color,
              point.seriesName,
              plural(point.value, 'query', 'queries'),
            ]),
          ),
      },
      xAxis: {
        type: 'category',
        data: places,
        axisTick: { show: false },
        axisLine: { lineStyle: { color: c.line } },
        axisLabel: {
          color: c.soft,
          hideOverlap: true,
          interval: (i) =>
            places.length > 16 ? places[i] % decade === 0 : places[i] % (decade / 4) === 0,
          formatter: (place) => durationText(binStart(Number(place))),
        },
      },
      yAxis: valueAxis(c, axisNumber, { minInterval: 1 }),
      series: [
        ['first reply', first, 0],
        ['final', final, 1],
      ].map(([name, bars, i]) => ({
        name,
        type: 'bar',
        barGap: '0%',
        barCategoryGap: '15%',
        itemStyle: { color: c.series[i] },
        data: places.map((place) => bars[place]),
      })),
    }),
  );
}
