// Declarations: how many were alive over time, and single ones as bars.

const LIVES_SHOWN_MAX = 20;
const CAPTURES_OPEN = 1;
const CAPTURES_SHOWN_MAX = 6;
const ENTITY_WORDS = {
  token: 'liveliness tokens',
  subscriber: 'subscribers',
  queryable: 'queryables',
};
let declarationsBody = null;

function setUpDeclarations() {
  const body = begin(
    'declarations',
    'Liveliness and declarations',
    'Tokens, subscribers and queryables as one node announced them to another: each hop announces the same entity again.' +
      pauseWords(),
  );
  declarationsBody = el('div', {});
  body.append(declarationsBody);
}

function flags(life) {
  const found = [];
  if (life.ghost) found.push(['ghost', 'bad', 'still announced after its source was gone']);
  if (life.double) found.push(['overlap', 'odd', 'declared while already alive']);
  if (life.endedBy === 'session') found.push(['not undeclared', 'note', 'gone with its session']);
  if (!life.seenStart)
    found.push(['only its end seen', 'note', 'declared before the capture, or never']);
  if (life.timesDeclared > 1)
    found.push(['declared ' + life.timesDeclared + ' times', 'note', 'declared again with the same number']);
  return found;
}

// Listed declarations have exact times; if not all are listed, only counts by time bin exist.
function finestAlive() {
  const { lives, inAll } = data.declarations;
  return isFiltered() || inAll <= lives.length ? 1 / axis.parts : 1;
}

// Counts of the listed declarations; of all declarations without a filter.
function aliveCounts(lives, step) {
  if (!isFiltered() && step >= 1) return data.declarations.alive;
  const bins = Math.ceil(axis.bins / step);
  return data.declarations.entities.map((entity) => {
    const alive = new Array(bins).fill(0);
    for (const life of lives) {
      if (life.entity !== entity) continue;
      const last = Math.min(bins - 1, Math.floor(placeOf(life.end) / step));
      for (let i = Math.floor(placeOf(life.begin) / step); i <= last; i += 1) alive[i] += 1;
    }
    return alive;
  });
}

// Captures with something odd first, then those with the most tokens.
function byCapture(lives) {
  const groups = new Map();
  for (const life of lives) {
    if (!groups.has(life.capture)) groups.set(life.capture, []);
    groups.get(life.capture).push(life);
  }
  const weight = ([, some]) =>
    some.filter((life) => life.ghost || life.double).length * 1000 +
    some.filter((life) => life.entity === 'token').length;
  return [...groups].sort((a, b) => weight(b) - weight(a));
}

function captureLives(capture, lives, isOpen) {
  const from = Math.min(...lives.map((life) => life.begin)),
    to = Math.max(...lives.map((life) => life.end));
  const { entities } = data.declarations;
  const sorted = [...lives].sort(
    (a, b) =>
      entities.indexOf(a.entity) - entities.indexOf(b.entity) ||
      (b.ghost || b.double) - (a.ghost || a.double) ||
      (keyName(a.key) < keyName(b.key)
        ? -1
        : keyName(a.key) > keyName(b.key)
          ? 1
          : a.begin - b.begin),
  );
  const counts = entities
    .map((entity) => [entity, lives.filter((life) => life.entity === entity).length])
    .filter(([, number]) => number)
    .map(([entity, number]) => plural(number, entity))
    .join(', ');
  const details = el(
    'details',
    { class: 'life', open: isOpen, 'data-holds': 'life' },
    el('summary', {}, short(captureName(capture), 90), ' ', el('span', {}, counts)),
  );
  const fill = () => {
    if (details.childElementCount === 1)
      details.append(
        firstOf(
          sorted.map((life) => lifeRow(life, from, to)),
          LIVES_SHOWN_MAX,
          'declaration',
        ),
        lifeScale(from, to),
      );
  };
  if (isOpen) fill();
  details.addEventListener('toggle', fill);
  return details;
}

