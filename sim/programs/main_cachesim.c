/* cachesim: a command line for the simulator and its analyses. `cachesim --help` lists the options. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/programs/cachesim_analyse.h"
#include "sim/programs/cachesim_annotate.h"
#include "sim/programs/cachesim_file.h"
#include "sim/programs/cachesim_machine.h"
#include "sim/programs/cachesim_plot.h"
#include "sim/programs/cachesim_sample.h"
#include "sim/programs/cachesim_session.h"
#include "sim/programs/cachesim_signal.h"
#include "sim/programs/cachesim_timeline.h"
#include "sim/programs/cachesim_vary.h"
#include "sim/cpu.h"
#include "sim/hierarchy.h"
#include "sim/report/json.h"

static void clear_stats(void *counter)
{
    sim_hierarchy_clear_stats(counter);
}

/* Reports why counts by source line are incomplete. */
static int check_annotation(struct cachesim_session *s, const struct cachesim_annotate *a)
{
    const int err = *s->sink_error;

    if (err)
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, "--annotate",
                             err == -ENOLINK ? "the program cannot write any more what it allocates (--heap)"
                                             : strerror(-err));
    if (!cachesim_signal_is_over() && !cachesim_annotate_is_heard(a))
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "--heap",
                             "heap.so was not loaded into the program: it is linked statically, a script, one for "
                             "another CPU, or changes its user");
    return 0;
}

/* Puts a sampler before the simulation, if a sample is asked for and saves time. Returns 0 or -ENOMEM. */
static int sample(struct cachesim_session *s, const struct sim_machine *m, struct sim_hierarchy *hierarchy,
                  struct cachesim_sample **sample)
{
    const struct cachesim_options *o = &s->options;
    int err;

    *sample = NULL;
    if (!o->sample)
        return 0;
    if (sim_machine_is_plain(m)) {
        fprintf(stderr,
                "cachesim: --sample: machine %s has caches alone, of which a sample saves no time: all accesses "
                "are simulated\n",
                m->name);
        return 0;
    }
    err = cachesim_sample_new(sample, m, hierarchy, s->n_tags, o->sample, o->seed ? o->seed : 1);
    s->sink = *sample ? cachesim_sample_sink(*sample) : s->sink;
    return err;
}

/* Simulates. annotate: counts by source line, through which the accesses go; NULL: none. */
static int simulate_on(struct cachesim_session *s, const struct sim_machine *m, const char *source,
                       struct sim_hierarchy *hierarchy, struct cachesim_annotate *annotate)
{
    const struct cachesim_options *o = &s->options;
    struct cachesim_timeline *timeline = NULL;
    struct cachesim_sample *sampler;
    int err;

    s->sink = annotate ? cachesim_annotate_sink(annotate) : sim_hierarchy_sink(hierarchy);
    err = o->timeline ? cachesim_timeline_new(&timeline, m, hierarchy, s->sink, o) : 0;
    if (err)
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, o->timeline, strerror(-err));
    s->sink = timeline ? cachesim_timeline_sink(timeline) : s->sink;
    if (sample(s, m, hierarchy, &sampler))
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "--sample", strerror(ENOMEM));
    s->sink_error = annotate ? cachesim_annotate_error(annotate) : NULL;
    s->clear_stats = clear_stats;
    s->counter = hierarchy;
    err = cachesim_run_passes(s);
    if (annotate)
        s->counts.accesses -= cachesim_annotate_n_fetches(annotate) / o->passes;
    if (!err && annotate)
        err = check_annotation(s, annotate);
    if (!err && o->flushes)
        sim_hierarchy_flush(hierarchy, 0);
    if (!err && sim_hierarchy_error(hierarchy))
        err = cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot classify all misses",
                            strerror(-sim_hierarchy_error(hierarchy)));
    if (!err) {
        const struct sim_report report = {
            .machine = m,
            .machine_source = source,
            .stats = sampler ? cachesim_sample_stats(sampler) : sim_hierarchy_stats(hierarchy),
            .sample = sampler ? cachesim_sample_intervals(sampler) : NULL,
            .n_tags = s->n_tags,
            .trace_name = strcmp(o->trace, "-") ? o->trace : "stdin",
            .counts = &s->counts,
            .is_partial = cachesim_signal_is_over(),
            .by_tag = o->by_tag,
            .tag_names = o->ranges ? (const char *const *)s->ranges.name : NULL,
        };
        err = cachesim_check_stdout(s, sim_report_print(&report, cachesim_options_report(o),
                                                        cachesim_options_leave_stdout(o) ? stderr : stdout));
        if (!err)
            err = cachesim_plot_misses(s, m, report.stats);
        if (!err && timeline && cachesim_timeline_write(timeline, SIM_WHY(s->why))) {
            s->exit_status = CACHESIM_BAD_OUTPUT;
            err = -EINVAL;
        }
    }
    cachesim_timeline_free(timeline);
    cachesim_sample_free(sampler);
    return err;
}

