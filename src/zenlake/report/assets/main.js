// The page: what does not change with the filters, then all sections.

const SECTIONS = [
  ['why', 'Why', setUpStories, drawStories],
  ['traffic', 'Traffic', setUpTraffic, drawTraffic],
  ['keys', 'Keys', setUpKeys, drawKeys],
  ['queries', 'Queries', setUpQueries, drawQueries],
  ['declarations', 'Liveliness', setUpDeclarations, drawDeclarations],
  ['topology', 'Topology', setUpTopology, drawTopology],
  ['losses', 'Losses', setUpLosses, drawLosses],
  ['violations', 'Violations', setUpViolations, drawViolations],
  ['captures', 'Captures', setUpCaptures, () => {}],
];
const SEVERITY_WORDS = { bad: 'wrong', odd: 'odd', note: 'note' };

function drawHead() {
  const { about, overview } = data;
  const made = [
    about.key && 'key ' + about.key,
    about.node && 'node ' + about.node.slice(0, 8),
    about.capture && 'capture ' + about.capture,
  ].filter(Boolean);
  document.title = shown(about.lake) + ' – zenlake report';
  byId('title').textContent = shown(about.lake);
  const first = Math.min(...overview.captures.map((capture) => capture.begin ?? 0));
  byId('subtitle').textContent =
    dateAndClock(first) +
    ', ' +
    durationText(overview.seconds * 1000) +
    ' recorded in ' +
    plural(overview.capturesInAll, 'capture') +
    (made.length ? '. Only ' + shown(made.join(', ')) : '') +
    '.';
}

function drawFindings() {
  const items = data.findings.map(({ severity, text, section, item }) =>
    el(
      'li',
      { class: severity },
      badge(SEVERITY_WORDS[severity], severity),
      el('a', { href: '#' + (item || section) }, withShortZids(text)),
    ),
  );
  const isWell = !data.findings.some(({ severity }) => severity !== 'note');
  byId('findings-list').replaceChildren(
    ...(isWell
      ? [
          el(
            'p',
            { class: 'well' },
            data.overview.messages
              ? 'Nothing wrong was found: no failed queries, no losses, no broken rules.'
              : 'Nothing fits: there is no message to look at.',
          ),
        ]
      : []),
    el('ul', {}, items),
  );
  const { overview, losses, violations } = data;
  const figures = [
    [count(overview.messages), 'messages'],
    [bytesText(overview.bytes), 'in them'],
    [count(overview.nodes), 'nodes'],
    [count(overview.sessions), 'sessions'],
    overview.queries
      ? [
          Math.floor((overview.answered / overview.queries) * 1000) / 10 + ' %',
          'of ' + plural(overview.queries, 'query', 'queries') + ' answered',
        ]
      : ['0', 'queries'],
    [count(losses.times), 'losses'],
    violationFigure(violations.rules),
  ];
  byId('figures').replaceChildren(
    el(
      'div',
      { class: 'tiles' },
      figures.map(([number, words]) =>
        el('div', { class: 'tile' }, el('b', {}, number), el('span', {}, words)),
      ),
    ),
  );
}

// Notes are not violations.
function violationFigure(rules) {
  const sum = (some) => some.reduce((total, rule) => total + rule[3], 0);
  const notes = sum(rules.filter((rule) => rule[1] === 'note'));
  const words = notes ? 'violations + ' + plural(notes, 'note') : 'violations';
  return [count(sum(rules) - notes), words];
}

function setUpCaptures() {
  const { captures, capturesInAll } = data.overview;
  const body = begin('captures', 'Captures', 'The files this page is made of.');
  const rows = captures.map((capture) => [
    short(capture.path, 80),
    count(capture.packets || 0),
    bytesText(capture.bytes || 0),
    capture.begin === null ? '–' : dateAndClock(capture.begin),
    capture.begin === null ? '–' : durationText(capture.end - capture.begin),
    short(
      [
        capture.error && 'not read in full: ' + capture.error,
        capture.undecoded && 'not understood: ' + capture.undecoded,
      ]
        .filter(Boolean)
        .join('; ') || '–',
      160,
    ),
  ]);
  body.append(
    table(
      'Captures',
      [
        ['capture', 'key'],
        ['packets', 'number'],
        ['size', 'number'],
        ['from', ''],
        ['lasts', 'number'],
        ['remarks', ''],
      ],
      rows,
    ),
  );
  if (capturesInAll > captures.length)
    body.append(
      remark(count(captures.length) + ' of ' + count(capturesInAll) + ' are listed.'),
    );
}

const SECTION_ITEMS = {
  queries: 'query',
  declarations: 'life',
  topology: 'session',
  losses: 'loss',
  violations: 'rule',
};
let turns = 0;

// Until all sections are drawn.
async function drawn() {
  while (document.documentElement.dataset.ready !== 'yes')
    await new Promise((resolve) => setTimeout(resolve, 10));
}

// One section after the other, so that the first are seen while the last are drawn.
async function redraw() {
  turns += 1;
  const turn = turns;
  delete document.documentElement.dataset.ready;
  for (const [, , , drawSection] of SECTIONS) {
    drawSection();
    await new Promise((resolve) => setTimeout(resolve));
    if (turn !== turns) return; // the filter changed meanwhile
  }
  forgetDetached();
  document.documentElement.dataset.ready = 'yes';
}

drawHead();
drawFindings();
byId('contents').replaceChildren(
  ...SECTIONS.map(([id, title]) => el('a', { href: '#' + id }, title)),
);
for (const [, , setUp] of SECTIONS) setUp();
for (const [section, item] of Object.entries(SECTION_ITEMS)) byId(section).dataset.items = item;
setUpFilters(redraw);
redraw().then(showLinked);
addEventListener('hashchange', showLinked);
// A link that was followed before does not change the address: it opens its item again.
byId('findings-list').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link && link.hash === location.hash) showLinked();
});
tellZoom();
byId('footer').textContent =
  'Made by zenlake ' +
  data.about.version +
  (data.about.lakeVersion === null
    ? ' from captures'
    : ' from version ' + data.about.lakeVersion + ' of the lake') +
  '. Charts by Apache ECharts ' +
  echarts.version +
  ', Apache License 2.0. This page loads nothing and sends nothing.';
