// Texts of others made visible, and numbers with their units.

// What Unicode calls not printable: control characters, marks of direction, no width, separators.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu;
// Letters that look like those of a Latin word they stand in.
const LOOKALIKES = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/gu;
// Latin letters in disguise: full width, mathematical, enclosed.
const DISGUISED = /[\uff00-\uff5e\u2100-\u214f\u{1d400}-\u{1d7ff}]/gu;

function escaped(character) {
  const code = character.codePointAt(0);
  if (code < 0x100) return '\\x' + code.toString(16).padStart(2, '0');
  if (code < 0x10000) return '\\u' + code.toString(16).padStart(4, '0');
  return '\\U' + code.toString(16).padStart(8, '0');
}

function shown(text) {
  return String(text)
    .replace(UNSEEN, (character) => (character === ' ' ? character : escaped(character)))
    .replace(DISGUISED, escaped)
    .split('/')
    .map((chunk) => (/[A-Za-z]/.test(chunk) ? chunk.replace(LOOKALIKES, escaped) : chunk))
    .join('/');
}

// Of a long text the beginning and the end, which is where keys differ.
function short(text, most) {
  const visible = shown(text);
  if (visible.length <= most) return visible;
  const tail = Math.floor(most / 3);
  return visible.slice(0, most - tail - 1) + '…' + visible.slice(-tail);
}

function count(number) {
  return Math.round(number).toLocaleString('en');
}

function plural(number, noun, nouns) {
  return count(number) + ' ' + (number === 1 ? noun : nouns || noun + 's');
}

function scaled(number, units) {
  let place = 0;
  while (number >= 999.5 && place < units.length - 1) {
    number /= 1000;
    place += 1;
  }
  const digits = number >= 99.95 || (place === 0 && Number.isInteger(number)) ? 0 : 1;
  const text = number > 0 && number < 0.05 ? number.toPrecision(1) : number.toFixed(digits);
  return text + units[place];
}

const bytesText = (number) => scaled(number, [' B', ' KB', ' MB', ' GB', ' TB']);
const byteRateText = (number) => scaled(number, [' B/s', ' KB/s', ' MB/s', ' GB/s']);
const rateText = (number) => scaled(number, ['/s', 'k/s', 'M/s']);
const axisNumber = (number) => scaled(number, ['', 'k', 'M', 'G']);

function durationText(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms >= 60000) return (ms / 60000).toFixed(1) + ' min';
  if (ms >= 1000) return Number((ms / 1000).toPrecision(3)) + ' s';
  if (ms >= 1 || ms === 0) return Number(ms.toPrecision(3)) + ' ms';
  return Number((ms * 1000).toPrecision(3)) + ' µs';
}

function payloadText(payload) {
  if (!payload) return '';
  const beginning = payload.text !== undefined ? '“' + shown(payload.text) + '”' : payload.hex;
  const held =
    payload.text !== undefined
      ? new TextEncoder().encode(payload.text).length
      : (payload.hex.length + 1) / 3;
  return beginning + (held < payload.size ? ' … ' + bytesText(payload.size) : '');
}
