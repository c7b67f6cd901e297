#include "sim/programs/cachesim_analyse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/programs/cachesim_plot.h"
#include "sim/programs/cachesim_rows.h"
#include "sim/programs/cachesim_signal.h"
#include "sim/analysis/reuse.h"

/* ---- reuse distances and their curves ---- */

static void start_rows(struct cachesim_rows *rows, const struct cachesim_options *o)
{
    cachesim_rows_init(rows, stdout, o->output == SIM_REPORT_JSON);
}

/* Adds the columns of used tags. */
static void add_tag_columns(struct cachesim_rows *rows, const struct sim_reuse *r, const struct cachesim_options *o,
                            const char *what)
{
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            cachesim_rows_tag_column(rows, what, tag);
    }
}

static void print_uses(struct cachesim_rows *rows, const struct sim_reuse *r, const struct cachesim_options *o,
                       uint64_t distance)
{
    cachesim_rows_count(rows, distance);
    cachesim_rows_count(rows, sim_reuse_at(r, SIM_ALL_TAGS, distance));
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            cachesim_rows_count(rows, sim_reuse_at(r, tag, distance));
    }
}

static void print_cold(struct cachesim_rows *rows, const struct sim_reuse *r, const struct cachesim_options *o)
{
    cachesim_rows_text(rows, "cold");
    cachesim_rows_count(rows, sim_reuse_cold(r, SIM_ALL_TAGS));
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            cachesim_rows_count(rows, sim_reuse_cold(r, tag));
    }
}

static void print_histogram(const struct sim_reuse *r, const struct cachesim_options *o)
{
    struct cachesim_rows rows;

    start_rows(&rows, o);
    cachesim_rows_column(&rows, "distance");
    cachesim_rows_column(&rows, "uses");
    add_tag_columns(&rows, r, o, "uses");
    cachesim_rows_head(&rows, o->trace, "reuse", o->line_bytes, "distance: other lines used since; cold: first uses");
    for (uint64_t d = 0; d < sim_reuse_distances(r); d++) {
        if (sim_reuse_at(r, SIM_ALL_TAGS, d))
            print_uses(&rows, r, o, d);
    }
    print_cold(&rows, r, o);
    cachesim_rows_end(&rows, cachesim_signal_is_over());
}

static void print_point(struct cachesim_rows *rows, const struct sim_reuse *r, const struct cachesim_options *o,
                        const struct sim_mrc_point *p)
{
    double uses = (double)sim_reuse_uses(r, SIM_ALL_TAGS);

    cachesim_rows_count(rows, p->n_lines);
    cachesim_rows_count(rows, p->n_lines * o->line_bytes);
    cachesim_rows_count(rows, p->misses[SIM_ALL_TAGS]);
    cachesim_rows_ratio(rows, (double)p->misses[SIM_ALL_TAGS] / uses);
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            cachesim_rows_count(rows, p->misses[tag]);
    }
}

static void print_curve(const struct sim_reuse *r, const struct cachesim_options *o)
{
    static const char *const columns[] = { "lines", "size_bytes", "misses", "miss_ratio" };
    struct cachesim_rows rows;
    struct sim_mrc_point p;

    start_rows(&rows, o);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        cachesim_rows_column(&rows, columns[i]);
    add_tag_columns(&rows, r, o, "misses");
    cachesim_rows_head(
        &rows, o->trace, "mrc", o->line_bytes,
        "misses of fully associative LRU caches; a size not listed misses as the next smaller one listed");
    for (sim_mrc_start(r, &p); sim_mrc_next(r, &p);)
        print_point(&rows, r, o, &p);
    cachesim_rows_end(&rows, cachesim_signal_is_over());
}

typedef int (*draw_fn)(struct cachesim_session *s, const struct sim_reuse *r);

static int analyse(struct cachesim_session *s,
                   void (*print)(const struct sim_reuse *r, const struct cachesim_options *o), draw_fn draw)
{
    struct sim_reuse *r;
    int err = sim_reuse_new_tags(&r, s->options.line_bytes, s->n_tags);

    if (err)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "cannot analyse", strerror(-err));
    s->sink = sim_reuse_sink(r);
    err = cachesim_run_passes(s);
    if (!err && sim_reuse_error(r))
        err = cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot analyse", strerror(-sim_reuse_error(r)));
    if (!err) {
        print(r, &s->options);
        err = cachesim_check_stdout(s, 0);
    }
    if (!err && draw)
        err = draw(s, r);
    sim_reuse_free(r);
    return err;
}

int cachesim_analyse_reuse(struct cachesim_session *s)
{
    return analyse(s, print_histogram, NULL);
}

int cachesim_analyse_mrc(struct cachesim_session *s)
{
    return analyse(s, print_curve, cachesim_plot_curve);
}

/* ---- working sets ---- */

struct windows {
    const struct cachesim_options *o;
    unsigned n_tags;
    struct cachesim_rows rows;
};

static void print_window(void *ctx, const struct sim_wss_window *w)
{
    struct windows *windows = ctx;
    struct cachesim_rows *rows = &windows->rows;

    cachesim_rows_count(rows, w->end);
    cachesim_rows_count(rows, w->n_accesses);
    cachesim_rows_count(rows, w->lines[SIM_ALL_TAGS]);
    cachesim_rows_count(rows, w->lines[SIM_ALL_TAGS] * windows->o->line_bytes);
    for (unsigned tag = 0; windows->o->by_tag && tag < windows->n_tags; tag++)
        cachesim_rows_count(rows, w->lines[tag]);
}

static void start_windows(struct windows *w, const struct cachesim_session *s)
{
    const struct cachesim_options *o = &s->options;
    static const char *const columns[] = { "end", "accesses", "lines", "bytes" };
    char note[64];

    w->o = o;
    w->n_tags = s->n_tags;
    start_rows(&w->rows, o);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        cachesim_rows_column(&w->rows, columns[i]);
    for (unsigned tag = 0; o->by_tag && tag < w->n_tags; tag++)
        cachesim_rows_tag_column(&w->rows, "lines", tag);
    snprintf(note, sizeof note, "lines used by the last %" PRIu64 " accesses", o->window);
    cachesim_rows_head(&w->rows, o->trace, "wss", o->line_bytes, note);
}

int cachesim_analyse_wss(struct cachesim_session *s)
{
    struct windows windows;
    struct sim_wss *w;
    int err = sim_wss_new(&w, s->options.line_bytes, s->options.window, print_window, &windows);

    if (err)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "cannot analyse", strerror(-err));
    start_windows(&windows, s);
    s->sink = sim_wss_sink(w);
    err = cachesim_run_passes(s);
    if (!err && sim_wss_finish(w))
        err = cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot analyse", strerror(ENOMEM));
    if (!err) {
        cachesim_rows_end(&windows.rows, cachesim_signal_is_over());
        err = cachesim_check_stdout(s, 0);
    }
    sim_wss_free(w);
    return err;
}
