// The tree of keys as areas.

const MEASURES = { bytes: bytesText, messages: count, rate: rateText };

// Dark letters on light colours, light ones on dark.
function letters(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
  return red * 0.3 + green * 0.59 + blue * 0.11 > 125 ? '#10151b' : '#ffffff';
}

function treemapItem(branch, depth, colour) {
  const item = {
    name: branch.name,
    value: branch[measure],
    branch,
    itemStyle: { color: colour },
    label: { color: letters(colour) },
  };
  if (branch.children.length && depth < 4) {
    item.children = branch.children
      .slice(0, 60)
      .filter((child) => child[measure] > 0)
      .map((child) => treemapItem(child, depth + 1, colour));
  }
  return item;
}

function drawTreemap(tree) {
  // What is summed up would hide what is listed.
  const largest = tree.children.filter((child) => child[measure] > 0 && !child.isSum).slice(0, 80);
  const label =
    'Treemap of keys by ' +
    measure +
    ': ' +
    tree.children
      .slice(0, 5)
      .map((child) => short(child.name, 40) + ' ' + MEASURES[measure](child[measure]))
      .join(', ');
  draw(byId('treemap'), label, (c) => ({
    tooltip: {
      formatter: ({ treePathInfo, data: item }) =>
        item && item.branch
          ? tip(
              short(
                treePathInfo
                  .map((step) => step.name)
                  .slice(1)
                  .join('/'),
                120,
              ),
              [
                [null, 'bytes', bytesText(item.branch.bytes)],
                [null, 'messages', count(item.branch.messages)],
                [null, 'rate', item.branch.rate > 0 ? rateText(item.branch.rate) : '–'],
                [null, 'keys', count(item.branch.keys)],
              ],
            )
          : '',
    },
    series: [
      {
        type: 'treemap',
        name: 'all keys',
        data: largest.map((child, i) => treemapItem(child, 1, c.series[i % 6])),
        left: 0,
        right: 0,
        top: 0,
        bottom: 26,
        roam: false,
        nodeClick: 'zoomToNode',
        leafDepth: 2,
        drillDownIcon: '',
        visibleMin: 12,
        breadcrumb: {
          bottom: 0,
          height: 22,
          emptyItemWidth: 25,
          itemStyle: { color: c.card, borderColor: c.line, textStyle: { color: c.text } },
        },
        label: { formatter: ({ name }) => short(name, 28), fontSize: 12, overflow: 'truncate' },
        upperLabel: {
          show: true,
          height: 20,
          color: c.text,
          formatter: ({ name }) => short(name, 40),
          overflow: 'truncate',
        },
        itemStyle: { borderColor: c.card, borderWidth: 1, gapWidth: 1 },
        levels: [
          { itemStyle: { borderWidth: 0, gapWidth: 3 }, upperLabel: { show: false } },
          { itemStyle: { borderColor: c.raised, borderWidth: 2, gapWidth: 1 } },
          { itemStyle: { borderColor: c.raised, borderWidth: 1, gapWidth: 1 } },
        ],
      },
    ],
  }));
}