/* Simulates with counts by line beside the report. */
static int annotate(struct cachesim_session *s, const struct sim_machine *m, const char *source)
{
    struct cachesim_annotate *a;
    int err = cachesim_annotate_new(&a, m, &s->options);

    if (err)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "cannot simulate the machine", strerror(-err));
    s->options.heap_log = cachesim_annotate_heap(a);
    err = simulate_on(s, m, source, cachesim_annotate_hierarchy(a), a);
    if (!err && s->maps)
        rewind(s->maps);
    if (!err && cachesim_annotate_write(a, s->maps, SIM_WHY(s->why))) {
        s->exit_status = CACHESIM_BAD_OUTPUT;
        err = -EINVAL;
    }
    if (!err && s->options.annotate && cachesim_options_report(&s->options) == SIM_REPORT_SHORT)
        fprintf(stderr, "the lines with most misses: cg_annotate --sort=L1_load_misses %s\n", s->options.annotate);
    if (s->maps)
        fclose(s->maps);
    cachesim_annotate_free(a);
    return err;
}

static int simulate(struct cachesim_session *s)
{
    struct sim_hierarchy *hierarchy;
    struct sim_machine m;
    char source[CACHESIM_SOURCE_BYTES];
    int err = cachesim_machine(&s->options, &m, source, SIM_WHY(s->why));

    if (err)
        return err;
    if (cachesim_options_by_line(&s->options))
        return annotate(s, &m, source);
    err = cachesim_hierarchy(s, &hierarchy, &m);
    if (err)
        return err;
    err = simulate_on(s, &m, source, hierarchy, NULL);
    sim_hierarchy_free(hierarchy);
    return err;
}

/* Tells whether a file is read: the trace, the program, or a file of an option. */
static bool is_read(const struct cachesim_options *o, const char *path)
{
    const char *read[3 + CACHESIM_MAX_SYMBOLS] = { o->trace, o->ranges, o->machine };
    struct stat s;

    memcpy(read + 3, o->symbols, sizeof o->symbols);
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        if (read[i] && !(strcmp(read[i], "-") ? stat(read[i], &s) : fstat(STDIN_FILENO, &s)) &&
            cachesim_file_is(path, &s))
            return true;
    }
    return false;
}

/* Checks all output files before any work is done. */
static int check_files(struct cachesim_session *s)
{
    const struct cachesim_options *o = &s->options;
    const char *const written[] = { o->annotate, o->callgrind, o->heap, o->timeline, o->plot, o->convert_to };
    enum { N = sizeof written / sizeof written[0] };

    for (size_t i = 0; i < N; i++) {
        const char *name = written[i] && !strcmp(written[i], "-") ? "stdout" : written[i];
        const int err = written[i] ? cachesim_file_check(written[i]) : 0;

        if (err)
            return cachesim_fail(s, CACHESIM_BAD_OUTPUT, name, strerror(-err));
        if (written[i] && is_read(o, written[i]))
            return cachesim_fail(s, CACHESIM_BAD_OUTPUT, name,
                                 written[i] == o->convert_to ? "this is the trace itself; give another file"
                                                             : "this file is read, too; give another one");
        for (size_t j = 0; written[i] && j < i; j++) {
            if (written[j] && !strcmp(written[i], written[j]))
                return cachesim_fail(s, CACHESIM_BAD_INPUT, name, "two files of this name are to be written");
        }
    }
    return 0;
}

