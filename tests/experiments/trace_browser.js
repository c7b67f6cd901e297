/* Loads a trace in a browser, as its viewer would; tests/experiments/trace.sh puts the trace before this. */
'use strict';
{
  const found = [];
  const check = (what, is) => found.push((is ? 'passed: ' : 'failed: ') + what.replace(/[;"]/g, ' '));
  try {
    const trace = JSON.parse(document.getElementById('trace').textContent);
    const events = trace.traceEvents, named = new Set(), rows = new Map();
    for (const e of events) {
      if (e.ph === 'M') named.add(e.name + ' ' + e.pid + (e.name === 'thread_name' ? ' ' + e.tid : ''));
      if (e.ph === 'X') rows.set(e.pid + ' ' + e.tid, [...(rows.get(e.pid + ' ' + e.tid) || []), e]);
    }
    check('every process of an event has a name', events.every(e => named.has('process_name ' + e.pid)));
    for (const [row, slices] of rows) {
      check('the row has a name: ' + row, named.has('thread_name ' + row));
      slices.sort((a, b) => a.ts - b.ts);
      check('no two slices of a row overlap', slices.every((e, i) => !i || e.ts >= slices[i - 1].ts + slices[i - 1].dur - 1e-6 * e.ts));
      const drawn = document.createElement('div');
      for (const e of slices) {
        const box = drawn.appendChild(document.createElement('span'));
        box.style.cssText = 'position:absolute;left:' + e.ts / 1000 + 'px;width:' + Math.max(1, e.dur / 1000) + 'px';
        box.textContent = e.name;
      }
      document.body.append(drawn);
      check('its slices are drawn', [...drawn.children].every(b => b.getBoundingClientRect().width >= 1));
    }
    check('counters are numbers', events.filter(e => e.ph === 'C').every(e => Object.values(e.args).every(Number.isFinite)));
    found.push('end of the trial');
  } catch (e) {
    check('an error: ' + e, false);
  }
  document.documentElement.dataset.found = found.join(';');
}
