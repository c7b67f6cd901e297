/*
 * Measures caches and prefetchers of this computer, or reads a record of a machine, and fits a simulated machine.
 * `calibrate --help` lists the options; the Makefile passes them on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_tick.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/calibrate/calibrate.h"
#include "sim/machine/machine_here.h"

enum {
    LEAST_SPEED_ROUNDS = 3,
    MOST_SPEED_ROUNDS = 25,
    SPEED_SECONDS = 10,
    TIMING_SECONDS = 15,
    COUNTED_PASSES = 5,
    USUAL_SWEEPS = 2,
    USUAL_LIMIT = 60,
    FIT_AUTO = 99, /* measurements of this computer are fitted, recorded patterns are not */
};

struct options {
    const char *machine, *patterns, *out, *results, *commit;
    unsigned fit, hides_rows, limit, more;
};

struct session {
    struct options options;
    struct sim_here host;
    struct sim_machine machine; /* first as known before, then as found; or the recorded machine */
    struct exp_native native;
    struct exp_speeds speeds;
    struct exp_evidence evidence;    /* timed, or read back from the file of counts; or recorded */
    struct exp_recorded counted;     /* if counters count here */
    struct exp_timing_result timing; /* else */
    char how[512];                   /* "by counters (Intel Skylake-SP)"; "by time alone: <why not by counters>" */
    char pages[128], pinned[160];
    char patterns[512]; /* the recorded machines */
    struct exp_results results;
    struct exp_progress *progress;
    double reported; /* share of the patterns */
    struct exp_why why;
};

static const struct exp_results_layout layout = { "/calibration", false, SIM_MACHINE_FILE, NULL };

/* ---- earlier results ---- */

static const char host_file[] = "host.txt", limit_key[] = "limit: ", fit_key[] = "fit: ";

static unsigned sweeps_of(const struct options *o)
{
    return o->fit == FIT_AUTO ? USUAL_SWEEPS : o->fit;
}

static unsigned long number_after(const char *text, const char *key, unsigned long usual)
{
    const char *found = exp_text_after(text, key);

    return found ? strtoul(found, NULL, 10) : usual;
}

/* Checks whether a calibration may replace earlier results: not results of more time or more sweeps. */
static int check_replaced(struct session *s)
{
    const struct options *o = &s->options;
    char *text = exp_text_of(s->results.path, host_file);
    const unsigned long limit = number_after(text, limit_key, USUAL_LIMIT); /* older calibrations lack the line */
    const unsigned long fit = number_after(text, fit_key, USUAL_SWEEPS);
    int err = 0;

    if (*text && (limit > o->limit || fit > sweeps_of(o)))
        err = exp_fail(&s->why, -EEXIST,
                       "'%s' holds a calibration of LIMIT=%lu FIT=%lu, and this run would replace it by one of less: "
                       "set another RESULTS, or remove the folder",
                       s->results.path, limit, fit);
    free(text);
    return err;
}

static bool is_recorded(const struct options *o)
{
    return strcmp(o->machine, "host") || *o->patterns;
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_results_place place = {
        .layout = &layout, .options = &s->options, .results = s->options.results, .machine = s->options.machine
    };
    int err;

    s->results.leaves_none = is_recorded(&s->options);
    if (s->results.leaves_none)
        return 0;
    err = exp_results_find(&s->results, place, NULL, NULL, 0, &s->why);
    return err ? err : check_replaced(s);
}

/* ---- a machine of one's own ---- */

static int write_out(struct session *s, int (*print)(void *session, FILE *out))
{
    int err = exp_file_write(s->options.out, print, s, &s->why);

    if (!err)
        printf("the machine is in %s\n", s->options.out);
    return err;
}

/* ---- looking at this computer ---- */

static void pin(struct session *s)
{
    char why[120];
    int core, err = ctr_pin(-1, &core, SIM_WHY(why));

    if (err)
        exp_say(s->pinned, sizeof s->pinned, "not pinned (%s)", why);
    else
        exp_say(s->pinned, sizeof s->pinned, "core %d, pinned", core);
}

