#include "sim/programs/cachesim_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/programs/cachesim_signal.h"
#include "sim/programs/cachesim_source.h"

enum { SLICE = 1 << 16 }; /* accesses between two progress reports */

int cachesim_fail(struct cachesim_session *s, int exit_status, const char *what, const char *value)
{
    snprintf(s->why, sizeof s->why, "%s, %s", what, value);
    s->exit_status = exit_status;
    return -EINVAL;
}

int cachesim_hierarchy(struct cachesim_session *s, struct sim_hierarchy **hierarchy, const struct sim_machine *m)
{
    const int err = sim_hierarchy_new_tags(hierarchy, m, s->n_tags);
    uint64_t bytes = 0;
    char text[64];

    if (!err)
        return 0;
    for (size_t k = 0; k < m->n_levels; k++)
        bytes += sim_level_bytes(&m->level[k]);
    snprintf(text, sizeof text, "%s for caches of %" PRIu64 " MiB", strerror(-err), bytes >> 20);
    return cachesim_fail(s, CACHESIM_BAD_INPUT, "cannot simulate the machine", text);
}

/* Takes the first accesses off a run, at most max. */
static struct sim_run take_head(struct sim_run *run, uint64_t max)
{
    struct sim_run head = *run;

    if (head.count > max)
        head.count = (uint32_t)max;
    run->addr += head.count * (uint64_t)run->stride_bytes;
    run->count -= head.count;
    return head;
}

/* As much of a run as the warm-up still takes. */
static void warm_up(struct cachesim_session *s, struct sim_run *run)
{
    struct sim_run head = take_head(run, s->warmup_left < SLICE ? s->warmup_left : SLICE);

    sim_emit(s->sink, &head, 1, 1);
    cachesim_progress_add(&s->progress, head.count);
    s->n_simulated += head.count;
    s->warmup_left -= head.count;
    if (!s->warmup_left)
        s->clear_stats(s->counter);
}

static void feed_long(struct cachesim_session *s, struct sim_run *run)
{
    while (run->count && !cachesim_signal_is_over()) {
        struct sim_run head = take_head(run, SLICE);

        sim_emit(s->sink, &head, 1, 1);
        cachesim_progress_add(&s->progress, head.count);
        s->n_simulated += head.count;
    }
}

/* Feeds runs as they come; runs that would delay the progress report are cut. */
static void feed_all(struct cachesim_session *s, struct sim_run *run, size_t n)
{
    while (n) {
        size_t n_short = 0;

        for (; n_short < n && run[n_short].count <= SLICE; n_short++) {
            cachesim_progress_add(&s->progress, run[n_short].count);
            s->n_simulated += run[n_short].count;
        }
        if (n_short)
            sim_emit(s->sink, run, n_short, 1);
        else
            feed_long(s, &run[n_short++]);
        run += n_short;
        n -= n_short;
    }
}

static void feed(struct cachesim_session *s, struct sim_run *run, size_t n)
{
    while (n && s->warmup_left && !cachesim_signal_is_over()) {
        warm_up(s, run);
        if (!run->count) {
            run++;
            n--;
        }
    }
    feed_all(s, run, n);
}

/* Tells whether reading on is useless: the sink has an error, or a signal asked for the end. */
static bool is_over(const struct cachesim_session *s)
{
    return (s->sink_error && *s->sink_error) || cachesim_signal_is_over();
}

static int read_all(struct cachesim_session *s, struct sim_trace_reader *r)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n = 1;
    int err = 0;

    while (!err && n && !is_over(s)) {
        err = sim_trace_reader_next(r, run, SIM_MAX_BURST_RUNS, &n, s->why, sizeof s->why);
        feed(s, run, n);
        cachesim_progress_read(&s->progress, sim_trace_reader_bytes(r));
    }
    s->counts = sim_trace_reader_counts(r);
    if (cachesim_signal_is_over())
        return 0; /* a reader's error after a signal is of no interest */
    if (!err && !s->counts.accesses)
        err = cachesim_fail(s, CACHESIM_BAD_INPUT, s->options.trace, "no access in it");
    return err;
}