function drawDeclarations() {
  const { lives, entities, inAll } = data.declarations;
  const fitting = lives.filter(
    (life) => keyFits(life.key) && nodeFits(life.from, life.to) && captureFits(life.capture),
  );
  if (!fitting.length) {
    declarationsBody.replaceChildren(
      nothing(
        isNarrowed()
          ? 'No listed declaration fits the filter.'
          : 'No tokens, subscribers or queryables were declared.',
      ),
    );
    return;
  }
  const chart = el('div', { class: 'chart low' });
  const groups = byCapture(fitting).map(([capture, some], i) =>
    captureLives(capture, some, i < CAPTURES_OPEN),
  );
  const parts = [
    el('h3', {}, 'Alive over time'),
    chart,
    el('h3', {}, 'One by one'),
    firstOf(groups, CAPTURES_SHOWN_MAX, 'capture'),
  ];
  if (inAll > lives.length) {
    parts.push(
      remark(
        'Of ' +
          plural(inAll, 'declaration') +
          ' ' +
          count(lives.length) +
          ' are listed, those with something odd and tokens first.' +
          (isFiltered() ? ' The chart counts the listed ones.' : ''),
      ),
    );
  }
  declarationsBody.replaceChildren(...parts);
  const make = (c, step, alive = aliveCounts(fitting, step)) => ({
    ...overTime(c, step, (points) =>
      points.map((point) => [point.color, point.seriesName, count(point.value)]),
    ),
    yAxis: valueAxis(c, axisNumber, { minInterval: 1 }),
    series: entities.map((entity, i) => ({
      name: ENTITY_WORDS[entity],
      type: 'line',
      step: 'middle',
      symbol: 'none',
      data: alive[i],
      lineStyle: { width: 2, type: ['solid', 'dashed', 'dotted'][i] },
      itemStyle: { color: c.series[i] },
      markLine: i === 0 ? pauses(c, step) : undefined,
    })),
  });
  const label = 'How many tokens, subscribers and queryables were alive over time';
  draw(chart, label, make, () => stepOf(finestAlive()));
}

// On a scale from the first declaration that is listed to the last end.
function lifeRow(life, from, to) {
  const span = Math.max(0.001, to - from);
  const odd = flags(life);
  const worst = odd.length ? odd[0][1] : 'plain';
  const bar = el('i', {
    class: 'bar ' + life.entity + ' ' + worst + (life.endedBy === null ? ' unfinished' : ''),
  });
  bar.style.left = percent(life.begin - from, span);
  bar.style.width = percent(life.end - life.begin, span);
  const who = nodeShort(life.from) + ' → ' + nodeShort(life.to);
  const ended =
    life.endedBy === null
      ? 'alive at the end'
      : life.endedBy === 'session'
        ? 'until its session ended'
        : 'until undeclared';
  const label = shown(
    life.entity +
      ' ' +
      keyName(life.key) +
      ', ' +
      who +
      ', from ' +
      clock(life.begin, 3) +
      ' to ' +
      clock(life.end, 3) +
      ', ' +
      ended +
      ', packet ' +
      life.packet,
  );
  return el(
    'div',
    {
      class: 'lane',
      title: label,
      id: 'life-' + data.declarations.lives.indexOf(life),
      tabindex: '-1',
    },
    el(
      'span',
      { class: 'who' },
      el('small', {}, life.entity),
      el('code', {}, short(keyName(life.key), 44)),
      el('small', {}, shown(who)),
      odd.map(([word, severity, why]) =>
        el('span', { class: 'badge ' + severity, title: why }, word),
      ),
      copyButton(life.command),
    ),
    el('div', { class: 'track', role: 'img', 'aria-label': label }, bar),
  );
}

function lifeScale(from, to) {
  const digits = to - from < 20000 ? 1 : 0;
  return laneScale([from, (from + to) / 2, to].map((at) => clock(at, digits)));
}
