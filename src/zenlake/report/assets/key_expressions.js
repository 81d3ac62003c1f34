// Key expressions, by the rules of zenlake.keyexpr; a test compares the two.

// The canonical spelling, or an error that says what is wrong.
function canonize(text) {
  const chunks = [];
  let doublePending = false;
  for (const raw of text.split('/')) {
    const chunk = collapse(raw);
    if (chunk === '**') {
      doublePending = true;
      continue;
    }
    if (doublePending && chunk !== '*') {
      chunks.push('**');
      doublePending = false;
    }
    chunks.push(chunk);
  }
  if (doublePending) chunks.push('**');
  chunks.forEach(checkChunk);
  return chunks.join('/');
}

function collapse(chunk) {
  while (chunk.includes('$*$*')) chunk = chunk.replaceAll('$*$*', '$*');
  return chunk === '$*' ? '*' : chunk;
}

function checkChunk(chunk) {
  if (chunk === '') throw new Error('a chunk is empty');
  if (chunk === '*' || chunk === '**') return;
  if (/[#?]/.test(chunk)) throw new Error('# and ? are forbidden');
  if (/(^|[^$])\*/.test(chunk)) throw new Error('* must be a whole chunk, or follow $');
  if (/\$(?!\*)/.test(chunk)) throw new Error('$ must be followed by *');
}

// Whether some key matches both. A table of all beginnings: row by row for the chunks of b.
function intersects(a, b) {
  if (a === b) return true;
  if (!a.includes('*') && !b.includes('*')) return false;
  const left = a.split('/');
  let row = [true];
  for (const chunk of left) row.push(row[row.length - 1] && chunk === '**');
  for (const chunk of b.split('/')) row = nextRow(left, chunk, row);
  return row[row.length - 1];
}

function nextRow(left, chunk, above) {
  const isDouble = chunk === '**';
  const row = [isDouble && above[0]];
  left.forEach((other, i) => {
    if (isDouble) {
      row.push(above[i + 1] || (row[i] && !other.startsWith('@')));
    } else if (other === '**') {
      row.push(row[i] || (above[i + 1] && !chunk.startsWith('@')));
    } else {
      row.push(above[i] && chunkIntersects(other, chunk));
    }
  });
  return row;
}

function chunkIntersects(a, b) {
  if (a === b) return true;
  if (a.startsWith('@') || b.startsWith('@')) return false;
  if (a === '*' || b === '*') return true;
  const hasA = a.includes('$*'),
    hasB = b.includes('$*');
  if (!hasA && !hasB) return false;
  if (!hasA) return chunkGlob(b, a);
  if (!hasB) return chunkGlob(a, b);
  const headA = a.slice(0, a.indexOf('$')),
    headB = b.slice(0, b.indexOf('$'));
  const tailA = a.slice(a.lastIndexOf('*') + 1),
    tailB = b.slice(b.lastIndexOf('*') + 1);
  return (
    (headA.startsWith(headB) || headB.startsWith(headA)) &&
    (tailA.endsWith(tailB) || tailB.endsWith(tailA))
  );
}

// Whether the pattern, whose $* are gaps, covers the whole text.
function chunkGlob(pattern, text) {
  const parts = pattern.split('$*');
  const last = parts[parts.length - 1];
  const end = text.length - last.length;
  let position = parts[0].length;
  if (position > end || !text.startsWith(parts[0]) || !text.endsWith(last)) return false;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0 || found + part.length > end) return false;
    position = found + part.length;
  }
  return true;
}
