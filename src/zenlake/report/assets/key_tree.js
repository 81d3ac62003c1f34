// The tree of keys, summed up from the keys that fit the filters.

const RATE_SECONDS_MIN = 1;
let measure = 'bytes';

// Listed keys that fit, with what the chosen nodes exchanged.
function fittingKeys() {
  const sums = new Map();
  if (chosen.node !== null) {
    for (const [id, sender, receiver, messages, bytes] of data.keys.cells) {
      if (!nodeFits(sender, receiver)) continue;
      const sum = sums.get(id) || [0, 0];
      sums.set(id, [sum[0] + messages, sum[1] + bytes]);
    }
  }
  const found = [];
  for (const [id, messages, bytes, first, last] of data.keys.totals) {
    if (!keyFits(id)) continue;
    const sum = chosen.node === null ? [messages, bytes] : sums.get(id);
    if (sum) found.push({ key: keyName(id), messages: sum[0], bytes: sum[1], first, last });
  }
  return found;
}

function newBranch(name) {
  return {
    name,
    messages: 0,
    bytes: 0,
    rate: 0,
    keys: 0,
    first: Infinity,
    last: -Infinity,
    children: new Map(),
  };
}

function keyTree() {
  const root = newBranch('');
  for (const one of fittingKeys()) {
    let place = root;
    for (const chunk of ['', ...one.key.split('/')].slice(1)) {
      add(place, one);
      if (!place.children.has(chunk)) place.children.set(chunk, newBranch(chunk));
      place = place.children.get(chunk);
    }
    add(place, one);
  }
  if (!isFiltered()) {
    for (const [chunk, keys, messages, bytes] of data.keys.others)
      addOthers(root, chunk, keys, messages, bytes);
    const [chunks, keys, messages, bytes] = data.keys.rest;
    if (keys > 0)
      addSum(
        root,
        '(' + plural(keys, 'key') + ' with ' + plural(chunks, 'other first chunk') + ')',
        keys,
        messages,
        bytes,
      );
  }
  return joined(root);
}

// Recorded time: pauses between captures do not count.
function rateOf(branch) {
  const seconds = ((placeOf(branch.last) - placeOf(branch.first)) * axis.width) / 1000;
  return branch.last < branch.first ? 0 : branch.messages / Math.max(RATE_SECONDS_MIN, seconds);
}

function add(place, one) {
  place.messages += one.messages;
  place.bytes += one.bytes;
  place.first = Math.min(place.first, one.first);
  place.last = Math.max(place.last, one.last);
  place.keys += 1;
}

function addOthers(root, chunk, keys, messages, bytes) {
  if (!root.children.has(chunk)) root.children.set(chunk, newBranch(chunk));
  const branch = root.children.get(chunk);
  addSum(branch, '(' + plural(keys, 'other key') + ')', keys, messages, bytes);
  for (const place of [root, branch]) enlarge(place, keys, messages, bytes);
}

// What is not listed key by key, as one row.
function addSum(branch, name, keys, messages, bytes) {
  const sum = { ...newBranch(name), isSum: true };
  enlarge(sum, keys, messages, bytes);
  branch.children.set(name, sum);
}

function enlarge(place, keys, messages, bytes) {
  place.messages += messages;
  place.bytes += bytes;
  place.keys += keys;
}

// A chunk with one chunk below it stands in one row with it.
function joined(branch) {
  branch.rate = rateOf(branch);
  const children = [...branch.children.values()].map(joined);
  children.sort(
    (a, b) => Boolean(a.isSum) - Boolean(b.isSum) || b[measure] - a[measure] || b.bytes - a.bytes,
  );
  if (
    branch.name !== '' &&
    children.length === 1 &&
    !children[0].isSum &&
    children[0].messages === branch.messages
  ) {
    return { ...children[0], name: branch.name + '/' + children[0].name };
  }
  return { ...branch, children };
}
