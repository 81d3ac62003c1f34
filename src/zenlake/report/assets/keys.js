// The tree of keys: a treemap to look at, rows to read.

const ROWS_OPEN_MAX = 14;
const CHILDREN_SHOWN_MAX = 20;
let keysBody = null;

function setUpKeys() {
  const body = begin(
    'keys',
    'Keys',
    'What publications, queries and replies carried, chunk by chunk of their keys. A message counts on every link it crossed. ' +
      'Rates are those from the first message to the last, or over a second.',
  );
  keysBody = el('div', {});
  body.append(
    choice(
      'Measure keys by',
      [
        ['bytes', 'Bytes'],
        ['messages', 'Messages'],
        ['rate', 'Rate'],
      ],
      measure,
      (value) => {
        measure = value;
        drawKeys();
      },
    ),
    el('div', { class: 'chart', id: 'treemap' }),
    keysBody,
  );
}

function drawKeys() {
  const tree = keyTree();
  byId('treemap').hidden = tree.messages === 0;
  if (tree.messages === 0) {
    keysBody.replaceChildren(
      nothing(
        isNarrowed()
          ? 'No listed key fits the filter.'
          : 'No publications, queries or replies with a known key.',
      ),
    );
    return;
  }
  drawTreemap(tree);
  const open = openBranches(tree);
  const rows = el('div', { class: 'tree', role: 'list', 'aria-label': 'Keys' });
  rows.append(
    el(
      'div',
      { class: 'row head', 'aria-hidden': 'true' },
      el('span', {}, 'key'),
      el('span', {}),
      el('span', {}, 'bytes'),
      el('span', {}, 'messages'),
      el('span', {}, 'rate'),
    ),
  );
  rows.append(...branchRows(tree.children, 0, tree.children[0][measure] || 1, open));
  const words =
    isFiltered() && data.keys.inAll > data.keys.totals.length
      ? 'Only the ' +
        count(data.keys.totals.length) +
        ' most used of ' +
        plural(data.keys.inAll, 'key') +
        ' are listed, and looked at by the filter.'
      : '';
  keysBody.replaceChildren(rows, remark(words));
}

// The largest branches, as long as few rows are seen.
function openBranches(tree) {
  const open = new Set();
  let rows = tree.children.length;
  for (const branch of tree.children.slice(0, 6)) {
    if (branch.children.length && rows + branch.children.length <= ROWS_OPEN_MAX) {
      open.add(branch);
      rows += branch.children.length;
    }
  }
  return open;
}

function branchRows(branches, depth, most, open) {
  const shownBranches = branches
    .slice(0, CHILDREN_SHOWN_MAX)
    .map((branch) => branchRow(branch, depth, most, open));
  if (branches.length > CHILDREN_SHOWN_MAX) {
    const rest = branches.slice(CHILDREN_SHOWN_MAX);
    const make = () => rest.map((branch) => branchRow(branch, depth, most, open));
    shownBranches.push(moreButton('Show ' + plural(rest.length, 'more', 'more'), make));
  }
  return shownBranches;
}

function branchRow(branch, depth, most, open) {
  const name = el('span', { class: 'name', title: shown(branch.name).slice(0, 400) });
  name.style.paddingInlineStart = depth * 1.1 + 'rem';
  const below = el('div', { role: 'list' });
  const label = short(branch.name, 70);
  if (branch.children.length) {
    const toggle = el(
      'button',
      {
        type: 'button',
        class: 'toggle',
        'aria-expanded': 'false',
        on: {
          click: () => {
            const isOpen = below.childElementCount > 0;
            toggle.setAttribute('aria-expanded', String(!isOpen));
            below.replaceChildren(
              ...(isOpen ? [] : branchRows(branch.children, depth + 1, most, open)),
            );
          },
        },
      },
      label,
    );
    name.append(toggle);
    if (open.has(branch)) {
      toggle.setAttribute('aria-expanded', 'true');
      below.append(...branchRows(branch.children, depth + 1, most, open));
    }
  } else {
    name.append(el('span', { class: 'leaf' }, label));
  }
  const bar = el('i', {});
  bar.style.width = Math.min(100, Math.max(0.5, (branch[measure] / most) * 100)) + '%';
  return el(
    'div',
    { role: 'listitem' },
    el(
      'div',
      { class: 'row' },
      name,
      el('span', { class: 'bar', 'aria-hidden': 'true' }, bar),
      el('span', {}, bytesText(branch.bytes)),
      el('span', {}, count(branch.messages)),
      el('span', {}, branch.rate > 0 ? rateText(branch.rate) : '–'),
    ),
    below,
  );
}
