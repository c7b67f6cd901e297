/* Tries a report in a browser; tests/experiments/report.sh puts this at its end. What was found is an attribute of <html>. */
'use strict';
addEventListener('load', () => { /* figures are decoded by then */
  const found = [];
  const check = (what, is) => found.push((is ? 'passed: ' : 'failed: ') + what.replace(/[;"]/g, ' '));
  const all = what => [...document.querySelectorAll(what)];
  const cells = (table, column) => [...table.tBodies[0].rows].map(r => r.cells[column].textContent);
  const value = text => Number(text.replace(/[\u202f\s]/g, '').replace('\u2212', '-'));
  const isSorted = (list, sign) => list.every((x, i) => i === 0 || sign * (x - list[i - 1]) >= 0);

  check('figures', all('img.plot').length > 0);
  for (const figure of all('img.plot')) {
    const box = figure.getBoundingClientRect();
    check('a figure is drawn: ' + figure.alt, figure.complete && figure.naturalWidth > 300 && figure.naturalHeight > 100);
    check('... whole, in its card', box.width <= figure.parentNode.clientWidth + 1 && box.width >= 200);
    if (figure.naturalWidth <= figure.parentNode.clientWidth) continue;
    figure.click();
    check('... after a click as large as it is', figure.getBoundingClientRect().width >= figure.naturalWidth - 1);
    figure.click();
    check('... after another one as before', Math.abs(figure.getBoundingClientRect().width - box.width) < 1);
  }
  for (const text of all('p, dd, dt, figcaption, h1, h2, h3, h4, summary, li, caption'))
    if (text.scrollWidth > text.clientWidth + 1 && getComputedStyle(text).display !== 'inline') check('a text stays in its place: ' + text.textContent.slice(0, 60), false);
  for (const link of all('a[href]'))
    if (!document.getElementById(link.getAttribute('href').slice(1))) check('a link leads to ' + link.getAttribute('href'), false);
  const ids = all('[id]').map(e => e.id);
  check('ids are different', new Set(ids).size === ids.length);
  check('no requests', performance.getEntriesByType('resource').length === 0);
  check('only our two scripts', document.scripts.length === 2);
  check('the title is as it was', !/^[0-9]$/.test(document.title));
  check('the page is as wide as the window', document.documentElement.scrollWidth <= innerWidth);

  /* A chart of bars: its views, algorithms, order, values under the pointer, and its way to a layer. */
  for (const chart of all('.bars:not(:has(.points))')) {
    const bars = [...chart.querySelectorAll('.group:not(.minor) .bar[data-v]')], first = b => parseFloat(b.dataset.v), bar = bars.filter(b => !/,,,,/.test(b.dataset.v)).reduce((a, b) => first(b) > first(a) ? b : a), [time, , , rate, times] = bar.dataset.v.split(',').map(Number);
    const shown = () => parseFloat(bar.lastElementChild.textContent), near = (a, b) => Math.abs(a / b - 1) < 0.05;
    const inside = () => [...chart.querySelectorAll('.bar:not(.off) rect.k, .bar > span')].filter(r => r.getClientRects().length > 0).every(r => { const at = r.getBoundingClientRect(), card = chart.getBoundingClientRect(); return at.left >= card.left && at.right <= card.right; });
    const press = title => [...chart.querySelectorAll('.choose button')].find(b => b.textContent.startsWith(title)).click();
    check('a chart shows the time first, in its card', inside() && near(shown(), time));
    press(chart.dataset.rate);
    check('a switch shows the rate', inside() && (near(shown(), rate) || !(rate > 0)));
    check('... beside its roof', !chart.dataset.roof || chart.querySelectorAll('line.roof').length > 0);
    if (times > 0) {
      press('\u00d7');
      check('... and the speed-up', inside() && near(shown(), times));
    }
    press(chart.dataset.unit);
    check('... and the time again', near(shown(), time));
    bar.dispatchEvent(new PointerEvent('pointermove', { clientX: 50, clientY: 50, bubbles: true }));
    const tip = document.getElementById('tip');
    check('the value stands under the pointer', !tip.hidden && tip.textContent.includes(bar.lastElementChild.textContent) && tip.getBoundingClientRect().right <= innerWidth);
    bar.dispatchEvent(new PointerEvent('pointerleave'));
    check('... and goes with the pointer', tip.hidden);
    const box = chart.querySelector('.algos input'), algo = box.closest('li').dataset.a, of = bars.filter(b => b.dataset.a === algo);
    box.click();
    check('an algorithm can be hidden', of.length > 0 && of.every(b => b.getClientRects().length === 0));
    box.click();
    check('... and shown', of.every(b => b.getClientRects().length > 0));
    const rest = [...chart.querySelectorAll('.minor')], more = [...chart.querySelectorAll('.choose label')].find(l => /^all /.test(l.textContent));
    if (rest.length > 0) {
      check('the smallest groups are hidden', rest.every(g => g.getClientRects().length === 0));
      more.click();
      check('... and can be shown', rest.every(g => g.getClientRects().length > 0) && inside());
      more.click();
    }
    const groups = () => [...chart.querySelectorAll('.group:not(.total)')], order = groups();
    if (order.length > 1) {
      const sort = chart.querySelector('.choose input'), saves = () => groups().map(g => Number(g.dataset.saves) || 0);
      sort.click();
      check('groups are sorted by what they save', isSorted(saves(), -1));
      sort.click();
      check('... and stand in the order of the run again', groups().every((g, i) => g === order[i]));
    }
  }
  /* A chart with sliders: each slider changes the numbers, and the switch shows another number. */
  for (const chart of all('.bars:has(.points)')) {
    const sliders = [...chart.querySelectorAll('.sliders input')], bar = chart.querySelector('.bar[data-m0]'), texts = item => [...item.children].map(c => c.textContent);
    const [keys, names, , ...points] = [...chart.querySelectorAll('.points li')].map(texts), shown = () => value(bar.lastElementChild.textContent.replace(/[a-zA-Z]/g, ''));
    const expected = (view, at) => Number(bar.dataset['m' + view].split(',')[at]), near = (a, b) => Math.abs(a - b) <= 0.01 * b + 0.01;
    const move = (slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')); };
    const press = i => [...chart.querySelectorAll('.choose button')][i].click();
    const width = () => Number.parseFloat(bar.querySelector('rect.k').getAttribute('width'));
    check('a slider for each setting with several values', sliders.length === keys.filter((k, i) => new Set(points.map(p => p[i])).size > 1).length);
    check('the first setting is drawn', near(shown(), expected(0, 0)));
    const before = width(), last = points.length - 1;
    sliders.forEach(s => move(s, s.max));
    check('sliders show the last setting: ' + shown(), near(shown(), expected(0, last)));
    check('... on the same scale', Math.abs(width() / before - expected(0, last) / expected(0, 0)) < 0.02);
    check('... and say the setting', sliders.every((s, i) => s.nextElementSibling.textContent !== ''));
    press(names.length - 1);
    check('the switch shows another number', near(shown(), expected(names.length - 1, last)));
    bar.dispatchEvent(new PointerEvent('pointermove', { clientX: 50, clientY: 50, bubbles: true }));
    check('the setting stands under the pointer', points[last].every(v => document.getElementById('tip').textContent.includes(v)));
    bar.dispatchEvent(new PointerEvent('pointerleave'));
    sliders.forEach(s => move(s, 0));
    press(0);
    check('... and back', near(shown(), expected(0, 0)));
  }
  const table390 = all('.wide > table').find(t => t.parentNode.scrollWidth > t.parentNode.clientWidth + 210);
  if (table390) {
    table390.parentNode.scrollLeft = 200;
    check('the first column stays', Math.abs(table390.tBodies[0].rows[0].cells[0].getBoundingClientRect().left - table390.parentNode.getBoundingClientRect().left) < 3);
    check('a wide table says so', table390.caption.textContent.includes('more columns'));
    table390.parentNode.scrollLeft = 0;
  }
  const overview = document.querySelector('.stacked');
  if (overview) {
    const days = cells(overview, 2).map(d => d.trim());
    check('the newest results stand first', days.every((d, i) => /^20..-..-..$/.test(d) && (i === 0 || d <= days[i - 1])));
    check('answers stand above the links', overview.parentNode.getBoundingClientRect().bottom <= document.querySelector('nav').getBoundingClientRect().top);
    check('an answer is readable', overview.tBodies[0].rows[0].cells[1].getBoundingClientRect().width >= 250);
  }

  const frame = document.querySelector('.part[id$="-layers"] .long');
  const table = frame.querySelector('table');
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex(h => /^miss L1|^change/.test(h.textContent));
  const before = cells(table, column).map(value);
  heads[column].querySelector('button').click();
  check('a click sorts numbers down', isSorted(cells(table, column).map(value), -1) && heads[column].getAttribute('aria-sort') === 'descending');
  heads[column].querySelector('button').click();
  check('another one sorts them up', isSorted(cells(table, column).map(value), 1));
  check('... the same numbers', String([...before].sort((a, b) => a - b)) === String(cells(table, column).map(value)));
  heads[1].querySelector('button').click();
  check('texts are sorted', cells(table, 1).every((t, i, list) => i === 0 || list[i - 1].localeCompare(t, 'en', { numeric: true }) <= 0));
  check('one column says how it is sorted', heads.filter(h => h.hasAttribute('aria-sort')).length === 1);

  const input = frame.previousElementSibling.querySelector('input');
  const search = text => { input.value = text; input.dispatchEvent(new Event('input')); return [...table.tBodies[0].rows].filter(r => r.getClientRects().length > 0); };
  const rows = table.tBodies[0].rows.length;
  const some = search('SConv WS');
  check('a search finds some rows', some.length > 0 && some.length < rows && some.every(r => r.textContent.includes('SConv WS')));
  check('... and says how many', input.parentNode.textContent.includes(some.length + ' of ' + rows));
  check('a search for nothing there finds none', search('no such layer').length === 0);
  check('an empty one finds all', search('').length === rows);

  const link = table.querySelector('a[href]');
  const page = document.getElementById(link.getAttribute('href').slice(1)).closest('details');
  check('a page of a layer is closed at first', !page.open);
  const bar = document.querySelector('.group:has(a[href="' + link.getAttribute('href') + '"]) .bar');
  if (bar) bar.click();
  check('a click on a bar leads to its layer', !bar || location.hash === link.getAttribute('href'));
  if (!bar) link.click();
  check('a closed layer has its numbers', !bar || /[0-9.]+ /.test(page.querySelector('summary').textContent));
  setTimeout(() => {
    check('a link opens it', page.open && page.getBoundingClientRect().height > 300);
    check('it has the drawing of tiles', page.querySelectorAll('svg.own .level').length === 3 || !page.textContent.includes('keeps where'));
    found.push('end of the trial');
    document.documentElement.dataset.found = found.join(';');
  }, 300);
});
