/* cachesim: a command line for the simulator and its analyses. `cachesim --help` lists the options. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cachesim_options.h"
#include "sim/cpu.h"
#include "sim/hierarchy.h"
#include "sim/reuse.h"

enum { EXIT_BAD_OUTPUT = 1, EXIT_BAD_INPUT = 2 };

struct session {
    struct cachesim_options options;
    struct sim_machine machine;
    struct sim_hierarchy *hierarchy;
    struct sim_sink *sink; /* of whatever takes the accesses */
    uint64_t warmup_left;
    struct sim_trace_counts counts; /* of one pass */
    int exit_status;                /* if it fails */
    char why[1024];
};

static int fail(struct session *s, int exit_status, const char *what, const char *value)
{
    snprintf(s->why, sizeof s->why, "%s, %s", what, value);
    s->exit_status = exit_status;
    return -EINVAL;
}

/* ---- the trace, pass by pass ---- */

/* The first accesses of a run, at most as many as the warm-up still takes; the rest stays in *run. */
static void warm_up(struct session *s, struct sim_run *run)
{
    struct sim_run head = *run;

    if (head.count > s->warmup_left)
        head.count = (uint32_t)s->warmup_left;
    sim_emit(s->sink, &head, 1, 1);
    run->addr += head.count * (uint64_t)run->stride_bytes;
    run->count -= head.count;
    s->warmup_left -= head.count;
    if (!s->warmup_left)
        sim_hierarchy_clear_stats(s->hierarchy);
}

static void feed(struct session *s, struct sim_run *run, size_t n)
{
    while (n && s->warmup_left) {
        warm_up(s, run);
        if (!run->count) {
            run++;
            n--;
        }
    }
    if (n)
        sim_emit(s->sink, run, n, 1);
}

static int read_all(struct session *s, struct sim_trace_reader *r)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n = 1;
    int err = 0;

    while (!err && n) {
        err = sim_trace_reader_next(r, run, SIM_MAX_BURST_RUNS, &n, s->why, sizeof s->why);
        feed(s, run, n);
    }
    s->counts = sim_trace_reader_counts(r);
    if (!err && !s->counts.accesses)
        err = fail(s, EXIT_BAD_INPUT, s->options.trace, "no access in it");
    return err;
}

static int run_pass(struct session *s)
{
    const char *path = s->options.trace;
    bool is_stdin = !strcmp(path, "-");
    FILE *in = is_stdin ? stdin : fopen(path, "rb");
    struct sim_trace_reader *r;
    int err;

    if (!in)
        return fail(s, EXIT_BAD_INPUT, path, strerror(errno));
    err = sim_trace_reader_new(&r, in, is_stdin ? "stdin" : path, &s->options.reader);
    if (err)
        fail(s, EXIT_BAD_INPUT, path, strerror(-err));
    else
        err = read_all(s, r);
    sim_trace_reader_free(r);
    if (!is_stdin)
        fclose(in);
    return err;
}

static int run_passes(struct session *s)
{
    const struct cachesim_options *o = &s->options;
    int err = 0;

    for (uint64_t pass = 0; pass < o->passes && !err; pass++) {
        if (o->warms_up_passes && pass + 1 == o->passes)
            sim_hierarchy_clear_stats(s->hierarchy);
        err = run_pass(s);
    }
    if (!err && s->warmup_left)
        err = fail(s, EXIT_BAD_INPUT, "--warmup", "the trace has fewer accesses");
    return err;
}

/* Standard output took everything? */
static int check_output(struct session *s, int err)
{
    errno = 0;
    if (!err && (fflush(stdout) || ferror(stdout)))
        err = errno ? -errno : -EIO;
    return err ? fail(s, EXIT_BAD_OUTPUT, "cannot write", strerror(-err)) : 0;
}

/* ---- what to do with it ---- */

static int simulate(struct session *s)
{
    const struct cachesim_options *o = &s->options;
    int err = cachesim_options_machine(o, &s->machine, s->why, sizeof s->why);

    if (err)
        return err;
    err = sim_hierarchy_new(&s->hierarchy, &s->machine);
    if (err)
        return fail(s, EXIT_BAD_INPUT, "cannot simulate the machine", strerror(-err));
    s->sink = sim_hierarchy_sink(s->hierarchy);
    s->warmup_left = o->warmup;
    err = run_passes(s);
    if (!err && o->flushes)
        sim_hierarchy_flush(s->hierarchy, 0);
    if (!err && sim_hierarchy_error(s->hierarchy))
        err = fail(s, EXIT_BAD_OUTPUT, "cannot classify all misses", strerror(-sim_hierarchy_error(s->hierarchy)));
    if (!err) {
        const struct sim_report report = {
            .machine = &s->machine,
            .stats = sim_hierarchy_stats(s->hierarchy),
            .trace_name = strcmp(o->trace, "-") ? o->trace : "stdin",
            .counts = &s->counts,
            .by_tag = o->by_tag,
        };
        err = check_output(s, sim_report_print(&report, o->output, stdout));
    }
    sim_hierarchy_free(s->hierarchy);
    return err;
}

/* The tags' columns, for those tags that were used. */
static void print_tag_names(const struct sim_reuse *r, const char *what)
{
    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            printf(",%s_tag%u", what, tag);
    }
}

static void print_tags(const struct sim_reuse *r, const uint64_t value[SIM_MAX_TAGS])
{
    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            printf(",%" PRIu64, value[tag]);
    }
}

static void print_distance(const struct sim_reuse *r, uint64_t distance, bool by_tag)
{
    uint64_t uses[SIM_MAX_TAGS];

    if (!sim_reuse_at(r, SIM_ALL_TAGS, distance))
        return;
    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++)
        uses[tag] = sim_reuse_at(r, tag, distance);
    printf("%" PRIu64 ",%" PRIu64, distance, sim_reuse_at(r, SIM_ALL_TAGS, distance));
    if (by_tag)
        print_tags(r, uses);
    putchar('\n');
}

