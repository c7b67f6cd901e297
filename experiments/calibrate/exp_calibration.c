#define _GNU_SOURCE
#include "experiments/calibrate/exp_calibration.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_tick.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_text.h"
#include "experiments/calibrate/exp_timing.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_options_shared.h"

enum {
    LEAST_SPEED_ROUNDS = 3,
    MOST_SPEED_ROUNDS = 25,
    SPEED_SECONDS = 10,
    TIMING_SECONDS = 15,
    COUNTED_PASSES = 5,
    USUAL_SWEEPS = 2,
    USUAL_LIMIT = 60
};

/* ---- what is there already ---- */

static const char host_file[] = "host.txt", limit_key[] = "limit: ", fit_key[] = "fit: ";

static unsigned sweeps_of(const struct exp_calibrate_options *o)
{
    return o->fit == EXP_FIT_AUTO ? USUAL_SWEEPS : o->fit;
}

static unsigned long number_after(const char *text, const char *key, unsigned long usual)
{
    const char *found = exp_text_after(text, key);

    return found ? strtoul(found, NULL, 10) : usual;
}

int exp_calibration_check(const char *path, const struct exp_calibrate_options *o, struct exp_why *why)
{
    char *text = exp_text_of(path, host_file);
    unsigned long limit, fit;
    int err = 0;

    if (!text)
        return exp_fail(why, -ENOMEM, "out of memory");
    limit = number_after(text, limit_key, USUAL_LIMIT); /* older calibrations do not say so */
    fit = number_after(text, fit_key, USUAL_SWEEPS);
    if (*text && (limit > o->limit || fit > sweeps_of(o)))
        err =
            exp_fail(why, -EEXIST,
                     "'%s' holds a calibration of LIMIT=%lu FIT=%lu, and this run would replace it by one of less: set "
                     "another RESULTS, or remove the folder",
                     path, limit, fit);
    free(text);
    return err;
}

/* ---- its beginning and end ---- */

static void pin(struct exp_calibration *h)
{
    char why[120];
    int core, err = ctr_pin(-1, &core, why, sizeof why);

    if (err)
        exp_say(h->pinned, sizeof h->pinned, "not pinned (%s)", why);
    else
        exp_say(h->pinned, sizeof h->pinned, "core %d, pinned", core);
}

/* The most that is read to push lines out of L1 or L2, or of what is inside L3 and so on. */
static size_t sweep_bytes(const struct exp_calibration *h)
{
    const size_t here = 2 * (size_t)sim_level_bytes(&h->machine.level[1]), speeds = exp_speeds_sweep_bytes(&h->speeds);

    return here > speeds ? here : speeds;
}

int exp_calibration_begin(struct exp_calibration *h, struct exp_why *why)
{
    int err = sim_here_look(&h->host, why->text, sizeof why->text);

    if (!err)
        err = sim_here_find(&h->host, NULL, EXP_MACHINES_DIR, why->text, sizeof why->text);
    if (!err)
        err = sim_here_machine(&h->host, &h->machine, why->text, sizeof why->text);
    if (!err && h->machine.n_levels < 2)
        err = exp_fail(why, -ENOTSUP, "hwloc shows one level of caches only: patterns need two");
    if (err)
        return err;
    pin(h);
    exp_speeds_plan(&h->speeds, &h->machine);
    err = exp_native_init(&h->native, exp_speeds_set_bytes(&h->speeds), sweep_bytes(h), why);
    if (!err)
        exp_native_describe_pages(&h->native, h->pages, sizeof h->pages);
    return err;
}

void exp_calibration_end(struct exp_calibration *h)
{
    exp_native_release(&h->native);
    exp_recorded_release(&h->counted);
    exp_evidence_release(&h->evidence);
}

/* ---- measuring ---- */

void exp_calibration_announce(double seconds[EXP_N_WORKS])
{
    seconds[EXP_WORK_PHASES] = SPEED_SECONDS;
    seconds[EXP_WORK_ROUNDS] = TIMING_SECONDS;
}

