#include "sim/programs/cachesim_timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/programs/cachesim_file.h"
#include "sim/report/json.h"

/*
 * Points in the order of accesses. When there are too many points, every second point is dropped, and the interval
 * doubles.
 */
enum { MAX_POINTS = 1 << 11, MAX_SLICES = 1 << 12, FIRST_INTERVAL = 1 << 10, PROCESS = 1, ROW = 100 };

struct point {
    uint64_t at; /* accesses before */
    struct sim_cell sum;
};

/* Begins at an access; ends where the next slice begins. */
struct slice {
    unsigned phase;
    struct point begin;
};

struct cachesim_timeline {
    struct sim_sink sink; /* first */
    struct sim_sink *next;
    const struct sim_machine *machine;
    const struct sim_hierarchy *h;
    const struct cachesim_options *o;
    struct point *point; /* [n_points] of MAX_POINTS */
    struct slice *slice; /* [n_slices] of MAX_SLICES */
    size_t n_points, n_slices;
    uint64_t n_accesses, interval, due;
    uint8_t fetch_tag; /* tag of uncounted fetches; SIM_MAX_TAGS: all accesses count */
};

static struct point look(const struct cachesim_timeline *t)
{
    return (struct point){ t->n_accesses, sim_stats_total(sim_hierarchy_stats(t->h)) };
}

static void thin_out(struct cachesim_timeline *t)
{
    for (size_t i = 0; i < MAX_POINTS / 2; i++)
        t->point[i] = t->point[2 * i + 1];
    t->n_points = MAX_POINTS / 2;
    t->interval *= 2;
}

static void add_point(struct cachesim_timeline *t)
{
    if (t->n_points == MAX_POINTS)
        thin_out(t);
    t->point[t->n_points++] = look(t);
    t->due = t->n_accesses + t->interval;
}

/* Begins a slice where the phase changes; of more changes than there is room for, the last slice has the rest. */
static void note_phase(struct cachesim_timeline *t, unsigned phase)
{
    const bool is_same = t->n_slices && t->slice[t->n_slices - 1].phase == phase;

    if (!is_same && t->n_slices < MAX_SLICES)
        t->slice[t->n_slices++] = (struct slice){ phase, look(t) };
}

/* Passes on runs of the phase of the first run. */
static void hand_on(struct cachesim_timeline *t, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    uint64_t n = 0;

    for (size_t i = 0; i < n_runs; i++)
        n += run[i].tag == t->fetch_tag ? 0 : run[i].count;
    if (n)
        note_phase(t, run[0].phase);
    sim_emit(t->next, run, n_runs, n_times);
    t->n_accesses += n * n_times;
    if (t->n_accesses >= t->due)
        add_point(t);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct cachesim_timeline *t = (struct cachesim_timeline *)self;

    for (size_t i = 0, n; i < n_runs; i += n) {
        for (n = 1; i + n < n_runs && (n_times > 1 || run[i + n].phase == run[i].phase); n++)
            ;
        hand_on(t, run + i, n, n_times);
    }
}

int cachesim_timeline_new(struct cachesim_timeline **to, const struct sim_machine *m, const struct sim_hierarchy *h,
                          struct sim_sink *next, const struct cachesim_options *o)
{
    struct cachesim_timeline *t = calloc(1, sizeof *t);

    *to = t;
    if (!t)
        return -ENOMEM;
    *t = (struct cachesim_timeline){ .sink = { accept },
                                     .next = next,
                                     .machine = m,
                                     .h = h,
                                     .o = o,
                                     .interval = FIRST_INTERVAL,
                                     .due = FIRST_INTERVAL,
                                     .fetch_tag = o->reader.has_fetches && !o->simulates_fetches ? o->reader.fetch_tag
                                                                                                 : SIM_MAX_TAGS };
    t->point = calloc(MAX_POINTS, sizeof *t->point);
    t->slice = calloc(MAX_SLICES, sizeof *t->slice);
    if (t->point && t->slice)
        return 0;
    cachesim_timeline_free(t);
    *to = NULL;
    return -ENOMEM;
}

void cachesim_timeline_free(struct cachesim_timeline *t)
{
    if (!t)
        return;
    free(t->point);
    free(t->slice);
    free(t);
}

struct sim_sink *cachesim_timeline_sink(struct cachesim_timeline *t)
{
    return &t->sink;
}

/* ---- the file ---- */

