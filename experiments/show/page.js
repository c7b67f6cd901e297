// Sorts tables by a click on a head, searches long ones, enlarges figures, and opens a layer's page that a link leads to. All of it can be done without.
'use strict';
const number = text => {
  const digits = text.replace(/[\u202f\s]/g, '').replace('\u2212', '-');
  return digits !== '' && isFinite(digits) ? Number(digits) : NaN;
};
const compare = (a, b) => {
  const x = number(a), y = number(b);
  if (!isNaN(x) && !isNaN(y)) return x - y;
  if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
  return a.localeCompare(b, 'en', { numeric: true });
};
const sortBy = (table, column, direction) => {
  const body = table.tBodies[0], text = row => row.cells[column].textContent;
  // What has no value stays at the end, either way round.
  [...body.rows].sort((a, b) => {
    const x = text(a), y = text(b), empty = t => t === '' || t === '\u2013';
    if (empty(x) || empty(y)) return empty(x) - empty(y);
    return direction * compare(x, y);
  }).forEach(row => body.append(row));
};
const makeSortable = table => [...table.tHead.rows[0].cells].forEach((head, column) => {
  const button = document.createElement('button');
  button.type = 'button';
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener('click', () => {
    const up = head.getAttribute('aria-sort') === 'descending' || (!head.hasAttribute('aria-sort') && isNaN(number(table.tBodies[0].rows[0]?.cells[column].textContent ?? '')));
    [...head.parentNode.cells].forEach(h => h.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    sortBy(table, column, up ? 1 : -1);
  });
});
const makeSearchable = frame => {
  const label = document.createElement('label'), input = document.createElement('input'), count = document.createElement('span');
  const rows = [...frame.querySelectorAll('tbody tr')];
  label.className = 'find';
  input.type = 'search';
  input.placeholder = 'every word must be in a row';
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      // Cells are told apart by a blank, so that a word is never found across two of them.
      const text = [...row.cells].map(c => c.textContent).join(' ').toLowerCase();
      row.hidden = !words.every(w => text.includes(w));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  input.addEventListener('input', search);
  label.append('Find ', input, count);
  frame.before(label);
  search();
};
// A figure that is wider than its card is shown whole, or as large as it was drawn.
const makeLarger = figure => {
  const look = () => figure.classList.toggle('wider', figure.naturalWidth > figure.parentNode.clientWidth);
  figure.addEventListener('click', () => { if (figure.matches('.wider')) figure.classList.toggle('whole'); });
  figure.addEventListener('load', look);
  addEventListener('resize', look);
  look();
};
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  target?.scrollIntoView();
};
document.querySelectorAll('table').forEach(makeSortable);
document.querySelectorAll('.long').forEach(makeSearchable);
document.querySelectorAll('.plot').forEach(makeLarger);
addEventListener('hashchange', openTarget);
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));
openTarget();