/* The most memory to read to evict lines from L1 or L2, or from the levels inside L3 and so on. */
static size_t sweep_bytes(const struct session *s)
{
    const size_t here = 2 * (size_t)sim_level_bytes(&s->machine.level[1]), speeds = exp_speeds_sweep_bytes(&s->speeds);

    return here > speeds ? here : speeds;
}

/* Looks at the computer and takes the memory. */
static int begin(struct session *s)
{
    struct exp_why *why = &s->why;
    int err = sim_here_look(&s->host, SIM_WHY(why->text));

    if (!err)
        err = sim_here_find(&s->host, NULL, EXP_MACHINES_DIR, SIM_WHY(why->text));
    if (!err)
        err = sim_here_machine(&s->host, &s->machine, SIM_WHY(why->text));
    if (!err && s->machine.n_levels < 2)
        err = exp_fail(why, -ENOTSUP, "hwloc shows one level of caches only: patterns need two");
    if (err)
        return err;
    pin(s);
    exp_speeds_plan(&s->speeds, &s->machine);
    err = exp_native_init(&s->native, exp_speeds_set_bytes(&s->speeds), sweep_bytes(s), why);
    if (!err)
        exp_native_describe_pages(&s->native, s->pages, sizeof s->pages);
    return err;
}

/* ---- measuring ---- */

static void report(void *session, double share)
{
    struct session *s = session;

    exp_progress_step(s->progress, EXP_WORK_ROUNDS, (share - s->reported) * TIMING_SECONDS);
    s->reported = share;
}

static int time_patterns(struct session *s)
{
    const struct exp_rounds rounds = exp_rounds_of(0, 3, 41, s->options.limit);
    const struct exp_timing how = {
        .computer = &s->native.computer,
        .l1_bytes = (size_t)sim_level_bytes(&s->machine.level[0]),
        .l2_bytes = (size_t)sim_level_bytes(&s->machine.level[1]),
        .least = rounds.least,
        .most = rounds.most,
        .limit_ns = rounds.limit_ns,
        .now_ns = ctr_now_ns,
        .interrupted = exp_interrupted,
        .progress = report,
        .ctx = s,
    };

    s->reported = 0;
    exp_progress_begin(s->progress, EXP_WORK_ROUNDS, "prefetchers", "timing lines after patterns");
    exp_progress_limit(s->progress, EXP_WORK_ROUNDS, (double)rounds.limit_ns * 1e-9, 0);
    s->evidence.is_timed = true;
    exp_probes_list(&s->evidence.times);
    return exp_timing_run(&how, &s->evidence.times, &s->timing, &s->why);
}

static int count_patterns(struct session *s, struct ctr_counters *c)
{
    const struct exp_counting how = {
        .counters = c,
        .machine = &s->machine,
        .n_passes = COUNTED_PASSES,
        .interrupted = exp_interrupted,
        .progress = report,
        .ctx = s,
    };

    exp_progress_begin(s->progress, EXP_WORK_ROUNDS, "prefetchers", "counting lines of patterns");
    exp_say(s->how, sizeof s->how, "by counters (%s)", c->cpu.name);
    return exp_counting_run(&how, &s->counted, &s->why);
}

/* Counts if possible. Returns 0, -EINTR or -ENOMEM, or another error with the reason in s->how. */
static int try_counters(struct session *s)
{
    struct ctr_counters *c = exp_new(1, sizeof *c);
    int err = exp_counting_open(c, NULL, CTR_GROUPS_DIR, NULL, &s->why);

    if (!err) {
        err = count_patterns(s, c);
        ctr_counters_close(c);
    }
    free(c);
    if (err)
        exp_say(s->how, sizeof s->how, "by time alone: %s", s->why.text);
    return err;
}