static int convert(struct cachesim_session *s)
{
    const struct cachesim_options *o = &s->options;
    const char *name = strcmp(o->convert_to, "-") ? o->convert_to : "stdout";
    struct cachesim_file file;
    struct sim_trace t;
    int err, write_err;

    err = cachesim_file_open(&file, o->convert_to);
    if (err)
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, name, strerror(-err));
    sim_trace_init_as(&t, file.out, o->convert_format);
    s->sink = sim_trace_sink(&t);
    s->sink_error = &t.err;
    err = cachesim_run_passes(s);
    write_err = t.err;
    if (!err && !write_err)
        write_err = sim_trace_close(&t); /* a trace with a reading error gets no end */
    if (err || write_err)
        cachesim_file_discard(&file);
    else
        write_err = cachesim_file_commit(&file);
    if (err)
        return err;
    if (write_err)
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, name, strerror(-write_err));
    if (o->program && strcmp(o->convert_to, "-") != 0) {
        fputs("cachesim: ", stderr);
        sim_line_text(name, stderr);
        fprintf(stderr, " is written; next: cachesim --machine NAME --format %s ",
                sim_trace_format_name(o->convert_format));
        sim_line_text(name, stderr);
        fputc('\n', stderr);
    }
    return 0;
}

static int print_help(struct cachesim_session *s)
{
    int err = 0;

    for (const char *const *part = cachesim_help; *part && !err; part++)
        err = fputs(*part, stdout) < 0 || fflush(stdout) ? -errno : 0;
    return cachesim_check_stdout(s, err);
}

static int print_version(struct cachesim_session *s)
{
    puts("cachesim " SIM_VERSION);
    return cachesim_check_stdout(s, 0);
}

/* Prints one line, even if names in the line have control characters. */
static void complain(const char *why)
{
    fputs("cachesim: ", stderr);
    sim_line_text(why, stderr);
    fputc('\n', stderr);
}

/*
 * Opens standard descriptors closed by the caller, so that no file opened later takes the descriptors' numbers. Reading
 * or writing these descriptors fails.
 */
static void open_standard(void)
{
    static const int useless[] = { [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY };

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", useless[fd]) != fd)
            _exit(CACHESIM_BAD_OUTPUT);
    }
}

int main(int argc, char **argv)
{
    static int (*const run[])(struct cachesim_session * s) = {
        [CACHESIM_SIMULATE] = simulate,
        [CACHESIM_VARY] = cachesim_vary,
        [CACHESIM_REUSE] = cachesim_analyse_reuse,
        [CACHESIM_MRC] = cachesim_analyse_mrc,
        [CACHESIM_WSS] = cachesim_analyse_wss,
        [CACHESIM_CONVERT] = convert,
        [CACHESIM_HELP] = print_help,
        [CACHESIM_VERSION] = print_version,
    };
    struct cachesim_session s = { .exit_status = CACHESIM_BAD_INPUT };
    int err;

    open_standard();
    err = cachesim_options_parse(&s.options, argc, argv, SIM_WHY(s.why));

    if (!err && cachesim_signal_install(s.options.mode != CACHESIM_CONVERT))
        err = cachesim_fail(&s, CACHESIM_BAD_OUTPUT, "cannot handle signals", strerror(errno));
    if (!err)
        err = sim_cpu_check_limit(SIM_WHY(s.why));
    if (!err)
        err = cachesim_plot_check(&s);
    if (!err && s.options.trace)
        err = check_files(&s);
    if (!err && s.options.trace)
        err = cachesim_tell_apart(&s);
    if (!err)
        err = run[s.options.mode](&s);
    cachesim_ranges_release(&s.ranges);
    if (err)
        complain(s.why);
    cachesim_signal_finish();
    return err ? s.exit_status : EXIT_SUCCESS;
}