/* Prints a counter's event: for each level and the memory, by how much a count grew. */
static void print_counter(const struct cachesim_timeline *t, uint64_t at, const struct sim_cell *from,
                          const struct sim_cell *to, FILE *out)
{
    const double us = (double)at / 1000;

    fprintf(out, ",\n{\"ph\":\"C\",\"name\":\"load misses\",\"pid\":%d,\"tid\":%d,\"ts\":%.17g,\"args\":{", PROCESS,
            ROW, us);
    for (size_t k = 0; k < t->machine->n_levels; k++) {
        fputs(k ? "," : "", out);
        sim_json_string(t->machine->level[k].name, out);
        fprintf(out, ":%" PRIu64, to->level[k].load_misses - from->level[k].load_misses);
    }
    fprintf(out, "}},\n{\"ph\":\"C\",\"name\":\"memory lines\",\"pid\":%d,\"tid\":%d,\"ts\":%.17g,\"args\":{", PROCESS,
            ROW, us);
    fprintf(out, "\"read\":%" PRIu64 ",\"written\":%" PRIu64 "}}", to->memory_read_lines - from->memory_read_lines,
            to->memory_written_lines - from->memory_written_lines);
}

static void print_slice(const struct cachesim_timeline *t, const struct slice *s, const struct point *end, FILE *out)
{
    const struct sim_cell *a = &s->begin.sum, *b = &end->sum;

    fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"phase %u\",\"pid\":%d,\"tid\":%d,\"args\":{\"phase\":%u", s->phase,
            PROCESS, ROW, s->phase);
    fprintf(out, ",\"loads\":%" PRIu64 ",\"stores\":%" PRIu64, b->loads - a->loads, b->stores - a->stores);
    for (size_t k = 0; k < t->machine->n_levels; k++) {
        char name[64];

        snprintf(name, sizeof name, "%.40s_load_misses", t->machine->level[k].name);
        fputs(",", out);
        sim_json_string(name, out);
        fprintf(out, ":%" PRIu64, b->level[k].load_misses - a->level[k].load_misses);
    }
    fprintf(out, ",\"memory_read_lines\":%" PRIu64 ",\"memory_written_lines\":%" PRIu64,
            b->memory_read_lines - a->memory_read_lines, b->memory_written_lines - a->memory_written_lines);
    fprintf(out, "},\"cat\":\"Phase\",\"ts\":%.17g,\"dur\":%.17g}", (double)s->begin.at / 1000,
            (double)(end->at - s->begin.at) / 1000);
}

static void print_name(const char *kind, const char *name, FILE *out)
{
    fprintf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":", kind, PROCESS, ROW);
    sim_json_string(name, out);
    fputs("}}", out);
}

static void print_timeline(const struct cachesim_timeline *t, FILE *out)
{
    const struct sim_cell none = { 0 };
    const struct point end = look(t);
    char name[256];

    snprintf(name, sizeof name, "simulated on %.100s: a microsecond is 1000 accesses", t->machine->name);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    print_name("process_name", name, out);
    fputs(",\n", out);
    print_name("thread_name", t->o->trace, out);
    for (size_t i = 0; i < t->n_slices; i++)
        print_slice(t, &t->slice[i], i + 1 < t->n_slices ? &t->slice[i + 1].begin : &end, out);
    for (size_t i = 0; i <= t->n_points; i++) {
        const struct point *from = i ? &t->point[i - 1] : NULL, *to = i < t->n_points ? &t->point[i] : &end;

        print_counter(t, from ? from->at : 0, from ? &from->sum : &none, &to->sum, out);
    }
    print_counter(t, end.at, &none, &none, out); /* ends the last interval */
    fputs("\n],\n\"otherData\":{\"machine\":", out);
    sim_json_string(t->machine->description, out);
    fprintf(out, ",\"accesses\":%" PRIu64 ",\"is_cut\":%s}}\n", t->n_accesses,
            t->n_slices == MAX_SLICES ? "true" : "false");
}

int cachesim_timeline_write(struct cachesim_timeline *t, struct sim_why why)
{
    struct cachesim_file file;
    int err = cachesim_file_open(&file, t->o->timeline);

    if (!err) {
        print_timeline(t, file.out);
        err = cachesim_file_commit(&file);
    }
    if (err)
        return sim_fail(why, err, "%.400s, %s", t->o->timeline, strerror(-err));
    fputs("cachesim: ", stderr);
    sim_line_text(t->o->timeline, stderr);
    fputs(" is written; chrome://tracing and https://ui.perfetto.dev open it\n", stderr);
    return 0;
}