/* Measures speeds, then patterns by counters, if the counters see prefetchers, else by time alone. */
static int measure_all(struct session *s)
{
    const uint64_t limit_s = s->options.limit / 4 < SPEED_SECONDS ? s->options.limit / 4 : SPEED_SECONDS;
    const struct exp_rounds rounds = { LEAST_SPEED_ROUNDS, MOST_SPEED_ROUNDS, limit_s * 1000000000u + 1 };
    int err;

    exp_progress_begin(s->progress, EXP_WORK_PHASES, "caches", "latencies and bandwidths");
    err = exp_speeds_measure(&s->speeds, &s->native.computer, &rounds, exp_interrupted, &s->why);
    exp_progress_step(s->progress, EXP_WORK_PHASES, SPEED_SECONDS);
    if (err)
        return err;
    err = try_counters(s);
    return !err || err == -EINTR || err == -ENOMEM ? err : time_patterns(s);
}

static int measure(struct session *s)
{
    const double seconds[EXP_N_WORKS] = { [EXP_WORK_PHASES] = SPEED_SECONDS, [EXP_WORK_ROUNDS] = TIMING_SECONDS };
    int err;

    s->progress = exp_main_progress(seconds);
    err = measure_all(s);
    exp_progress_free(s->progress);
    return err;
}

/* ---- the machine ---- */

static void today(char *text, size_t bytes)
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || !strftime(text, bytes, "%Y-%m-%d", &utc))
        exp_say(text, bytes, "an unknown day");
}

static void name_machine(struct session *s)
{
    struct sim_machine *m = &s->machine;
    char day[32];

    today(day, sizeof day);
    exp_say(m->calibrated, sizeof m->calibrated, "%s, %s", day, s->host.cpu.name);
    exp_say(m->description, sizeof m->description, "%s; caches from hwloc, latencies calibrated on %s",
            s->host.cpu.name, day);
}

/* Makes the machine from the measurements; fits the prefetchers, if wanted. */
static int fit(struct session *s)
{
    const unsigned sweeps = sweeps_of(&s->options);

    exp_speeds_apply(&s->speeds, &s->machine);
    name_machine(s);
    if (!sweeps)
        return 0;
    printf("fitting prefetchers: %s\n",
           s->evidence.is_timed ? "share of lines that are not as timed" : "mean error of what was counted");
    return exp_evidence_fit(&s->evidence, &s->machine, EXP_MACHINES_DIR, sweeps, exp_interrupted, stdout, &s->why);
}

static int print_machine(const void *session, FILE *out)
{
    const struct session *s = session;
    const char *file = *s->host.origin && s->host.known.n_levels ? s->host.origin : "assumed";
    const struct exp_note notes[] = {
        { "machine", "name description calibrated", "" },
        { "machine", "memory_latency_cycles memory_bandwidth_bytes_per_cycle memory_scattered_cycles clock_ghz",
          "measured" },
        { "cache", "size ways line", "hwloc" },
        { "cache", "latency_cycles bandwidth_bytes_per_cycle", "measured" },
        { "cache", "miss_buffers", "its CPU's file; at least the lines that were measured on their way" },
        { "core", "store_misses", "measured" },
        { "cache", "prefetch", sweeps_of(&s->options) ? "fitted" : file },
        { "", "", file },
    };

    return exp_print_machine_with_sources(
        &s->machine,
        "Calibrated by make calibrate. Behind each value is its source: measured, fitted to patterns.csv, hwloc, or a "
        "machine file, which says where it has it from.",
        notes, sizeof notes / sizeof notes[0], out);
}

static int print_here(void *session, FILE *out)
{
    return print_machine(session, out);
}

/* ---- output ---- */

