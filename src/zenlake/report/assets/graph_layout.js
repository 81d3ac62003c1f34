// Where the nodes of a graph are drawn: each connected part by itself, then side by side.

function connectedParts(ids, pairs) {
  const neighbours = new Map(ids.map((id) => [id, []]));
  for (const [a, b] of pairs) {
    if (!neighbours.has(a) || !neighbours.has(b)) continue;
    neighbours.get(a).push(b);
    neighbours.get(b).push(a);
  }
  const seen = new Set(),
    parts = [];
  for (const id of ids) {
    if (seen.has(id)) continue;
    const part = [id];
    seen.add(id);
    for (let i = 0; i < part.length; i += 1) {
      for (const next of neighbours.get(part[i])) {
        if (!seen.has(next)) {
          seen.add(next);
          part.push(next);
        }
      }
    }
    parts.push(part);
  }
  return parts.sort((a, b) => b.length - a.length);
}

// Nodes push each other away, edges pull; begun on a circle, so the same graph looks the same.
function relaxed(part, pairs) {
  const at = new Map(
    part.map((id, i) => [
      id,
      [
        Math.cos((2 * Math.PI * i) / part.length) * part.length ** 0.5,
        Math.sin((2 * Math.PI * i) / part.length) * part.length ** 0.5,
      ],
    ]),
  );
  const inside = pairs.filter(([a, b]) => at.has(a) && at.has(b) && a !== b);
  const rounds = part.length > 60 ? 120 : 250;
  for (let round = 0; round < rounds; round += 1) {
    const push = new Map(part.map((id) => [id, [0, 0]]));
    const apply = (a, b, force) => {
      const [ax, ay] = at.get(a),
        [bx, by] = at.get(b);
      const dx = ax - bx,
        dy = ay - by,
        far = Math.max(0.01, Math.hypot(dx, dy));
      const strength = force(far) / far;
      push.get(a)[0] += dx * strength;
      push.get(a)[1] += dy * strength;
      push.get(b)[0] -= dx * strength;
      push.get(b)[1] -= dy * strength;
    };
    part.forEach((a, i) => part.slice(i + 1).forEach((b) => apply(a, b, (far) => 1 / far)));
    for (const [a, b] of inside) apply(a, b, (far) => -far * far);
    const most = 0.5 * (1 - round / rounds) + 0.01;
    for (const id of part) {
      const [x, y] = push.get(id),
        length = Math.max(0.01, Math.hypot(x, y)),
        step = Math.min(most, length) / length;
      at.get(id)[0] += x * step;
      at.get(id)[1] += y * step;
    }
  }
  return at;
}

// Boxes in rows, about as wide as the chart is for its height.
function arranged(ids, pairs, ratio) {
  const boxes = connectedParts(ids, pairs)
    .map((part) => {
      const at = relaxed(part, pairs),
        xs = [...at.values()].map(([x]) => x),
        ys = [...at.values()].map(([, y]) => y);
      const left = Math.min(...xs),
        top = Math.min(...ys);
      return {
        at,
        left,
        top,
        width: Math.max(...xs) - left + 1.6,
        height: Math.max(...ys) - top + 1.2,
      };
    })
    .sort((a, b) => b.height - a.height);
  const width = Math.max(
    boxes[0].width,
    Math.sqrt(boxes.reduce((sum, box) => sum + box.width * box.height, 0) * ratio) * 1.05,
  );
  const places = new Map();
  let x = 0,
    y = 0,
    tallest = 0;
  for (const box of boxes) {
    if (x > 0 && x + box.width > width) {
      x = 0;
      y += tallest;
      tallest = 0;
    }
    for (const [id, at] of box.at) places.set(id, [x + at[0] - box.left, y + at[1] - box.top]);
    x += box.width;
    tallest = Math.max(tallest, box.height);
  }
  return places;
}
