// Sorts and searches tables, enlarges figures, makes charts of bars answer, and opens a layer's page that a link leads to. All of it can be done without.
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
// A table that is wider than its card moves sideways: its caption says so.
const sayWide = table => {
  const more = document.createElement('span');
  more.className = 'more';
  const frame = table.parentNode, isHidden = () => frame.scrollWidth - frame.clientWidth > 2;
  // A narrower first column may be all that is needed.
  const look = () => {
    frame.classList.remove('wide');
    frame.classList.toggle('wide', isHidden());
    more.textContent = isHidden() ? ' \u2194 more columns to the right' : '';
  };
  table.caption.append(more);
  // A table of a closed layer gets its width when the layer is opened.
  const watch = new ResizeObserver(look);
  watch.observe(frame);
  watch.observe(table);
  look();
};
// A figure that is wider than its card is shown whole, or as large as it was drawn.
const makeLarger = figure => {
  const look = () => figure.classList.toggle('wider', figure.naturalWidth > figure.parentNode.clientWidth);
  figure.addEventListener('click', () => { if (figure.matches('.wider')) figure.classList.toggle('whole'); });
  figure.addEventListener('load', look);
  addEventListener('resize', look);
  look();
};
// A chart of bars: views in time, rate and speed-up, a choice of algorithms, an order, values under the pointer, and a click that opens the layer.
const svgNS = 'http://www.w3.org/2000/svg';
const short = x => x >= 1e4 ? x.toFixed(0).replace(/\B(?=(\d{3})+$)/g, '\u202f') : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x >= 0.1 ? x.toFixed(2) : x >= 0.0005 ? x.toFixed(3) : x.toExponential(1);
const tip = document.createElement('div');
tip.id = 'tip';
tip.hidden = true;
const makeChart = figure => {
  const unit = figure.dataset.unit, over = figure.dataset.over ?? 'Base', means = figure.dataset.means ?? 'as fast as Base', rateUnit = figure.dataset.rate, roof = Number(figure.dataset.roof);
  const groups = [...figure.querySelectorAll('.group')], partNames = Object.fromEntries([...figure.querySelectorAll('.parts li')].map(l => [l.dataset.p, l.textContent]));
  const read = text => (text ?? '').split(',').map(t => t === '' ? NaN : Number(t));
  const bars = [...figure.querySelectorAll('.bar')].map(row => {
    const [value, low, high, rate, times, timesLow, timesHigh, simulated] = read(row.dataset.v), parts = read(row.dataset.s);
    const sum = parts.reduce((a, b) => a + b, 0), work = rate * value;
    return { row, svg: row.querySelector('svg'), total: !!row.closest('.total'), parts: sum > 0 ? parts.map(p => p / sum) : [], views: {
      time: { value, low, high, unit, mark: simulated }, rate: { value: rate, low: work / high, high: work / low, unit: rateUnit, mark: NaN },
      times: { value: times, low: timesLow, high: timesHigh, unit: '\u00d7', mark: NaN } } };
  });
  // Sliders choose a point, a combination of settings, and the switch shows one of the point's numbers.
  const lists = [...figure.querySelectorAll('.points li')].map(item => [...item.children].map(c => c.textContent)), [keys = [], names = [], units = [], ...points] = lists;
  let view = lists.length ? 'm0' : 'time', point = 0;
  for (const bar of lists.length ? bars : []) names.forEach((name, i) => {
    const all = read(bar.row.dataset[`m${i}`]);
    bar.views[`m${i}`] = { all, unit: units[i], get value() { return all[point]; } };
  });
  const add = (bar, name, to) => {
    const shape = document.createElementNS(svgNS, name);
    for (const [key, x] of Object.entries(to)) shape.setAttribute(key, x);
    bar.svg.append(shape);
  };
  const draw = () => {
    const shown = bars.filter(b => b.svg && !b.row.classList.contains('off'));
    // A bar of more than three times Base's largest is cut, so that one slow algorithm does not hide the others.
    const mostOf = total => {
      const its = shown.filter(b => b.total === total), largest = of => Math.max(0, ...of.map(b => b.views[view]).map(v => Math.max(v.value || 0, v.high || 0, v.mark <= 2 * v.value ? v.mark : 0, ...(v.all ?? []).map(x => x || 0))));
      const base = view === 'time' ? largest(its.filter(b => b.row.dataset.a === 'base')) : 0;
      return Math.max(Math.min(largest(its), 3 * base || Infinity), view === 'rate' && roof || 0, view === 'times' ? 1 : 0);
    };
    const most = { true: mostOf(true), false: mostOf(false) };
    for (const bar of shown) {
      const now = bar.views[view], at = x => `${(100 * Math.min(x / most[bar.total], 1)).toFixed(2)}%`, over = now.value > most[bar.total], height = Number(bar.svg.getAttribute('height'));
      bar.svg.replaceChildren();
      bar.row.lastElementChild.textContent = now.value > 0 ? `${short(now.value)}${now.unit === '\u00d7' ? now.unit : now.unit.length <= 8 ? ` ${now.unit}` : ''}` : '\u2013';
      if (!(now.value > 0)) continue;
      add(bar, 'rect', { class: 'k', y: 2, height: 12, width: at(now.value) });
      if (over) add(bar, 'rect', { class: 'cut', x: '96%', width: '1%', y: 1, height: 14 });
      if (now.high > now.low && !over) add(bar, 'line', { class: 'i', y1: 8, y2: 8, x1: at(now.low), x2: at(now.high) });
      let from = 0;
      bar.parts.forEach((part, i) => {
        if (part > 0.0005) add(bar, 'rect', { class: `p${i}`, y: 15, height: 6, x: at(Math.min(now.value, most[bar.total]) * from), width: at(Math.min(now.value, most[bar.total]) * part) });
        from += part;
      });
      if (now.mark <= most[bar.total] && !over) add(bar, 'line', { class: 'm', y1: 13, y2: 23, x1: at(now.mark), x2: at(now.mark) });
      const line = view === 'rate' ? roof : view === 'times' ? 1 : NaN;
      if (line > 0) add(bar, 'line', { class: 'roof', y1: 0, y2: height, x1: at(line), x2: at(line) });
    }
  };
  const setting = () => keys.map((key, k) => points[point][k] && `${key}=${points[point][k]}`).filter(Boolean).join(' ');
  const say = bar => {
    const { time, rate, times } = bar.views, range = v => v.high > v.low ? ` [${short(v.low)}, ${short(v.high)}]` : '';
    const lines = [`${bar.row.parentNode.querySelector('h5').firstChild.textContent.trim()}: ${bar.row.firstElementChild.textContent}`];
    if (lists.length) return lines.concat(setting(), names.map((name, i) => `${name}: ${bar.views[`m${i}`].value >= 0 ? `${short(bar.views[`m${i}`].value)} ${units[i]}` : 'not available'}`)).join('\n');
    if (!(time.value > 0)) return lines.concat(bar.row.querySelector('small').textContent || 'not available').join('\n');
    lines.push(`${short(time.value)} ${unit}${range(time)}`);
    if (times.value > 0) lines.push(`${short(times.value)}\u00d7 ${means}${range(times)}`);
    if (rate.value > 0) lines.push(`${short(rate.value)} ${rateUnit}${roof > 0 ? `, ${(100 * rate.value / roof).toFixed(0)} % of ${short(roof)} (${figure.dataset.top})` : ''}`);
    const parts = bar.parts.map((part, i) => [part, partNames[i]]).filter(p => p[0] >= 0.01).sort((a, b) => b[0] - a[0]);
    if (parts.length) lines.push(parts.map(([part, name]) => `${name} ${(100 * part).toFixed(0)} %`).join(', '));
    if (time.mark > 0) lines.push(`simulated: ${short(time.mark)} ${unit}, ${time.mark < time.value ? '\u2212' : '+'}${Math.abs(100 * (time.mark / time.value - 1)).toFixed(0)} %`);
    return lines.join('\n');
  };
  const choose = document.createElement('div');
  choose.className = 'choose';
  const pick = (name, title) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = title;
    button.setAttribute('aria-pressed', name === view);
    button.addEventListener('click', () => {
      view = name;
      [...button.parentNode.children].forEach(b => b.setAttribute('aria-pressed', b === button));
      roofSaid.textContent = name === 'rate' && roof > 0 ? `dashed: ${short(roof)} ${rateUnit}, ${figure.dataset.top}` : name === 'times' ? `dashed: ${means}` : '';
      draw();
    });
    return button;
  };
  const tick = (text, checked, change) => {
    const label = document.createElement('label'), box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = checked;
    box.addEventListener('change', () => change(box.checked));
    label.append(box, ...text);
    return label;
  };
  const views = document.createElement('span'), roofSaid = document.createElement('span');
  if (lists.length) views.append(...names.map((name, i) => pick(`m${i}`, name)));
  else views.append(pick('time', unit), pick('rate', rateUnit), pick('times', `\u00d7 ${over}`));
  const settings = keys.map((key, k) => [...new Set(points.map(p => p[k]))]), sliders = document.createElement('div'), looks = [];
  sliders.className = 'choose sliders';
  keys.forEach((key, k) => {
    const label = document.createElement('label'), slider = document.createElement('input'), said = document.createElement('output');
    if (settings[k].length < 2) return;
    Object.assign(slider, { type: 'range', min: 0, max: settings[k].length - 1, step: 1, value: 0 });
    looks.push(() => {
      slider.value = settings[k].indexOf(points[point][k]);
      said.textContent = points[point][k] || 'default';
      slider.setAttribute('aria-valuetext', said.textContent);
    });
    slider.addEventListener('input', () => {
      // Where a combination was not simulated, the other sliders move to one that was.
      const alike = p => p[k] === settings[k][slider.value] ? p.filter((value, i) => value === points[point][i]).length : -1;
      point = points.reduce((best, p, i) => alike(p) > alike(points[best]) ? i : best, 0);
      looks.forEach(look => look());
      draw();
    });
    label.append(`${key} `, slider, said);
    sliders.append(label);
  });
  looks.forEach(look => look());
  const saves = g => Number(g.dataset.saves) || 0, layers = groups.filter(g => !g.matches('.total')), after = layers.at(-1)?.nextSibling;
  const sort = tick([`sort by ${figure.dataset.order}`], false, is => {
    const order = is ? [...layers].sort((a, b) => saves(b) - saves(a)) : layers;
    order.forEach(g => figure.insertBefore(g, after));
  });
  // Of many groups, the largest come first; the rest waits behind a check box.
  const many = figure.querySelector('.minor') ? [tick([`all ${layers.length}`], false, is => figure.classList.toggle('few', !is))] : [];
  figure.classList.toggle('few', many.length > 0);
  choose.append(views, ...layers.length > 1 ? [sort] : [], ...many, roofSaid);
  figure.querySelector('h4').after(...keys.length ? [sliders] : [], choose);
  for (const item of figure.querySelectorAll('.algos li')) item.append(tick([...item.childNodes], true, is => {
    bars.filter(b => b.row.dataset.a === item.dataset.a).forEach(b => b.row.classList.toggle('off', !is));
    draw();
  }));
  for (const bar of bars) {
    bar.row.addEventListener('pointermove', event => {
      tip.hidden = false;
      tip.style.left = '0';
      tip.textContent = say(bar);
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6))}px`;
      tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18}px`;
    });
    bar.row.addEventListener('pointerleave', () => { tip.hidden = true; });
    const link = bar.row.parentNode.querySelector('h5 a');
    if (link) bar.row.addEventListener('click', () => { tip.hidden = true; link.click(); });
  }
};
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  target?.scrollIntoView();
};
document.querySelectorAll('table').forEach(makeSortable);
document.querySelectorAll('.scroll > table').forEach(sayWide);
document.querySelectorAll('.long').forEach(makeSearchable);
document.querySelectorAll('.plot').forEach(makeLarger);
document.body.append(tip);
document.querySelectorAll('.bars').forEach(makeChart);
addEventListener('hashchange', openTarget);
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));
openTarget();