static void print_timing(const struct session *s)
{
    const double *ticks = s->timing.place_ticks;

    printf("%zu lines looked for after patterns, %zu rounds; %zu of them near in a quarter to three quarters only\n"
           "ticks of the %s: L1 %.0f, L2 %.0f, beyond %.0f, memory %.0f; near: less than %.0f\n\n",
           s->evidence.times.n, s->timing.n_rounds, s->timing.n_undecided, ctr_tick_name(), ticks[EXP_PLACE_L1],
           ticks[EXP_PLACE_L2], ticks[EXP_PLACE_BEYOND], ticks[EXP_PLACE_MEMORY], s->timing.threshold);
}

static void print_measured(const struct session *s)
{
    printf("\n%s; %s; %s\n", s->host.cpu.name, s->pinned, s->pages);
    printf("before: %s\n\n", s->host.source);
    exp_speeds_print(&s->speeds, stdout);
    printf("\npatterns %s\n", s->how);
    if (s->evidence.is_timed)
        print_timing(s);
}

/* ---- files ---- */

static int print_host(const void *session, FILE *out)
{
    const struct session *s = session;
    int err = ctr_hostinfo_print(out);

    fprintf(out, "commit: %s\n", *s->options.commit ? s->options.commit : "unknown");
    fprintf(out, "%s%u\n%s%u\n", limit_key, s->options.limit, fit_key, sweeps_of(&s->options));
    fprintf(out, "measured on: %s\n", s->pinned);
    fprintf(out, "memory: %s\n", s->pages);
    fprintf(out, "patterns: %s\n", s->how);
    fprintf(out, "clock: %s, %.3f ticks per ns, %.0f ticks taken off\n", ctr_tick_name(), s->native.ticks_per_ns,
            s->native.overhead_ticks);
    if (s->evidence.is_timed)
        fprintf(out, "rounds: %zu\nnear: less than %.0f ticks\n", s->timing.n_rounds, s->timing.threshold);
    return err;
}

static int write_patterns(struct session *s)
{
    const struct exp_timed *times = &s->evidence.times;
    const bool is_timed = s->evidence.is_timed;
    struct exp_csv *csv =
        exp_csv_begin(&s->results.dir, is_timed ? &exp_timing_table.file : &exp_counting_table.file,
                      is_timed ? "which lines were near after patterns, by time" : "lines that patterns brought in");

    exp_csv_header(csv, "computer", "%s", s->host.cpu.name);
    for (size_t i = 0; i < times->n; i++)
        rec_put(csv, &exp_timing_table, &times->row[i]);
    exp_counting_put(&s->counted, csv);
    return exp_csv_close(csv, &s->why);
}

static int write_speeds(struct session *s)
{
    struct exp_csv *csv =
        exp_csv_begin(&s->results.dir, &exp_speeds_table.file, "latency and bandwidth of every level");

    exp_csv_header(csv, "computer", "%s", s->host.cpu.name);
    exp_csv_header(csv, "core clock", "%.2f GHz", s->speeds.clock_ghz);
    exp_speeds_put(&s->speeds, csv);
    return exp_csv_close(csv, &s->why);
}

/* Writes the measurements, and reads the evidence back. */
static int write_measured(struct session *s)
{
    char *path = exp_outdir_file(&s->results.dir, exp_counting_table.file.name);
    int err = write_patterns(s);

    if (!err)
        err = write_speeds(s);
    if (!err && !s->evidence.is_timed)
        err = exp_evidence_read(&s->evidence, path, &s->why);
    free(path);
    return err;
}

static int calibrate_here(struct session *s)
{
    int err = begin(s);

    if (!err)
        err = measure(s);
    if (!err)
        err = write_measured(s);
    if (err)
        return err;
    print_measured(s);
    err = fit(s);
    if (!err && exp_evidence_print(&s->evidence, &s->machine, !s->options.hides_rows, stdout))
        err = exp_fail(&s->why, -ENOMEM, "out of memory");
    return err;
}

static int write_files(void *session)
{
    struct session *s = session;
    int err = exp_outdir_write(&s->results.dir, SIM_MACHINE_FILE, print_machine, s, &s->why);

    return err ? err : exp_outdir_write(&s->results.dir, host_file, print_host, s, &s->why);
}