struct reporter {
    struct exp_progress *progress;
    double reported; /* share */
};

static void report(void *reporter, double share)
{
    struct reporter *r = reporter;

    exp_progress_step(r->progress, EXP_WORK_ROUNDS, (share - r->reported) * TIMING_SECONDS);
    r->reported = share;
}

static int time_patterns(struct exp_calibration *h, const struct exp_calibrate_options *o, struct exp_progress *p,
                         struct exp_why *why)
{
    const struct exp_rounds rounds = exp_rounds_of(0, 3, 41, o->limit);
    struct reporter reporter = { .progress = p };
    const struct exp_timing how = {
        .computer = &h->native.computer,
        .l1_bytes = (size_t)sim_level_bytes(&h->machine.level[0]),
        .l2_bytes = (size_t)sim_level_bytes(&h->machine.level[1]),
        .least = rounds.least,
        .most = rounds.most,
        .limit_ns = rounds.limit_ns,
        .now_ns = ctr_now_ns,
        .interrupted = exp_interrupted,
        .progress = report,
        .ctx = &reporter,
    };
    int err;

    exp_progress_begin(p, EXP_WORK_ROUNDS, "prefetchers", "timing lines after patterns");
    exp_progress_limit(p, EXP_WORK_ROUNDS, (double)rounds.limit_ns * 1e-9);
    h->evidence.is_timed = true;
    err = exp_probes_list(&h->evidence.times);
    if (err)
        return exp_fail(why, err, "out of memory");
    return exp_timing_run(&how, &h->evidence.times, &h->timing, why);
}

static int count_patterns(struct exp_calibration *h, struct ctr_counters *c, struct exp_progress *p,
                          struct exp_why *why)
{
    struct reporter reporter = { .progress = p };
    const struct exp_counting how = {
        .counters = c,
        .machine = &h->machine,
        .n_passes = COUNTED_PASSES,
        .interrupted = exp_interrupted,
        .progress = report,
        .ctx = &reporter,
    };

    exp_progress_begin(p, EXP_WORK_ROUNDS, "prefetchers", "counting lines of patterns");
    exp_say(h->how, sizeof h->how, "by counters (%s)", c->cpu.name);
    return exp_counting_run(&how, &h->counted, why);
}

/* Counts if that can be done. Returns 0, -EINTR or -ENOMEM, or another error with the reason in h->how. */
static int try_counters(struct exp_calibration *h, struct exp_progress *p, struct exp_why *why)
{
    struct ctr_counters *c = calloc(1, sizeof *c);
    int err = c ? exp_counting_open(c, NULL, CTR_GROUPS_DIR, NULL, why) : -ENOMEM;

    if (!err) {
        err = count_patterns(h, c, p, why);
        ctr_counters_close(c);
    }
    free(c);
    if (err)
        exp_say(h->how, sizeof h->how, "by time alone: %s", why->text);
    return err;
}

int exp_calibration_measure(struct exp_calibration *h, const struct exp_calibrate_options *o, struct exp_progress *p,
                            struct exp_why *why)
{
    const uint64_t limit_s = o->limit / 4 < SPEED_SECONDS ? o->limit / 4 : SPEED_SECONDS;
    const struct exp_rounds rounds = { LEAST_SPEED_ROUNDS, MOST_SPEED_ROUNDS, limit_s * 1000000000u + 1 };
    int err;

    exp_progress_begin(p, EXP_WORK_PHASES, "caches", "latencies and bandwidths");
    err = exp_speeds_measure(&h->speeds, &h->native.computer, &rounds, exp_interrupted, why);
    exp_progress_step(p, EXP_WORK_PHASES, SPEED_SECONDS);
    if (err)
        return err;
    err = try_counters(h, p, why);
    return !err || err == -EINTR || err == -ENOMEM ? err : time_patterns(h, o, p, why);
}

/* ---- the machine ---- */

static void today(char *text, size_t bytes)
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || !strftime(text, bytes, "%Y-%m-%d", &utc))
        exp_say(text, bytes, "an unknown day");
}