static void print_histogram(const struct sim_reuse *r, const struct cachesim_options *o)
{
    uint64_t cold[SIM_MAX_TAGS];

    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++)
        cold[tag] = sim_reuse_cold(r, tag);
    printf("# trace %s: reuse distances in lines of %" PRIu32 " bytes; cold: first uses\ndistance,uses", o->trace,
           o->line_bytes);
    if (o->by_tag)
        print_tag_names(r, "uses");
    putchar('\n');
    for (uint64_t d = 0; d < sim_reuse_distances(r); d++)
        print_distance(r, d, o->by_tag);
    printf("cold,%" PRIu64, sim_reuse_cold(r, SIM_ALL_TAGS));
    if (o->by_tag)
        print_tags(r, cold);
    putchar('\n');
}

static void print_curve(const struct sim_reuse *r, const struct cachesim_options *o)
{
    double uses = (double)sim_reuse_uses(r, SIM_ALL_TAGS);
    struct sim_mrc_point p;

    printf("# trace %s: misses of fully associative LRU caches with lines of %" PRIu32
           " bytes; a size not listed misses as the next smaller one listed\nlines,size_bytes,misses,miss_ratio",
           o->trace, o->line_bytes);
    if (o->by_tag)
        print_tag_names(r, "misses");
    putchar('\n');
    for (sim_mrc_start(r, &p); sim_mrc_next(r, &p);) {
        printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f", p.n_lines, p.n_lines * o->line_bytes, p.misses[SIM_ALL_TAGS],
               (double)p.misses[SIM_ALL_TAGS] / uses);
        if (o->by_tag)
            print_tags(r, p.misses);
        putchar('\n');
    }
}

static int analyse_reuse(struct session *s, void (*print)(const struct sim_reuse *r, const struct cachesim_options *o))
{
    struct sim_reuse *r;
    int err = sim_reuse_new(&r, s->options.line_bytes);

    if (err)
        return fail(s, EXIT_BAD_INPUT, "cannot analyse", strerror(-err));
    s->sink = sim_reuse_sink(r);
    err = run_passes(s);
    if (!err && sim_reuse_error(r))
        err = fail(s, EXIT_BAD_OUTPUT, "cannot analyse", strerror(-sim_reuse_error(r)));
    if (!err) {
        print(r, &s->options);
        err = check_output(s, 0);
    }
    sim_reuse_free(r);
    return err;
}

static void print_window(void *ctx, const struct sim_wss_window *w)
{
    const struct cachesim_options *o = ctx;

    printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, w->end, w->n_accesses, w->lines[SIM_ALL_TAGS],
           w->lines[SIM_ALL_TAGS] * o->line_bytes);
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++)
        printf(",%" PRIu64, w->lines[tag]);
    putchar('\n');
}

static int analyse_working_set(struct session *s)
{
    struct cachesim_options *o = &s->options;
    struct sim_wss *w;
    int err = sim_wss_new(&w, o->line_bytes, o->window, print_window, o);

    if (err)
        return fail(s, EXIT_BAD_INPUT, "cannot analyse", strerror(-err));
    printf("# trace %s: lines of %" PRIu32 " bytes used by the last %" PRIu64 " accesses\nend,accesses,lines,bytes",
           o->trace, o->line_bytes, o->window);
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++)
        printf(",lines_tag%u", tag);
    putchar('\n');
    s->sink = sim_wss_sink(w);
    err = run_passes(s);
    if (!err && sim_wss_finish(w))
        err = fail(s, EXIT_BAD_OUTPUT, "cannot analyse", strerror(ENOMEM));
    if (!err)
        err = check_output(s, 0);
    sim_wss_free(w);
    return err;
}

static int convert(struct session *s)
{
    const struct cachesim_options *o = &s->options;
    bool is_stdout = !strcmp(o->convert_to, "-");
    FILE *out = is_stdout ? stdout : fopen(o->convert_to, "wb");
    struct sim_trace t;
    int err, write_err;

    if (!out)
        return fail(s, EXIT_BAD_OUTPUT, o->convert_to, strerror(errno));
    sim_trace_init_as(&t, out, o->convert_format);
    s->sink = sim_trace_sink(&t);
    err = run_passes(s);
    write_err = err ? 0 : sim_trace_close(&t); /* a trace that could not be read to its end gets no end */
    if (!is_stdout && fclose(out) && !write_err)
        write_err = -errno;
    if (err)
        return err;
    return write_err ? fail(s, EXIT_BAD_OUTPUT, o->convert_to, strerror(-write_err)) : 0;
}

static int run(struct session *s)
{
    switch (s->options.mode) {
    case CACHESIM_REUSE:
        return analyse_reuse(s, print_histogram);
    case CACHESIM_MRC:
        return analyse_reuse(s, print_curve);
    case CACHESIM_WSS:
        return analyse_working_set(s);
    case CACHESIM_CONVERT:
        return convert(s);
    case CACHESIM_HELP:
        fputs(cachesim_help, stdout);
        return check_output(s, 0);
    case CACHESIM_SIMULATE:
        break;
    }
    return simulate(s);
}

int main(int argc, char **argv)
{
    struct session s = { .exit_status = EXIT_BAD_INPUT };
    int err = cachesim_options_parse(&s.options, argc, argv, s.why, sizeof s.why);

    if (!err)
        err = sim_cpu_check_limit(s.why, sizeof s.why);
    if (!err)
        err = run(&s);
    if (err)
        fprintf(stderr, "cachesim: %s\n", s.why);
    return err ? s.exit_status : EXIT_SUCCESS;
}