static int answer(void *session)
{
    struct session *s = session;

    printf("\ncalibration: %s; MACHINE=host uses it from now on\n", s->results.path);
    return *s->options.out ? write_out(s, print_here) : 0;
}

/* ---- of recorded patterns ---- */

/* Finds the record of a named machine. */
static int find_patterns(struct session *s)
{
    static const char *const known[] = { "patterns/patterns.csv", "prefetch/prefetch_by_time.csv" };
    const struct options *o = &s->options;

    if (*o->patterns) {
        exp_say(s->patterns, sizeof s->patterns, "%s", o->patterns);
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        exp_say(s->patterns, sizeof s->patterns, "results/reference/%s/%s", s->machine.name, known[i]);
        if (!access(s->patterns, R_OK))
            return 0;
    }
    return exp_fail(&s->why, -ENOENT, "no patterns are recorded of %s: give a file of some (PATTERNS=...)",
                    s->machine.name);
}

static int print_fitted(void *session, FILE *out)
{
    const struct session *s = session;
    char *origin = exp_machine_origin(s->options.machine), *fitted = exp_format("fitted to %s", s->patterns);
    const bool is_fitted = s->options.fit && s->options.fit != FIT_AUTO;
    const struct exp_note notes[] = { { "machine", "name description", "" },
                                      { "cache", is_fitted ? "prefetch" : "-", fitted },
                                      { "", "", origin } };
    int err = exp_print_machine_with_sources(
        &s->machine,
        "Behind each value is its source: what make calibrate fitted it to, or the machine\n"
        "# file which says where it has it from.",
        notes, sizeof notes / sizeof notes[0], out);

    free(fitted);
    free(origin);
    return err;
}

static int calibrate_recorded(struct session *s)
{
    const struct options *o = &s->options;
    const unsigned sweeps = o->fit == FIT_AUTO ? 0 : o->fit;
    int err = exp_machine_find(&s->machine, o->machine, o->results, &s->why);

    if (!err && s->machine.n_levels < 2)
        err = exp_fail(&s->why, -EINVAL, "%s: patterns need a machine with two levels of caches", s->machine.name);
    if (!err)
        err = find_patterns(s);
    if (!err)
        err = exp_evidence_read(&s->evidence, s->patterns, &s->why);
    if (!err && sweeps)
        err = exp_evidence_fit(&s->evidence, &s->machine, NULL, sweeps, exp_interrupted, stdout, &s->why);
    if (err)
        return err;
    printf("%s on %s\n", s->patterns, s->machine.name);
    if (exp_evidence_print(&s->evidence, &s->machine, !o->hides_rows, stdout))
        return exp_fail(&s->why, -ENOMEM, "out of memory");
    return *o->out ? write_out(s, print_fitted) : 0;
}

/* ---- the program ---- */

static int work(void *session)
{
    struct session *s = session;

    return is_recorded(&s->options) ? calibrate_recorded(s) : calibrate_here(s);
}

/* ---- the screen ---- */

/* Says the latencies from the nearest level to memory. */
static void say_speeds(const struct session *s, struct exp_screen *screen)
{
    const struct exp_speeds *v = &s->speeds;
    char text[512] = "";

    for (size_t k = 0; k < v->n; k++)
        exp_say_more(text, sizeof text, "%s%s %.*f",
                     !k             ? ""
                     : k + 1 < v->n ? ", "
                                    : " and ",
                     v->level[k].name, exp_screen_digits(v->level[k].latency_ns * v->clock_ghz),
                     v->level[k].latency_ns * v->clock_ghz);
    exp_screen_say(screen, EXP_STRONG,
                   "A load waits, in cycles of %.2f GHz, for %s. Simulations of this computer use these numbers from "
                   "now on.",
                   v->clock_ghz, text);
}

