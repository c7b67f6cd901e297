#include "sim/programs/cachesim_progress.h"

#include <string.h>
#include <sys/stat.h>

static const double measured_s = 1, long_s = 60;

/* The accesses that a binary trace announces; 0 if it does not. */
static uint64_t announced_accesses(const char *path)
{
    uint8_t tail[SIM_BINARY_MAX_RECORD_BYTES];
    FILE *in = fopen(path, "rb");
    uint64_t total = 0;

    if (!in)
        return 0;
    if (!fseeko(in, -(off_t)sizeof tail, SEEK_END) || !fseeko(in, 0, SEEK_SET))
        total = sim_binary_total(tail, fread(tail, 1, sizeof tail, in));
    fclose(in);
    return total;
}

void cachesim_progress_start(struct cachesim_progress *p, const char *trace, enum sim_trace_format format,
                             uint64_t passes)
{
    struct stat s;

    *p = (struct cachesim_progress){ .trace = trace, .is_in_bytes = format != SIM_TRACE_BINARY, .passes = passes };
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    if (!strcmp(trace, "-") || stat(trace, &s) || !S_ISREG(s.st_mode))
        return;
    p->per_pass = p->is_in_bytes ? (double)s.st_size : (double)announced_accesses(trace);
}

static void announce(const struct cachesim_progress *p, double left_s)
{
    double minutes = left_s / 60, hours = minutes / 60;

    fprintf(stderr, "cachesim: %s: about %.0f %s to go at the rate of the first second; Ctrl-C ends it\n", p->trace,
            hours >= 2 ? hours : minutes, hours >= 2 ? "hours" : "minutes");
}

/* Looks at the clock until the first second is over. */
static void look(struct cachesim_progress *p)
{
    struct timespec now;
    double elapsed_s, done, left;

    if (!(p->per_pass > 0))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    elapsed_s = (double)(now.tv_sec - p->start.tv_sec) + (double)(now.tv_nsec - p->start.tv_nsec) * 1e-9;
    done = (double)p->pass * p->per_pass + (double)p->done;
    if (elapsed_s < measured_s || !(done > 0))
        return;
    left = (double)p->passes * p->per_pass - done;
    if (left * elapsed_s > long_s * done)
        announce(p, left * elapsed_s / done);
    p->per_pass = 0;
}

void cachesim_progress_pass(struct cachesim_progress *p, uint64_t pass)
{
    p->pass = pass;
    p->done = 0;
}

void cachesim_progress_add(struct cachesim_progress *p, uint64_t accesses)
{
    if (p->is_in_bytes)
        return;
    p->done += accesses;
    look(p);
}

void cachesim_progress_read(struct cachesim_progress *p, uint64_t bytes)
{
    if (!p->is_in_bytes)
        return;
    p->done = bytes;
    look(p);
}
