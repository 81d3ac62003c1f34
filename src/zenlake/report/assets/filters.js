// What is chosen on the page: a key expression, a node. Sections are drawn again when it changes.

const data = JSON.parse(byId('data').textContent);
const OTHER = -1,
  NONE = -2;
const cutKeys = new Set(data.names.cut);
const chosen = { key: null, node: null, keys: null };

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

// A key that was cut fits where some key with that beginning would.
function chooseKey(expression) {
  chosen.key = expression;
  chosen.keys =
    expression === null
      ? null
      : data.names.keys.map((key, id) => {
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
  return chosen.key !== null || chosen.node !== null;
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
    words.push(plural(fit, 'listed key') + ' of ' + count(chosen.keys.length) + ' intersect');
  }
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
  let timer = 0;
  const apply = () => {
    const text = input.value.trim();
    let problem = '';
    try {
      chooseKey(text === '' ? null : canonize(text));
    } catch (error) {
      problem = error.message;
    }
    input.setAttribute('aria-invalid', String(problem !== ''));
    chosen.node = select.value === '' ? null : Number(select.value);
    if (problem !== '') status.textContent = 'Not a key expression: ' + problem + '.';
    else {
      tell();
      redraw();
    }
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 200);
  });
  select.addEventListener('change', apply);
  byId('filters').addEventListener('submit', (event) => {
    event.preventDefault();
    apply();
  });
  byId('clear').addEventListener('click', () => {
    input.value = '';
    select.value = '';
    apply();
  });
  tell();
}
