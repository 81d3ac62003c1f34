// Violations: rules that were broken, with examples and their bytes.

const SEVERITY_CLASSES = { error: 'bad', warning: 'odd', note: 'note' };
let violationsBody = null;

function setUpViolations() {
  violationsBody = el('div', {});
  begin(
    'violations',
    'Violations',
    'Rules of the protocol that were broken, the worst first. Notes are known deviations of deployed nodes. ' +
      'Violations have no key: only the node filter applies.',
  ).append(violationsBody);
}

function drawViolations() {
  const { rules, cells, examples } = data.violations;
  if (!rules.length) {
    violationsBody.replaceChildren(nothing('No violations were found.'));
    return;
  }
  const parts = [];
  for (const [i, [rule, severity, page, number, text, sections]] of rules.entries()) {
    const some = examples.filter(
      (example) =>
        example.rule === rule &&
        example.severity === severity &&
        nodeFits(example.from) &&
        captureFits(example.capture),
    );
    const times =
      chosen.node === null
        ? number
        : cells
            .filter((cell) => cell[0] === rule && cell[1] === severity && nodeFits(cell[2]))
            .reduce((sum, cell) => sum + cell[3], 0);
    if (times) parts.push(ruleDetails(i, rule, severity, [text, page, sections], times, some));
  }
  violationsBody.replaceChildren(
    ...(parts.length ? [firstOf(parts, 20, 'rule')] : [nothing('This node broke no rule.')]),
  );
}

function ruleDetails(i, rule, severity, [text, page, sections], times, examples) {
  return el(
    'details',
    { class: 'query', id: 'rule-' + i },
    el(
      'summary',
      {},
      badge(severity, SEVERITY_CLASSES[severity] || 'note'),
      el('code', {}, short(rule || '', 80)),
      el('span', { class: 'took' }, plural(times, 'time')),
      el('span', { class: 'reason' }, examples.length ? withShortZids(examples[0].message) : ''),
    ),
    el(
      'div',
      { class: 'story' },
      text ? el('p', {}, text) : null,
      page ? el('p', {}, 'See ' + shown(page)) : null,
      sections.length
        ? el(
            'ul',
            { class: 'remark' },
            sections.map((section) => el('li', {}, section)),
          )
        : null,
      examples.length ? examples.map(exampleOf) : nothing('No example of it is in this page.'),
      times > examples.length && examples.length
        ? remark(count(examples.length) + ' of ' + count(times) + ' are shown.')
        : null,
    ),
  );
}

function exampleOf(example) {
  const place =
    'Packet ' +
    example.packet +
    ' of ' +
    captureName(example.capture) +
    ', from ' +
    nodeShort(example.from) +
    ', ' +
    dateAndClock(example.at);
  return el(
    'div',
    { class: 'example' },
    el('p', {}, shown(example.message || '')),
    remark(shown(place)),
    command(example.command),
    explanation(example.bytes),
  );
}

function explanation(bytes) {
  if (!bytes) return null;
  if (bytes.missing)
    return remark('Its bytes are not shown: ' + shown(bytes.missing) + '.');
  const rest = bytes.isCut
    ? ['', '… the batch goes on: ' + plural(bytes.size, 'byte') + ' in all']
    : [];
  return el(
    'pre',
    { class: 'bytes', tabindex: '0', 'aria-label': 'The bytes of the batch, explained' },
    [...bytes.lines.map(shown), ...rest].join('\n'),
  );
}
