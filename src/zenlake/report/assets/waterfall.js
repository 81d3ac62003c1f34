// Failed and slow queries one by one: every hop a lane, replies as marks on it.

const OPEN_AT_FIRST = 2;
const QUERIES_SHOWN_MAX = 8;

function drawWaterfall() {
  const { queries, failedInAll, failedListed } = data.waterfall;
  const fitting = queries.filter(
    (query) =>
      keyFits(query.key) &&
      captureFits(query.capture) &&
      (chosen.node === null || query.hops.some((hop) => nodeFits(hop.from, hop.to))),
  );
  const failed = fitting.filter((query) => severityOf(query.verdict) !== 'good');
  const slow = fitting.filter((query) => severityOf(query.verdict) === 'good');
  const parts = [el('h3', {}, 'Failed')];
  if (failed.length) {
    parts.push(
      firstOf(
        failed.map((query, i) => queryDetails(query, i < OPEN_AT_FIRST)),
        QUERIES_SHOWN_MAX,
        'failed query listed',
        'failed queries listed',
      ),
    );
  } else {
    parts.push(
      nothing(
        failedInAll && isNarrowed()
          ? 'None of the listed failures fits the filter.'
          : 'No failed queries.',
      ),
    );
  }
  if (failedInAll > failedListed) {
    parts.push(
      remark(
        'Of ' +
          plural(failedInAll, 'failed query', 'failed queries') +
          ' ' +
          count(failedListed) +
          ' are listed: some of each verdict and key.',
      ),
    );
  }
  parts.push(el('h3', {}, 'Slowest answered'));
  parts.push(
    slow.length
      ? firstOf(
          slow.map((query) => queryDetails(query, false)),
          5,
          'slow query',
          'slow queries',
        )
      : nothing('No answered queries.'),
  );
  waterfallBody.replaceChildren(...parts);
}

function selector(query) {
  return keyName(query.key) + (query.parameters ? '?' + query.parameters : '');
}

function queryDetails(query, isOpen) {
  const took = query.finalMs === null ? 'no final' : durationText(query.finalMs);
  const details = el(
    'details',
    { class: 'query', open: isOpen, id: 'query-' + data.waterfall.queries.indexOf(query) },
    el(
      'summary',
      {},
      badge(labelOf(query.verdict), severityOf(query.verdict)),
      el('code', { title: shown(selector(query)).slice(0, 600) }, short(selector(query), 90)),
      el('span', { class: 'took' }, took),
      el('span', { class: 'reason' }, withShortZids(query.reason)),
    ),
  );
  const fill = () => {
    if (details.childElementCount === 1) details.append(story(query));
  };
  if (isOpen) fill();
  details.addEventListener('toggle', fill);
  return details;
}

// Ids of nodes are long, and the lanes have them too.
function withShortZids(text) {
  return shown(text || '').replace(/\b[0-9a-f]{17,32}\b/g, (zid) => zid.slice(0, 8) + '…');
}

function story(query) {
  const ends = query.hops.flatMap((hop) => [
    hop.at + (hop.finalMs || 0),
    ...hop.answers.map((answer) => answer.at),
  ]);
  const span = Math.max(
    0.001,
    ...ends,
    query.finalMs === null && query.timeoutMs ? query.timeoutMs : 0,
  );
  const lanes = query.hops.map((hop) => lane(hop, span));
  const scale = laneScale(
    [0, 0.5, 1].map((share) => durationText(Number((span * share).toPrecision(3)))),
  );
  const body = el(
    'div',
    { class: 'story' },
    el('div', { class: 'lanes' }, lanes, scale),
    facts(query),
    command(query.command),
    query.story === undefined ? null : whyOf(data.why.stories[query.story]),
  );
  if (query.moreHops)
    body.append(remark(plural(query.moreHops, 'more hop') + ' not drawn.'));
  const answers = query.hops.flatMap((hop) => hop.answers.map((answer) => answerRow(hop, answer)));
  if (answers.length) {
    body.append(
      table(
        'Replies',
        [
          ['after', 'number'],
          ['hop', ''],
          ['kind', ''],
          ['key', 'key'],
          ['value', 'key'],
          ['', ''],
        ],
        answers,
      ),
    );
  }
  return body;
}

function whyOf(story) {
  return el(
    'div',
    { class: 'why' },
    el('h4', {}, 'Why'),
    el('p', {}, withShortZids(story.headline)),
    storySteps(story),
  );
}

function percent(value, span) {
  return Math.min(100, Math.max(0, (value / span) * 100)) + '%';
}

function lane(hop, span) {
  const track = el('div', { class: 'track' });
  const bar = el('i', {
    class: 'bar ' + severityOf(hop.verdict) + (hop.finalMs === null ? ' unfinished' : ''),
  });
  bar.style.left = percent(hop.at, span);
  bar.style.width =
    hop.finalMs === null ? percent(span - hop.at, span) : percent(hop.finalMs, span);
  track.append(bar);
  for (const answer of hop.answers) {
    const mark = el('i', {
      class:
        'mark ' +
        (answer.kind === 'ERR' ? 'err' : 'put') +
        (answer.delivered === false ? ' dropped' : ''),
      title: answer.kind + ' after ' + durationText(answer.at),
    });
    mark.style.left = percent(answer.at, span);
    track.append(mark);
  }
  const words = nodeShort(hop.from) + ' → ' + nodeShort(hop.to);
  const label =
    words +
    ': ' +
    labelOf(hop.verdict) +
    ', ' +
    plural(hop.inAll, 'answer') +
    ', ' +
    (hop.finalMs === null
      ? 'no final'
      : 'final ' + durationText(hop.finalMs) + ' after its request');
  return el(
    'div',
    {
      class: 'lane',
      role: 'img',
      'aria-label': shown(label),
      title: shown(label + '. ' + (hop.reason || '')),
    },
    el('span', { class: 'who' }, shown(words)),
    track,
  );
}

function facts(query) {
  const list = [
    [
      'asked',
      dateAndClock(query.at) + ', packet ' + query.packet + ' of ' + captureName(query.capture),
    ],
    ['target', query.target],
    ['consolidation', query.consolidation],
    ['timeout', query.timeoutMs === null ? null : durationText(query.timeoutMs)],
    ['payload', payloadText(query.payload)],
    ['encoding', query.payload && query.encoding],
    ['attachment', payloadText(query.attachment)],
  ].filter(([, value]) => value);
  return el(
    'dl',
    { class: 'facts' },
    list.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, short(value, 300)))),
  );
}

function answerRow(hop, answer) {
  const notes = [];
  if (answer.afterFinal) notes.push('after the final');
  if (answer.delivered === false) notes.push(answer.because || 'dropped');
  const value = [
    payloadText(answer.payload),
    answer.payload && answer.encoding ? shown(answer.encoding) : '',
    answer.attachment ? 'attachment ' + payloadText(answer.attachment) : '',
  ]
    .filter(Boolean)
    .join('  ');
  return [
    durationText(answer.at),
    shown(nodeShort(hop.to) + ' → ' + nodeShort(hop.from)),
    answer.kind === 'ERR' ? badge('ERR', 'bad') : answer.kind,
    short(keyName(answer.key), 60),
    short(value, 160),
    shown(notes.join('; ')),
  ];
}