static void name_machine(struct exp_calibration *h)
{
    struct sim_machine *m = &h->machine;
    char day[32];

    today(day, sizeof day);
    exp_say(m->calibrated, sizeof m->calibrated, "%s, %s", day, h->host.cpu.name);
    exp_say(m->description, sizeof m->description, "%s; caches from hwloc, latencies calibrated on %s",
            h->host.cpu.name, day);
}

int exp_calibration_fit(struct exp_calibration *h, const struct exp_calibrate_options *o, FILE *log,
                        struct exp_why *why)
{
    const unsigned sweeps = sweeps_of(o);

    exp_speeds_apply(&h->speeds, &h->machine);
    name_machine(h);
    h->is_fitted = sweeps > 0;
    if (!sweeps)
        return 0;
    fprintf(log, "fitting prefetchers: %s\n",
            h->evidence.is_timed ? "share of lines that are not as timed" : "mean error of what was counted");
    return exp_evidence_fit(&h->evidence, &h->machine, EXP_MACHINES_DIR, sweeps, exp_interrupted, log, why);
}

int exp_calibration_print_machine(const void *here, FILE *out)
{
    const struct exp_calibration *h = here;
    const char *file = *h->host.origin && h->host.known.n_levels ? h->host.origin : "assumed";
    const struct exp_note notes[] = {
        { "machine", "name description calibrated", "" },
        { "machine", "memory_latency_cycles memory_bandwidth_bytes_per_cycle clock_ghz", "measured" },
        { "cache", "size ways line", "hwloc" },
        { "cache", "latency_cycles bandwidth_bytes_per_cycle", "measured" },
        { "cache", "prefetch", h->is_fitted ? "fitted" : file },
        { "", "", file },
    };

    return exp_print_machine_with_sources(
        &h->machine,
        "Calibrated by make calibrate. Behind each value is its source: measured, fitted to patterns.csv, "
        "hwloc, or a machine file, which says where it has it from.",
        notes, sizeof notes / sizeof notes[0], out);
}

/* ---- what people see ---- */

static void print_timing(const struct exp_calibration *h, FILE *out)
{
    const double *ticks = h->timing.place_ticks;

    fprintf(out,
            "%zu lines looked for after patterns, %zu rounds; %zu of them near in a quarter to three quarters only\n"
            "ticks of the %s: L1 %.0f, L2 %.0f, beyond %.0f, memory %.0f; near: less than %.0f\n\n",
            h->evidence.times.n, h->timing.n_rounds, h->timing.n_undecided, ctr_tick_name(), ticks[EXP_PLACE_L1],
            ticks[EXP_PLACE_L2], ticks[EXP_PLACE_BEYOND], ticks[EXP_PLACE_MEMORY], h->timing.threshold);
}

void exp_calibration_print(struct exp_calibration *h, FILE *out)
{
    fprintf(out, "\n%s; %s; %s\n", h->host.cpu.name, h->pinned, h->pages);
    fprintf(out, "before: %s\n\n", h->host.source);
    exp_speeds_print(&h->speeds, out);
    fprintf(out, "\npatterns %s\n", h->how);
    if (h->evidence.is_timed)
        print_timing(h, out);
}

/* ---- files ---- */

struct writing {
    const struct exp_calibration *h;
    const struct exp_calibrate_options *o;
};

static int print_host(const void *writing, FILE *out)
{
    const struct writing *w = writing;
    int err = ctr_hostinfo_print(out);

    fprintf(out, "commit: %s\n", *w->o->commit ? w->o->commit : "unknown");
    fprintf(out, "%s%u\n%s%u\n", limit_key, (unsigned)w->o->limit, fit_key, sweeps_of(w->o));
    fprintf(out, "measured on: %s\n", w->h->pinned);
    fprintf(out, "memory: %s\n", w->h->pages);
    fprintf(out, "patterns: %s\n", w->h->how);
    fprintf(out, "clock: %s, %.3f ticks per ns, %.0f ticks taken off\n", ctr_tick_name(), w->h->native.ticks_per_ns,
            w->h->native.overhead_ticks);
    if (w->h->evidence.is_timed)
        fprintf(out, "rounds: %zu\nnear: less than %.0f ticks\n", w->h->timing.n_rounds, w->h->timing.threshold);
    return err;
}