static int run_pass(struct cachesim_session *s)
{
    struct cachesim_source source;
    struct sim_trace_reader *r;
    struct cachesim_end end;
    int err = cachesim_source_open(&source, &s->options, SIM_WHY(s->why));

    if (err)
        return err;
    err = sim_trace_reader_new(&r, source.in, source.name, &source.reader);
    if (err)
        cachesim_fail(s, CACHESIM_BAD_INPUT, source.name, strerror(-err));
    else
        err = read_all(s, r);
    end = (struct cachesim_end){ err, s->counts.accesses + s->counts.fetches > 0, r ? sim_trace_reader_said(r) : "" };
    err = cachesim_source_close(&source, &end, SIM_WHY(s->why));
    sim_trace_reader_free(r);
    s->maps = source.maps;
    return err;
}

int cachesim_tell_apart(struct cachesim_session *s)
{
    const struct cachesim_options *o = &s->options;
    int err = 0;

    s->n_tags = SIM_USUAL_TAGS;
    if (o->ranges)
        err = cachesim_ranges_read(&s->ranges, o->ranges, o->reader.has_fetches, o->reader.fetch_tag, SIM_WHY(s->why));
    if (!err && o->ranges)
        s->n_tags = s->ranges.n_tags;
    if (!err && o->mode == CACHESIM_CONVERT && s->n_tags > SIM_USUAL_TAGS)
        err = cachesim_fail(s, CACHESIM_BAD_INPUT, "--ranges: a trace that is written has room for 6 names", o->ranges);
    return err;
}

/*
 * Takes the counts of the accesses before a signal; fails if all accesses were to warm up the caches. Returns as
 * cachesim_run_passes.
 */
static int settle_for_less(struct cachesim_session *s, bool counts_now)
{
    if (!s->n_simulated || !counts_now)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, s->options.trace, "interrupted before anything was counted");
    s->counts.accesses = s->n_simulated;
    fprintf(stderr, "cachesim: %s: interrupted after %" PRIu64 " accesses; the counts so far are partial\n",
            s->options.trace, s->n_simulated);
    return 0;
}

/* Puts the ranges, if there are any, before the sink. */
static void sort_by_ranges(struct cachesim_session *s)
{
    if (!s->options.ranges)
        return;
    s->ranges.next = s->sink;
    s->sink = &s->ranges.sink;
}

int cachesim_run_passes(struct cachesim_session *s)
{
    const struct cachesim_options *o = &s->options;
    const bool is_packed = o->program || cachesim_source_is_packed(o->trace);
    uint64_t pass;
    int err = 0;

    sort_by_ranges(s);
    s->warmup_left = o->warmup;
    cachesim_progress_start(&s->progress, o->trace, is_packed ? "-" : o->trace,
                            o->program ? SIM_TRACE_BINARY : o->reader.format, o->passes);
    for (pass = 0; pass < o->passes && !err && !is_over(s); pass++) {
        if (o->warms_up_passes && pass + 1 == o->passes)
            s->clear_stats(s->counter);
        cachesim_progress_pass(&s->progress, pass);
        err = run_pass(s);
    }
    cachesim_progress_end(&s->progress);
    if (!err && cachesim_signal_is_over())
        return settle_for_less(s, !s->warmup_left && (!o->warms_up_passes || pass == o->passes));
    if (!err && s->warmup_left)
        err = cachesim_fail(s, CACHESIM_BAD_INPUT, "--warmup", "the trace has fewer accesses");
    return err;
}

int cachesim_check_stdout(struct cachesim_session *s, int err)
{
    errno = 0;
    if (!err && (fflush(stdout) || ferror(stdout)))
        err = errno ? -errno : -EIO;
    return err ? cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot write", strerror(-err)) : 0;
}
