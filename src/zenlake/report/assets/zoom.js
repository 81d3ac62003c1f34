// Zoom: all charts over time show the same part of it.

const zoom = { start: 0, end: 100 };
const zoomed = new Set();
const ZOOM_LEAST = 2;
const BARS_MAX = 300;
let zoomTimer = 0;

// Wheels and fingers scroll the page; with Ctrl, or two fingers, they zoom.
function zooming(c) {
  return [
    {
      type: 'inside',
      ...zoom,
      minSpan: ZOOM_LEAST,
      zoomOnMouseWheel: 'ctrl',
      moveOnMouseWheel: false,
      moveOnMouseMove: 'shift',
      preventDefaultMouseMove: false,
    },
    {
      type: 'slider',
      ...zoom,
      minSpan: ZOOM_LEAST,
      height: 20,
      bottom: 4,
      left: 16,
      right: 34,
      showDataShadow: false,
      brushSelect: false,
      labelFormatter: '',
      borderColor: c.line,
      fillerColor: c.raised,
      handleStyle: { color: c.card, borderColor: c.soft },
      moveHandleStyle: { color: c.line },
    },
  ];
}

// How many of `places` are visible.
function seenOf(places) {
  return Math.max(1, (places * (zoom.end - zoom.start)) / 100);
}

// Time bins in one bar: fewer when zoomed, at least `finest`, the resolution of the data.
function stepOf(finest) {
  let step = Math.max(1, finest);
  while (step / 2 >= finest && seenOf(axis.bins) / (step / 2) <= BARS_MAX) step /= 2;
  return step;
}

// Draws charts again that have finer bars to show.
function showZoom(source) {
  for (const [element, entry] of charts) {
    const { chart } = entry;
    if (!zoomed.has(chart)) continue;
    if (entry.step !== undefined && entry.step() !== entry.drawnStep) render(element, entry);
    else if (chart === source) chart.setOption({});
    else chart.dispatchAction({ type: 'dataZoom', ...zoom }, { silent: true });
  }
}

function setZoom(start, end, source) {
  const span = Math.max(ZOOM_LEAST, Math.min(100, end - start));
  zoom.start = Math.max(0, Math.min(100 - span, start));
  zoom.end = zoom.start + span;
  tellZoom();
  clearTimeout(zoomTimer);
  zoomTimer = setTimeout(() => showZoom(source), 60);
}

function followZoom(chart) {
  zoomed.add(chart);
  chart.on('datazoom', (event) => {
    const { start, end } = event.batch ? event.batch[0] : event;
    if (start !== undefined && (start !== zoom.start || end !== zoom.end))
      setZoom(start, end, chart);
  });
}

function tellZoom() {
  const place = byId('zoom-status');
  if (!place) return;
  const from = timeOf((zoom.start / 100) * axis.bins),
    to = timeOf((zoom.end / 100) * axis.bins);
  const digits = to - from < 20000 ? 3 : 0;
  place.textContent =
    zoom.end - zoom.start > 99.99
      ? 'The whole time is shown.'
      : clock(from, digits) +
        ' to ' +
        clock(to, digits) +
        ' UTC, ' +
        durationText(seenOf(axis.width * axis.bins)) +
        ' recorded, in bars of ' +
        durationText(axis.width * trafficStep());
}

function zoomControls() {
  const by = (factor) => {
    const middle = (zoom.start + zoom.end) / 2,
      half = ((zoom.end - zoom.start) / 2) * factor;
    setZoom(middle - half, middle + half);
  };
  const move = (share) => {
    const step = (zoom.end - zoom.start) * share;
    setZoom(zoom.start + step, zoom.end + step);
  };
  const buttons = [
    ['Zoom in', () => by(0.5)],
    ['Zoom out', () => by(2)],
    ['Earlier', () => move(-0.5)],
    ['Later', () => move(0.5)],
    ['Whole time', () => setZoom(0, 100)],
  ].map(([title, click]) => el('button', { type: 'button', on: { click } }, title));
  return el(
    'div',
    { class: 'zoom', role: 'group', 'aria-label': 'Part of the time that charts show' },
    buttons,
    el('span', { id: 'zoom-status', role: 'status' }),
  );
}

// All that was recorded in these captures; of all, the whole time.
function zoomToCaptures(numbers) {
  const some = data.overview.captures.filter(
    (capture) => capture.begin !== null && (numbers === null || numbers.has(capture.number)),
  );
  if (numbers === null || !some.length) {
    setZoom(0, 100);
    return;
  }
  const first = placeOf(Math.min(...some.map((capture) => capture.begin))),
    last = placeOf(Math.max(...some.map((capture) => capture.end)));
  setZoom((first / axis.bins) * 100, (Math.max(last, first + 1) / axis.bins) * 100);
}
