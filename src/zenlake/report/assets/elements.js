// Elements of the document. Texts become text nodes, whatever is in them: nothing is parsed.

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

// A section's heading and what it explains; returns the place for what follows the filters.
function begin(id, title, lead) {
  const body = el('div', { class: 'body' });
  byId(id).replaceChildren(
    el('h2', { id: id + '-title' }, title),
    el('p', { class: 'lead' }, lead),
    body,
  );
  return body;
}

function nothing(words) {
  return el('p', { class: 'nothing' }, words);
}

function remark(words) {
  return el('p', { class: 'remark' }, words);
}

function badge(word, severity) {
  return el('span', { class: 'badge ' + severity }, word);
}

// Columns are [title, class]; cells are texts or elements; rows that can be linked to have ids.
function table(caption, columns, rows, ids) {
  const head = el(
    'tr',
    {},
    columns.map(([title, kind]) => el('th', { scope: 'col', class: kind }, title)),
  );
  const body = rows.map((row, number) =>
    el(
      'tr',
      ids ? { id: ids[number], tabindex: '-1' } : {},
      row.map((cell, i) => el('td', { class: columns[i][1] }, cell)),
    ),
  );
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el(
      'table',
      {},
      el('caption', { class: 'unseen' }, caption),
      el('thead', {}, head),
      el('tbody', {}, body),
    ),
  );
}

// Buttons of which one is chosen.
function choice(label, options, chosen, onChoice) {
  const buttons = options.map(([value, title]) =>
    el(
      'button',
      {
        type: 'button',
        'aria-pressed': String(value === chosen),
        on: {
          click: () => {
            for (const button of buttons)
              button.setAttribute('aria-pressed', String(button.value === String(value)));
            onChoice(value);
          },
        },
        value,
      },
      title,
    ),
  );
  return el('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
}

// The first few elements, and a button for the rest.
function firstOf(elements, most, noun, nouns) {
  const place = el('div', {});
  place.append(...elements.slice(0, most));
  if (elements.length > most) {
    const words = 'Show all ' + plural(elements.length, noun, nouns);
    place.append(moreButton(words, () => elements.slice(most)));
  }
  return place;
}

// A button that further elements replace.
function moreButton(words, make) {
  const click = () => button.replaceWith(...make());
  const button = el('button', { type: 'button', class: 'more', on: { click } }, words);
  return button;
}

// The scale above lanes: texts at its beginning, middle and end.
function laneScale(texts) {
  return el(
    'div',
    { class: 'lane scale', 'aria-hidden': 'true' },
    el('span', {}),
    el(
      'div',
      { class: 'ticks' },
      texts.map((text) => el('span', {}, text)),
    ),
  );
}
