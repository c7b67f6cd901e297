#include "sim/programs/cachesim_progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double first_s = 1, unknown_first_s = 10, line_every_s = 60;

/* Accesses or bytes between two looks at the clock; and the cost of a pass in accesses. */
enum { LOOK_EVERY = 1 << 16, PASS_COSTS = 1 << 10 };

/* Returns the accesses that a binary trace announces; 0: none announced. */
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

void cachesim_progress_start(struct cachesim_progress *p, const char *trace, const char *path,
                             enum sim_trace_format format, uint64_t passes)
{
    struct stat s;

    *p = (struct cachesim_progress){
        .trace = trace,
        .is_in_bytes = format != SIM_TRACE_BINARY,
        .is_on_terminal = isatty(STDERR_FILENO),
        .passes = passes,
        .next_s = first_s,
    };
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    if (!strcmp(path, "-") || stat(path, &s) || !S_ISREG(s.st_mode))
        return;
    p->per_pass = p->is_in_bytes ? (double)s.st_size : (double)announced_accesses(path);
}

/* Writes a time in suitable units. */
static void say_time(char *text, size_t bytes, double seconds)
{
    const double minutes = seconds / 60, hours = minutes / 60;

    if (minutes < 2)
        snprintf(text, bytes, "%.0f seconds", seconds);
    else
        snprintf(text, bytes, "%.0f %s", hours >= 2 ? hours : minutes, hours >= 2 ? "hours" : "minutes");
}

/* Writes the known progress: the done part, and the rest. */
static void say(const struct cachesim_progress *p, char *text, size_t bytes, double done, double left_s)
{
    char left[32];

    if (p->per_pass > 0) {
        say_time(left, sizeof left, left_s);
        snprintf(text, bytes, "%.0f %%, about %s to go", 100 * done / ((double)p->passes * p->per_pass), left);
    } else {
        snprintf(text, bytes, "%.0f million %s so far", done / 1e6, p->is_in_bytes ? "bytes" : "accesses");
    }
}

static void print(struct cachesim_progress *p, double elapsed_s)
{
    const double done = (double)p->pass * p->per_pass + (double)p->done;
    const double left_s = done > 0 ? ((double)p->passes * p->per_pass - done) * elapsed_s / done : 0;
    const bool is_known = p->per_pass > 0;
    char text[96];

    say(p, text, sizeof text, done, left_s);
    if (p->is_on_terminal) {
        fprintf(stderr, "\rcachesim: %s: %s\033[K", p->trace, text);
        p->has_line = true;
        p->next_s = elapsed_s + 1;
        return;
    }
    if (p->next_s > first_s || left_s > line_every_s)
        fprintf(stderr, "cachesim: %s: %s; Ctrl-C ends it\n", p->trace, text);
    p->next_s = elapsed_s + line_every_s;
    if (!is_known && elapsed_s < unknown_first_s)
        p->next_s = unknown_first_s;
}

/* Looks at the clock, if the work since the last look pays for the look. */
static void look(struct cachesim_progress *p)
{
    struct timespec now;
    double elapsed_s;

    if (p->unseen < LOOK_EVERY)
        return;
    p->unseen = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    elapsed_s = (double)(now.tv_sec - p->start.tv_sec) + (double)(now.tv_nsec - p->start.tv_nsec) * 1e-9;
    if (elapsed_s >= p->next_s)
        print(p, elapsed_s);
}

void cachesim_progress_end(struct cachesim_progress *p)
{
    if (p->has_line)
        fputs("\r\033[K", stderr);
    p->has_line = false;
}

void cachesim_progress_pass(struct cachesim_progress *p, uint64_t pass)
{
    p->pass = pass;
    p->done = 0;
    p->unseen += PASS_COSTS;
}

void cachesim_progress_add(struct cachesim_progress *p, uint64_t accesses)
{
    if (p->is_in_bytes)
        return;
    p->done += accesses;
    p->unseen += accesses;
    look(p);
}

void cachesim_progress_read(struct cachesim_progress *p, uint64_t bytes)
{
    if (!p->is_in_bytes)
        return;
    p->unseen += bytes - p->done;
    p->done = bytes;
    look(p);
}
