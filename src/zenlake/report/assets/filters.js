// What is chosen on the page: a key expression, a node. Sections are drawn again when it changes.

const data = JSON.parse(byId('data').textContent);
const OTHER = -1,
  NONE = -2;
const cutKeys = new Set(data.names.cut);
const chosen = { key: null, text: '', node: null, keys: null, captures: null };

function keyName(id) {
  if (id === NONE) return '(no key)';
  if (id === OTHER) return '(other keys)';
  return data.names.keys[id] + (cutKeys.has(id) ? '…' : '');
}

function nodeName(id) {
  if (id === NONE) return 'unknown';
  return id === OTHER ? 'other nodes' : data.names.nodes[id][0];
}

function nodeShort(id) {
  return id < 0 ? nodeName(id) : data.names.nodes[id][0].slice(0, 8);
}

function role(id) {
  return id < 0 ? null : data.names.nodes[id][1];
}

function captureName(id) {
  return data.names.captures[id];
}

function keyFits(id) {
  return chosen.keys === null || (id >= 0 && chosen.keys[id]);
}

function nodeFits(...ids) {
  return chosen.node === null || ids.includes(chosen.node);
}

function captureFits(number) {
  return chosen.captures === null || chosen.captures.has(number);
}

// A key that was cut fits where some key with that beginning would. `text` is looked for in the
// key as it is shown, in any case.
function chooseKey(expression, text) {
  chosen.key = expression;
  chosen.text = text;
  const sought = text.toLowerCase();
  chosen.keys =
    expression === null && text === ''
      ? null
      : data.names.keys.map((key, id) => {
          if (!shown(key).toLowerCase().includes(sought)) return false;
          if (expression === null) return true;
          try {
            return intersects(
              expression,
              canonize(cutKeys.has(id) ? wholeChunks(key) + '/**' : key),
            );
          } catch {
            return false; // what a peer sent as a key need not be one
          }
        });
}

function wholeChunks(key) {
  const end = key.lastIndexOf('/');
  return end > 0 ? key.slice(0, end) : '**';
}

function isFiltered() {
  return chosen.keys !== null || chosen.node !== null || chosen.captures !== null;
}

// Also where the page was made of a part of a lake.
function isNarrowed() {
  return isFiltered() || data.about.key !== null || data.about.node !== null;
}

function filterWords() {
  if (!isFiltered()) return 'Showing everything.';
  const words = [];
  if (chosen.keys !== null) {
    const fit = chosen.keys.filter(Boolean).length;
    const how = [
      chosen.key !== null && 'intersect',
      chosen.text !== '' && 'contain “' + shown(chosen.text) + '”',
    ].filter(Boolean);
    words.push(
      plural(fit, 'listed key') + ' of ' + count(chosen.keys.length) + ' ' + how.join(' and '),
    );
  }
  if (chosen.captures !== null)
    words.push(
      plural(chosen.captures.size, 'capture') +
        ' of ' +
        count(data.overview.captures.length) +
        (chosen.captures.size === 1 ? ' is' : ' are') +
        ' chosen (charts show their time, sums are of all captures)',
    );
  if (chosen.node !== null) words.push('node ' + nodeShort(chosen.node) + ' sends or receives');
  const summed =
    chosen.node !== null &&
    chosen.node >= Math.min(data.names.nodesRanked, data.traffic.nodesByThemselves)
      ? ' Sums count this node among others: zenlake report --node shows it alone.'
      : '';
  return (
    'Showing where ' + words.join(' and ') + '. The findings are those of the whole page.' + summed
  );
}

function setUpFilters(redraw) {
  const input = byId('key-filter'),
    select = byId('node-filter'),
    status = byId('filter-status');
  select.append(el('option', { value: '' }, 'all nodes'));
  data.names.nodes.forEach(([zid, role], id) => {
    select.append(
      el('option', { value: id }, shown(zid).slice(0, 8) + (role ? ' ' + shown(role) : '')),
    );
  });
  const tell = () => {
    status.textContent = filterWords();
  };
  const search = byId('key-search');
  const boxes = captureBoxes();
  let timer = 0;
  const apply = () => {
    const text = input.value.trim();
    let problem = '';
    try {
      chooseKey(text === '' ? null : canonize(text), search.value.trim());
    } catch (error) {
      problem = error.message;
    }
    input.setAttribute('aria-invalid', String(problem !== ''));
    chosen.node = select.value === '' ? null : Number(select.value);
    const before = chosen.captures;
    chosen.captures = checkedCaptures(boxes);
    if (before !== chosen.captures) zoomToCaptures(chosen.captures);
    if (problem !== '') status.textContent = 'Not a key expression: ' + problem + '.';
    else {
      tell();
      redraw();
    }
  };
  for (const typed of [input, search])
    typed.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(apply, 200);
    });
  for (const box of boxes) box.addEventListener('change', apply);
  select.addEventListener('change', apply);
  byId('filters').addEventListener('submit', (event) => {
    event.preventDefault();
    apply();
  });
  byId('clear').addEventListener('click', () => {
    input.value = '';
    select.value = '';
    search.value = '';
    for (const box of boxes) box.checked = true;
    apply();
  });
  tell();
}

// A box for each capture; none where there is nothing to choose.
function captureBoxes() {
  const { captures } = data.overview;
  const place = byId('capture-filter');
  place.hidden = captures.length < 2;
  const boxes = captures.map(({ number }) =>
    el('input', { type: 'checkbox', value: number, checked: true }),
  );
  const setAll = (isChecked) => () => {
    for (const box of boxes) box.checked = isChecked;
    boxes[0].dispatchEvent(new Event('change'));
  };
  byId('capture-list').replaceChildren(
    el(
      'div',
      { class: 'choice' },
      el('button', { type: 'button', on: { click: setAll(true) } }, 'All'),
      el('button', { type: 'button', on: { click: setAll(false) } }, 'None'),
    ),
    ...captures.map((capture, i) => el('label', {}, boxes[i], short(capture.path, 60))),
  );
  return boxes;
}

function checkedCaptures(boxes) {
  const checked = boxes.filter((box) => box.checked);
  byId('capture-summary').textContent =
    checked.length === boxes.length ? 'all captures' : checked.length + ' of ' + boxes.length;
  return checked.length === boxes.length
    ? null
    : new Set(checked.map((box) => Number(box.value)));
}
