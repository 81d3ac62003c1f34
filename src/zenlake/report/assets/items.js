// Items that can be linked to: a finding opens the query, rule or declaration that it is about.

const REVEAL_ROUNDS = 4;

// Lists show their first elements, details fill themselves when they are opened: so look further
// in the section, a round at a time.
function revealed(id) {
  for (let round = 0; round < REVEAL_ROUNDS; round += 1) {
    const found = byId(id);
    if (found) return found;
    const kind = id.replace(/-\d+$/, '');
    const section = document.querySelector('section[data-items~="' + kind + '"]');
    if (!section) return null;
    for (const button of section.querySelectorAll('button.more')) button.click();
    for (const details of section.querySelectorAll('details[data-holds]')) details.open = true;
    // The event of opening comes later; the content is needed now.
    for (const details of section.querySelectorAll('details[data-holds]'))
      details.dispatchEvent(new Event('toggle'));
  }
  return byId(id);
}

function showItem(id) {
  const item = revealed(id);
  if (!item) return false;
  for (let one = item; one; one = one.parentElement) if (one.tagName === 'DETAILS') one.open = true;
  for (const before of document.querySelectorAll('.meant')) before.classList.remove('meant');
  item.classList.add('meant');
  item.scrollIntoView({ block: 'start', behavior: 'instant' });
  (item.querySelector('summary') || item).focus({ preventScroll: true });
  return true;
}

const ITEM = /^#(query|rule|loss|session|life|story)-\d+$/;

// Filters may hide what a link is about: the findings are those of the whole page.
async function showLinked() {
  if (!ITEM.test(location.hash)) return;
  const id = location.hash.slice(1);
  if (showItem(id) || !isFiltered()) return;
  byId('clear').click();
  await drawn();
  showItem(id);
}

// A command in a box, to be copied as it is: what is shown may have characters made visible.
function command(text) {
  if (!text) return null;
  const code = el('code', {}, shown(text));
  const button = el(
    'button',
    { type: 'button', 'aria-label': 'Copy the command', on: { click: () => copy(text, button) } },
    'Copy',
  );
  return el('div', { class: 'command' }, code, button);
}

// The same where there is no room for it.
function copyButton(text) {
  if (!text) return '';
  const button = el(
    'button',
    { type: 'button', class: 'copy', title: shown(text), on: { click: () => copy(text, button) } },
    'Copy decode',
  );
  return button;
}

async function copy(text, button) {
  const title = button.textContent;
  let words = 'Copied';
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    words = copiedOldWay(text) ? 'Copied' : 'Select it';
  }
  button.textContent = words;
  setTimeout(() => {
    button.textContent = title;
  }, 2000);
}

// Where a browser keeps the clipboard from files.
function copiedOldWay(text) {
  const area = el('textarea', { class: 'unseen', 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return isDone;
}
