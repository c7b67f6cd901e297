#define _GNU_SOURCE /* RUSAGE_THREAD */

#include "experiments/measure/exp_disturbance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"

enum { PEAK_STEPS = 1 << 14, PEAK_SAMPLES = 20 }; /* some 100 us each */

/* Beyond these a machine is not quiet. Fast and slow rounds lie a few per cent apart on any. */
static const double most_steal_percent = 1, most_waited_percent = 1, most_median_percent = 5, most_peak_percent = 5;

/* Opens <proc>/<name>; NULL if it is not there. */
static FILE *open_table(const char *proc, const char *name)
{
    char *path = exp_format("%s/%s", proc, name);
    FILE *in = path ? fopen(path, "r") : NULL;

    free(path);
    return in;
}

/*
 * Reads the first line of stat: cpu user nice system idle iowait irq softirq steal ...; guests' time is in user's
 * already.
 */
static void read_steal(struct exp_disturbance_start *s, const char *proc)
{
    FILE *in = open_table(proc, "stat");
    double ticks[8], sum = 0;
    bool is_read = in && fscanf(in, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                                &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8;

    for (size_t i = 0; i < 8 && is_read; i++)
        sum += ticks[i];
    s->steal = is_read ? ticks[7] : (double)NAN;
    s->cpu_time = is_read ? sum : (double)NAN;
    if (in)
        fclose(in);
}

/* Reads schedstat: ns on a CPU, ns ready and waiting for one, how often. */
static void read_waited(struct exp_disturbance_start *s, const char *proc)
{
    FILE *in = open_table(proc, "thread-self/schedstat");
    double ran;

    if (!in || fscanf(in, "%lf %lf", &ran, &s->waited) != 2)
        s->waited = (double)NAN;
    if (in)
        fclose(in);
}

/* Reads a line of sched: "se.nr_migrations   :   12". */
static void read_migrations(struct exp_disturbance_start *s, const char *proc)
{
    static const char name[] = "se.nr_migrations";
    FILE *in = open_table(proc, "thread-self/sched");
    char line[160];

    s->migrations = (double)NAN;
    while (in && fgets(line, sizeof line, in)) {
        const char *colon = strchr(line, ':');

        if (!strncmp(line, name, strlen(name)) && colon)
            s->migrations = atof(colon + 1);
    }
    if (in)
        fclose(in);
}

static void read_switches(struct exp_disturbance_start *s)
{
    struct rusage usage;

    s->switches = getrusage(RUSAGE_THREAD, &usage) ? (double)NAN : (double)usage.ru_nivcsw;
}

static struct exp_disturbance_start read_all(const char *proc)
{
    struct exp_disturbance_start s = { .wall_ns = ctr_now_ns() };

    read_steal(&s, proc);
    read_waited(&s, proc);
    read_migrations(&s, proc);
    read_switches(&s);
    return s;
}

/* Returns the best of some short samples: what the core can do now. */
static double sample_peak(const struct conv_peak *peak)
{
    uint64_t fastest = UINT64_MAX;
    volatile float sink = 0;

    for (int i = 0; i < PEAK_SAMPLES && peak; i++) {
        uint64_t start = ctr_thread_ns();

        sink = peak->fma(PEAK_STEPS);
        start = ctr_thread_ns() - start;
        fastest = start < fastest ? start : fastest;
    }
    (void)sink;
    return peak ? peak->flop_per_step * PEAK_STEPS / (double)fastest : (double)NAN;
}

void exp_disturbance_begin(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak)
{
    *d = (struct exp_disturbance){ .peak_before = sample_peak(peak), .median_percent = (double)NAN };
    d->start = read_all(proc);
}

void exp_disturbance_end(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak)
{
    const struct exp_disturbance_start now = read_all(proc), *start = &d->start;

    d->steal_percent = 100 * (now.steal - start->steal) / fmax(now.cpu_time - start->cpu_time, 1);
    d->waited_percent = 100 * (now.waited - start->waited) / fmax((double)(now.wall_ns - start->wall_ns), 1);
    d->switches = now.switches - start->switches;
    d->migrations = now.migrations - start->migrations;
    d->peak_after = sample_peak(peak);
}

static double peak_change_percent(const struct exp_disturbance *d)
{
    return 100 * fabs(d->peak_after - d->peak_before) / d->peak_before;
}

bool exp_disturbance_is_large(const struct exp_disturbance *d)
{
    return d->steal_percent > most_steal_percent || d->waited_percent > most_waited_percent ||
           d->median_percent > most_median_percent || d->migrations > 0 || peak_change_percent(d) > most_peak_percent;
}

void exp_disturbance_describe(const struct exp_disturbance *d, char *text, size_t bytes)
{
    const struct {
        const char *format;
        double value, second;
    } parts[] = {
        { ": steal %.1f %%", d->steal_percent, 0 },
        { ", %.1f %% of the time waiting for the core", d->waited_percent, 0 },
        { ", %.0f involuntary context switches", d->switches, 0 },
        { ", %.0f moves to another core", d->migrations, 0 },
        { ", FMA peak %.1f GFLOP/s before and %.1f after", d->peak_before, d->peak_after },
        { ", medians %.1f %% above the fastest", d->median_percent, 0 },
    };
    size_t used;

    exp_say(text, bytes, "%s", exp_disturbance_is_large(d) ? "disturbed" : "quiet");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        used = strlen(text);
        if (isfinite(parts[i].value + parts[i].second))
            snprintf(text + used, bytes - used, parts[i].format, parts[i].value, parts[i].second);
    }
}
