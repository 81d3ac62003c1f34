// Why: what failed and why, step by step, as in `zenlake why`.

const STORIES_SHOWN_MAX = 6;
let storiesBody = null;

function setUpStories() {
  storiesBody = el('div', {});
  byId('why').dataset.items = 'story';
  begin(
    'why',
    'Why',
    'What failed, why, and what to try. Times count from the first packet of the capture, as in zenlake decode.',
  ).append(storiesBody);
}

function drawStories() {
  const { stories, inAll, capturesLeftOut } = data.why;
  const fitting = stories
    .map((story, i) => [story, i])
    .filter(
      ([story]) => keyFits(story.key) && nodeFits(...story.nodes) && captureFits(story.capture),
    );
  const parts = fitting.map(([story, i]) => storyDetails(story, i));
  storiesBody.replaceChildren(
    parts.length
      ? firstOf(parts, STORIES_SHOWN_MAX, 'story', 'stories')
      : nothing(stories.length ? 'No story fits the filter.' : 'Nothing failed.'),
  );
  const notes = [];
  if (inAll > stories.length)
    notes.push(
      'Of ' + plural(inAll, 'story', 'stories') + ' ' + count(stories.length) + ' are shown here.',
    );
  if (capturesLeftOut > 0)
    notes.push(
      plural(capturesLeftOut, 'capture') + ' more: zenlake why explains them.',
    );
  if (notes.length) storiesBody.append(remark(notes.join(' ')));
}

function storyDetails(story, i) {
  return el(
    'details',
    { class: 'query', id: 'story-' + i },
    el(
      'summary',
      {},
      badge(story.cause.replaceAll('_', ' '), 'bad'),
      el('code', {}, short(story.key === NONE ? story.subject : keyName(story.key), 90)),
      el('span', { class: 'reason' }, withShortZids(story.headline)),
    ),
    el('div', { class: 'story' }, storySteps(story), command(story.command)),
  );
}

// Also in the query that it is about, which has lanes and a command of its own.
function storySteps(story) {
  const steps = story.steps.map(([at, packet, text]) =>
    el(
      'li',
      {},
      el('span', { class: 'when' }, at.toFixed(6)),
      el('span', { class: 'when' }, packet === null ? '' : 'packet ' + packet),
      el('span', {}, withShortZids(text)),
    ),
  );
  const parts = [el('ol', { class: 'steps' }, steps)];
  if (story.moreSteps)
    parts.push(remark(plural(story.moreSteps, 'more step') + '.'));
  for (const words of story.advice)
    parts.push(el('p', { class: 'advice' }, el('b', {}, 'Try: '), withShortZids(words)));
  parts.push(
    remark('Cause: ' + story.meaning + '.' + (story.see ? ' See ' + story.see + '.' : '')),
  );
  return parts;
}