static void put_speeds(const struct exp_speeds *v, struct exp_screen *screen)
{
    exp_screen_row(screen, "level");
    exp_screen_cell(screen, EXP_PLAIN, "ns");
    exp_screen_cell(screen, EXP_PLAIN, "cycles");
    for (size_t i = 0; ctr_streams[i].name; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%s GB/s", ctr_streams[i].name);
    for (size_t k = 0; k < v->n; k++) {
        exp_screen_row(screen, "%s", v->level[k].name);
        exp_screen_number(screen, EXP_PLAIN, v->level[k].latency_ns);
        exp_screen_number(screen, EXP_PLAIN, v->level[k].latency_ns * v->clock_ghz);
        for (size_t i = 0; ctr_streams[i].name; i++)
            exp_screen_number(screen, EXP_PLAIN,
                              v->level[k].bytes_per_ns[i] > 0 ? v->level[k].bytes_per_ns[i] : (double)NAN);
    }
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    const bool is_here = !is_recorded(&s->options);
    char text[512];

    exp_evidence_say(&s->evidence, text, sizeof text);
    if (is_here) {
        exp_screen_title(screen, "Calibration of %s", s->host.cpu.name);
        say_speeds(s, screen);
        exp_screen_say(screen, EXP_PLAIN, "%s", text);
        exp_screen_note(screen, "trust", "%s; %s; patterns %s", s->pinned, s->pages, s->how);
        put_speeds(&s->speeds, screen);
        exp_screen_open(screen, "%s/%s", s->results.path, SIM_MACHINE_FILE);
    } else {
        exp_screen_title(screen, "%s on %s", s->patterns, s->machine.name);
        exp_screen_say(screen, EXP_STRONG, "%s", text);
    }
    if (*s->options.out)
        exp_screen_open(screen, "%s", s->options.out);
    if (is_here)
        exp_screen_next(screen, "make experiment MODEL=vgg16", "simulated with these numbers");
    exp_screen_next(screen, "MORE=1 behind this command", "a line for every pattern");
}

static void release(void *session)
{
    struct session *s = session;

    exp_native_release(&s->native);
    exp_recorded_release(&s->counted);
    exp_evidence_release(&s->evidence);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MACHINE",
              "host (default): patterns are walked on this computer, unless PATTERNS are given; or a name in "
              "sim/machines, or the path of a .cfg file",
              machine, "host"),
    EXP_PATH("PATTERNS",
             "recorded counts or times of patterns, instead of walking them here (default for a named machine: what "
             "results/reference/<machine> has)",
             patterns, ""),
    EXP_NUMBER("FIT",
               "sweeps of the fit over all parameters of the prefetchers at most; 0: none (default: 2 where patterns "
               "are walked here, else 0)",
               fit, FIT_AUTO, 0, 9),
    EXP_WORD("ROWS", "no: no line for every pattern", hides_rows, 0, "yes", "no"),
    EXP_NUMBER("LIMIT", "seconds after which no round over the patterns begins, but for the first three (default 60)",
               limit, 60, 1, 1000000),
    EXP_PATH("OUT",
             "where the machine is written to, with every value's source, such as my.cfg (default: nowhere else than "
             "with the results)",
             out, ""),
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/calibration/, where other programs "
               "look for it",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_calibrate = {
    .name = "calibrate",
    .asks = "Measure this computer's caches and prefetchers",
    .wants = { "machines: measure this computer's latencies and prefetchers|make calibrate" },
    .takes = "Two minutes. With MACHINE=zen3 or another name, recorded patterns are fitted instead.",
    .examples = { "make calibrate OUT=my.cfg", "make calibrate MACHINE=zen3" },
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    .results_at = offsetof(struct session, results),
    .tables = { &exp_timing_table, &exp_counting_table, &exp_speeds_table },
    .about_tables =
        "Without counters, patterns.csv has times of single lines; with counters, counts of whole patterns.",
    .prepare = prepare,
    .work = work,
    .write = write_files,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