static int write_patterns(const struct exp_calibration *h, const struct exp_outdir *dir, struct exp_why *why)
{
    const bool is_timed = h->evidence.is_timed;
    struct exp_csv *csv;
    int err = exp_csv_create(
        &csv, dir, is_timed ? &exp_timing_file : &exp_counting_file,
        is_timed ? "which lines were near after patterns, by time" : "lines that patterns brought in", why);

    if (err)
        return err;
    exp_csv_header(csv, "computer", "%s", h->host.cpu.name);
    if (is_timed)
        exp_timing_write(&h->evidence.times, csv);
    else
        exp_counting_write(&h->counted, csv);
    return exp_csv_close(csv, why);
}

static int write_speeds(const struct exp_calibration *h, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_speeds_file, "latency and bandwidth of every level", why);

    if (err)
        return err;
    exp_csv_header(csv, "computer", "%s", h->host.cpu.name);
    exp_csv_header(csv, "core clock", "%.2f GHz", h->speeds.clock_ghz);
    exp_speeds_write(&h->speeds, csv);
    return exp_csv_close(csv, why);
}

int exp_calibration_write_measured(struct exp_calibration *h, const struct exp_outdir *dir, struct exp_why *why)
{
    char *path = exp_outdir_file(dir, exp_counting_file.name);
    int err = path ? write_patterns(h, dir, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err)
        err = write_speeds(h, dir, why);
    if (!err && !h->evidence.is_timed)
        err = exp_evidence_read(&h->evidence, path, why);
    free(path);
    return err;
}

int exp_calibration_write_machine(const struct exp_calibration *h, const struct exp_calibrate_options *o,
                                  const struct exp_outdir *dir, struct exp_why *why)
{
    int err = exp_outdir_write(dir, SIM_MACHINE_FILE, exp_calibration_print_machine, h, why);

    return err ? err : exp_outdir_write(dir, host_file, print_host, &(struct writing){ h, o }, why);
}

void exp_calibration_document(FILE *out)
{
    fprintf(out,
            "\nWithout counters, patterns.csv has times of single lines; with counters, counts of whole patterns.\n");
    exp_csv_document(&exp_timing_file, out);
    exp_csv_document(&exp_counting_file, out);
    exp_csv_document(&exp_speeds_file, out);
}

/* ---- machine files with sources ---- */

enum { NOTE_COLUMN = 30 };

static bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

static const char *find(const struct exp_note *note, size_t n, const char *section, const char *key, size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(section, note[i].section, strlen(note[i].section)) &&
            (!*note[i].keys || has_word(note[i].keys, key, length)))
            return note[i].source;
    }
    return "";
}

static void print_lines(char *text, const struct exp_note *note, size_t n, FILE *out)
{
    const char *section = "";

    for (char *line = text, *next; *line; line = next) {
        const char *source = "";
        char *end = strchr(line, '\n');

        next = end + 1;
        *end = '\0';
        if (*line == '[')
            section = line + 1;
        else if (*line)
            source = find(note, n, section, line, strcspn(line, " "));
        if (*source)
            fprintf(out, "%-*s # %s\n", NOTE_COLUMN, line, source);
        else
            fprintf(out, "%s\n", line);
    }
}

int exp_print_machine_with_sources(const struct sim_machine *m, const char *header, const struct exp_note *note,
                                   size_t n_notes, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = exp_memory_open(&text, &bytes);
    int err = memory ? sim_machine_print(m, memory) : -ENOMEM;

    if (memory && fclose(memory) && !err)
        err = -ENOMEM;
    if (!err) {
        fprintf(out, "# %s\n", header);
        print_lines(text, note, n_notes, out);
        err = fflush(out) || ferror(out) ? -EIO : 0;
    }
    free(text);
    return err;
}
