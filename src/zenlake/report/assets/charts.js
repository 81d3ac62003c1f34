// Charts: colours from the style sheet, a time axis without pauses, tooltips made of text.

const charts = new Map();

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    text: get('--text'),
    soft: get('--soft'),
    line: get('--line'),
    card: get('--card'),
    raised: get('--note-soft'),
    series: ['--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7'].map(get),
    bad: get('--bad'),
    odd: get('--odd'),
    good: get('--good'),
    other: get('--other'),
  };
}

// A chart is drawn when it is about to become visible, so that the page opens sooner.
const near = new IntersectionObserver(
  (found) => {
    for (const { target, isIntersecting } of found) {
      const entry = charts.get(target);
      if (!isIntersecting || !entry) continue;
      near.unobserve(target);
      entry.isSeen = true;
      render(target, entry);
    }
  },
  { rootMargin: '400px 0px' },
);

// `make` gets the colours and returns an option of the library. A chart over time also gets the
// number of time bins in a bar, which `step` returns for the visible part.
function draw(element, label, make, step) {
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', label);
  if (!charts.has(element)) {
    charts.set(element, { chart: null, isSeen: false });
    near.observe(element);
  }
  const entry = charts.get(element);
  entry.make = make;
  entry.step = step;
  if (entry.isSeen) render(element, entry);
}

function render(element, entry) {
  if (entry.chart === null) {
    entry.chart = echarts.init(element, null, { renderer: 'canvas' });
    new ResizeObserver(() => entry.chart.resize()).observe(element);
  }
  entry.drawnStep = entry.step && entry.step();
  const option = finished(entry.make(colours(), entry.drawnStep));
  entry.chart.setOption(option, { notMerge: true });
  if (option.dataZoom && !zoomed.has(entry.chart)) followZoom(entry.chart);
}

// Disposes of a chart whose element has left the document.
function forgetDetached() {
  for (const [element, entry] of charts) {
    if (element.isConnected) continue;
    near.unobserve(element);
    zoomed.delete(entry.chart);
    if (entry.chart !== null) entry.chart.dispose();
    charts.delete(element);
  }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const [element, entry] of charts) if (entry.isSeen) render(element, entry);
});

addEventListener('beforeprint', () => {
  for (const [element, entry] of charts) render(element, entry);
});

function finished(option) {
  const c = colours();
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: c.text },
    ...option,
    tooltip: option.tooltip && {
      confine: true,
      backgroundColor: c.card,
      borderColor: c.line,
      textStyle: { color: c.text },
      transitionDuration: 0,
      ...option.tooltip,
    },
  };
}

// Lines of [colour or null, name, value]; an element, so that no text is taken for HTML.
function tip(title, lines) {
  return el(
    'div',
    { class: 'tip' },
    el('strong', {}, title),
    lines.map(([colour, name, value]) => {
      const mark = el('i', {});
      if (colour) mark.style.background = colour;
      return el('div', {}, mark, el('span', {}, name), el('b', {}, value));
    }),
  );
}

function legend(c) {
  return {
    type: 'scroll',
    top: 0,
    left: 0,
    itemWidth: 12,
    itemHeight: 12,
    itemGap: 14,
    icon: 'rect',
    textStyle: { color: c.text },
    pageTextStyle: { color: c.soft },
    pageIconColor: c.text,
    pageIconInactiveColor: c.line,
    formatter: (name) => short(name, 40),
  };
}

function valueAxis(c, format, more) {
  return {
    type: 'value',
    splitNumber: 3,
    axisLabel: { color: c.soft, formatter: format },
    splitLine: { lineStyle: { color: c.line } },
    ...more,
  };
}

// What all charts over time have; `lines` returns the lines of the tooltip for some points.
function overTime(c, step, lines) {
  return {
    legend: legend(c),
    grid: { left: 8, right: 30, top: 34, bottom: 34, containLabel: true },
    dataZoom: zooming(c),
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { color: c.soft } },
      formatter: (points) => tip(barTime(points[0].dataIndex, step), lines(points)),
    },
    xAxis: timeAxis(c, step),
  };
}

// --- time ---------------------------------------------------------------------------------------

const axis = data.axis;

// The position of a time in ms on the axis, in time bins.
function placeOf(ms) {
  let segment = axis.segments[0];
  for (const one of axis.segments) if (ms >= one[0]) segment = one;
  return Math.min(
    segment[1] + segment[2],
    Math.max(segment[1], segment[1] + (ms - segment[0]) / axis.width),
  );
}

function timeOf(place) {
  let segment = axis.segments[0];
  for (const one of axis.segments) if (place >= one[1]) segment = one;
  return segment[0] + (place - segment[1]) * axis.width;
}

function clock(ms, digits) {
  const text = new Date(axis.originMs + ms).toISOString();
  return digits ? text.slice(11, 20 + digits) : text.slice(11, 19);
}

function dateAndClock(ms, digits) {
  const text = new Date(axis.originMs + ms).toISOString().replace('T', ' ');
  return text.slice(0, digits ? 20 + digits : 19) + ' UTC';
}

// When a bar begins; those of a zoomed axis are milliseconds long.
function barTime(place, step) {
  return dateAndClock(timeOf(place * step), axis.width * step < 1000 ? 3 : 0);
}

function clockDigits() {
  const seen = seenOf(axis.width * axis.bins);
  return seen < 1000 ? 3 : seen < 4000 ? 2 : seen < 20000 ? 1 : 0;
}

// A time axis; each bar has `step` time bins.
function timeAxis(c, step) {
  const places = Array.from({ length: Math.ceil(axis.bins / step) }, (_, i) => i);
  const starts = new Set(axis.segments.map((segment) => Math.floor(segment[1] / step)));
  const every = () => Math.max(1, Math.round(seenOf(places.length) / 6));
  const only = axis.segments.length === 1;
  return {
    type: 'category',
    data: places,
    boundaryGap: true,
    axisTick: { show: false },
    axisLine: { lineStyle: { color: c.line } },
    axisLabel: {
      color: c.soft,
      hideOverlap: true,
      alignMinLabel: 'left',
      alignMaxLabel: 'right',
      interval: (i) => (only || zoom.end - zoom.start < 50 ? i % every() === 0 : starts.has(i)),
      formatter: (place) => clock(timeOf(Number(place) * step), clockDigits()),
    },
  };
}

// Dashed lines where pauses are left out.
function pauses(c, step) {
  return {
    silent: true,
    symbol: 'none',
    animation: false,
    label: { show: false },
    lineStyle: { color: c.soft, type: 'dashed', width: 1, opacity: 0.6 },
    data: axis.segments.slice(1).map((segment) => ({ xAxis: Math.floor(segment[1] / step) })),
  };
}

function pauseWords() {
  return axis.segments.length > 1
    ? ' Pauses between captures are left out; dashed lines show where.'
    : '';
}
