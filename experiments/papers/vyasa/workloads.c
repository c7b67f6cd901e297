#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/stats.h"
#include "experiments/papers/vyasa/vyasa.h"

#define ROW struct vyasa_row
#define MODEL_CYCLES "model cycles"
#define MODEL_RATE "MACs/model cycle"
static const char model[] = "model";

static const struct rec_field fields[] = {
    { { "table", "", "of the paper", "" }, REC_AT(ROW, table) },
    { { "workload", "", "its name", "" }, REC_AT(ROW, name) },
    { { "bits", "", "of all tensors", "" }, REC_AT(ROW, bits) },
    { { "sizes", "", "output x, y, k and filter r, s, d, c", "" }, REC_AT(ROW, sizes) },
    { { "macs", "", "without padding", "" }, REC_AT(ROW, macs) },
    { { "parts", "", "runs, one after the other, where memory is too small for all", "" }, REC_AT(ROW, parts) },
    { { "bytes", "B", "of all tensors, in the paper's layouts or those of its space", "" }, REC_AT(ROW, bytes) },
    { { "printed_schedule", "", "vectorised, pipelined and outer loops, jam; (best): of its space, as none is printed",
        "" },
      REC_AT(ROW, printed) },
    { { "printed_layouts", "", "output, filters, input", "" }, REC_AT(ROW, layouts) },
    { { "printed_cycles", MODEL_CYCLES, "with that schedule and the fitted cycles before each row", model },
      REC_AT(ROW, printed_cycles) },
    { { "printed_rate", MODEL_RATE, "of these", model }, REC_AT(ROW, printed_rate) },
    { { "tuned_schedule", "", "the best one of our space", "" }, REC_AT(ROW, tuned) },
    { { "tuned_cycles", MODEL_CYCLES, "with it, nothing fitted", model }, REC_AT(ROW, tuned_cycles) },
    { { "tuned_rate", MODEL_RATE, "of these", model }, REC_AT(ROW, tuned_rate) },
    { { "operations", MODEL_CYCLES, "that the vector unit alone needs for the tuned schedule", model },
      REC_AT(ROW, operations) },
    { { "operations_rate", MODEL_RATE, "if nothing else took cycles", model }, REC_AT(ROW, operations_rate) },
    { { "intensity", "MACs/B", "every tensor moved once", "" }, REC_AT(ROW, intensity) },
    { { "roofline", MODEL_RATE, "peak, 64 B loaded and 32 B stored a cycle", model }, REC_AT(ROW, roofline) },
    { { "interval", MODEL_CYCLES, "from an iteration of the tuned loop to the next", model }, REC_AT(ROW, interval) },
    { { "stages", "", "intervals that an iteration takes", model }, REC_AT(ROW, stages) },
    { { "bundles", "", "of the program memory's 1,024", model }, REC_AT(ROW, bundles) },
    { { "seamless", "", "rows follow each other without prologue and epilogue", model }, REC_AT(ROW, is_seamless) },
    { { "mac_busy_percent", "%", "of the cycles, the vector unit", model }, REC_AT(ROW, mac_busy) },
    { { "load_a_busy_percent", "%", "load unit A", model }, REC_AT(ROW, load_a_busy) },
    { { "load_b_busy_percent", "%", "load unit B", model }, REC_AT(ROW, load_b_busy) },
    { { "store_busy_percent", "%", "the store unit", model }, REC_AT(ROW, store_busy) },
    { { "live_registers", "", "of 16 registers of 128 bits, most at once", model }, REC_AT(ROW, live_registers) },
    { { "schedules", "", "in our space", "" }, REC_AT(ROW, candidates) },
    { { "compiled", "", "of these; the others need more cycles for their operations alone", "" },
      REC_AT(ROW, compiled) },
    { { "checked", "", "both programs' outputs equal plain loops, bit for bit", "simulated" },
      REC_AT(ROW, is_checked) },
};

const struct rec_table vyasa_rows_table = REC_TABLE("vyasa.csv", fields, ROW);

/* ---- reading ---- */

static const char *const groups[] = { "VI", "VII", "CONV3D" };
static const char *const kinds[] = { "regular", "depthwise", "3d" };
static const char loops[] = "xyk";

struct reader {
    const struct exp_table *t;
    size_t row;
    struct exp_why *why;
    int err;
};

static const char *text(struct reader *r, const char *column)
{
    size_t c;

    if (r->err || (r->err = exp_table_column(r->t, column, &c, r->why)) != 0)
        return "";
    return exp_table_string(r->t, r->row, c);
}

static unsigned number(struct reader *r, const char *column)
{
    uint64_t x = 0;
    size_t c;

    if (!r->err && !(r->err = exp_table_column(r->t, column, &c, r->why)))
        r->err = exp_table_u64(r->t, r->row, c, &x, r->why);
    return (unsigned)x;
}

static unsigned word(struct reader *r, const char *column, const char *const *words, unsigned n)
{
    const char *value = text(r, column);

    for (unsigned i = 0; i < n && !r->err; i++) {
        if (!strcmp(words[i], value))
            return i;
    }
    if (!r->err)
        r->err = exp_fail(r->why, -EINVAL, "%s:%u: column '%s': '%s' is none of its words", r->t->path,
                          r->t->line[r->row], column, value);
    return 0;
}

static enum vyasa_loop loop(struct reader *r, const char *column, size_t at)
{
    const char *value = text(r, column), *found = strlen(value) > at ? strchr(loops, value[at]) : NULL;

    if (!r->err && !found)
        r->err = exp_fail(r->why, -EINVAL, "%s:%u: column '%s': '%s' does not name a loop", r->t->path,
                          r->t->line[r->row], column, value);
    return found ? (enum vyasa_loop)(found - loops) : VYASA_X;
}

/* A pipelined loop of a single iteration is no loop: then x is the loop. */
static void read_schedule(struct reader *r, struct vyasa_workload *w)
{
    struct vyasa_schedule *s = &w->printed;

    s->vector = loop(r, "vector", 0);
    s->inner = loop(r, "inner", 0);
    s->outer[0] = loop(r, "outer", 0);
    s->outer[1] = loop(r, "outer", 1);
    s->jam[VYASA_X] = number(r, "jam_x");
    s->jam[VYASA_Y] = number(r, "jam_y");
    s->jam[VYASA_K] = number(r, "jam_k");
    s->fusion = w->problem.bits == 16 && w->problem.c > 1 ? VYASA_CHANNELS : VYASA_PADDED;
    w->is_moved = s->inner == VYASA_K && s->vector == VYASA_K && w->problem.k == 16;
    if (w->is_moved) {
        s->inner = VYASA_X;
        s->outer[0] = VYASA_K;
        s->outer[1] = VYASA_Y;
    }
}

static int read_workload(struct vyasa_work *all, size_t row, const char *pattern, struct exp_why *why)
{
    struct reader r = { &all->table, row, why, 0 };
    struct vyasa_workload w = { .name = text(&r, "name"), .layouts = text(&r, "layouts"), .parts = 1 };
    struct vyasa_problem *p = &w.problem;

    w.group = word(&r, "table", groups, VYASA_N_GROUPS);
    *p = (struct vyasa_problem){ .kind = word(&r, "kind", kinds, 3), .bits = number(&r, "bits") };
    p->x = number(&r, "x");
    p->y = number(&r, "y");
    p->k = number(&r, "k");
    p->r = number(&r, "r");
    p->s = number(&r, "s");
    p->d = number(&r, "d");
    p->c = number(&r, "c");
    p->shift = p->bits == 16 ? VYASA_SHIFT_16 : VYASA_SHIFT_32;
    w.has_schedule = *text(&r, "vector") != '\0';
    if (w.has_schedule)
        read_schedule(&r, &w);
    if (!r.err && (!*pattern || !fnmatch(pattern, w.name, 0)))
        *(struct vyasa_workload *)exp_append(&all->workload, &all->n, sizeof w) = w;
    return r.err;
}

int vyasa_read(struct vyasa_work *w, const char *experiments_dir, const char *pattern, struct exp_why *why)
{
    char *path = exp_format("%s/models/vyasa/workloads.csv", experiments_dir);
    int err = exp_table_read(&w->table, path, why);

    assert(pattern);
    for (size_t r = 0; r < w->table.n_rows && !err; r++)
        err = read_workload(w, r, pattern, why);
    if (!err && !w->n)
        err = exp_fail(why, -EINVAL, "WORKLOAD: no workload of %s is called '%s'", path, pattern);
    w->row = exp_new(w->n + 1, sizeof *w->row);
    w->found = exp_new(w->n + 1, sizeof *w->found);
    free(path);
    return err;
}

void vyasa_work_release(struct vyasa_work *w)
{
    exp_table_release(&w->table);
    claims_release(&w->claims);
    free(w->workload);
    free(w->row);
    free(w->found);
    free(w->sensitivity);
    free(w->exact);
    free(w->reading);
    *w = (struct vyasa_work){ 0 };
}

/* ---- the paper's schedule ---- */

/* Compiles with both orders of the operations in a row, as the order is no part of a printed schedule. */
static int compile_better(struct vyasa_code *code, const struct vyasa_problem *p, struct vyasa_schedule s,
                          const struct aie_params *params, struct exp_why *why)
{
    struct vyasa_code other;
    int err = vyasa_compile(code, p, &s, params, why);

    s.by_tap = true;
    if (vyasa_compile(&other, p, &s, params, err ? why : NULL))
        return err;
    s.by_tap = err || other.cycles < code->cycles;
    vyasa_code_release(&other);
    if (!s.by_tap)
        return 0;
    vyasa_code_release(code);
    return vyasa_compile(code, p, &s, params, why);
}

int vyasa_compile_printed(struct vyasa_code *code, const struct vyasa_work *w, size_t i,
                          const struct aie_params *params, unsigned entry_cycles, struct exp_why *why)
{
    const struct vyasa_workload *l = &w->workload[i];
    struct vyasa_schedule s = l->printed;
    struct exp_why inner;
    int err = 0;

    assert(i < w->n);
    *code = (struct vyasa_code){ 0 };
    if (!l->has_schedule) {
        const struct vyasa_space space = { true, entry_cycles };
        struct vyasa_found found;

        err = vyasa_tune(&found, &l->problem, &space, params, &inner);
        s = found.schedule;
    }
    s.entry_cycles = entry_cycles;
    err = err ? err : compile_better(code, &l->problem, s, params, &inner);
    return err ? exp_fail(why, err, "%s, %u bits: %s", l->name, l->problem.bits, inner.text) : 0;
}

/* Cuts a workload whose tensors do not fit into parts: halves of k. */
static int cut(struct vyasa_workload *l, const struct aie_params *params, struct exp_why *why)
{
    struct vyasa_shape shape;
    int err;

    if (!l->has_schedule)
        return 0;
    while ((err = vyasa_shape(&shape, &l->problem, &l->printed, 0, params->memory_bytes, why)) == -ENOSPC &&
           l->problem.kind == VYASA_REGULAR && l->problem.k % 2 == 0) {
        l->problem.k /= 2;
        l->parts *= 2;
    }
    return err;
}

/* ---- the fit ---- */

/* Compiles Table VI with this many idle cycles before a row. */
static int compile_all(const struct vyasa_work *all, unsigned entry_cycles, double *cycles, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < all->n && !err; i++) {
        struct vyasa_code code;

        if (all->workload[i].group != VYASA_VI)
            continue;
        err = vyasa_compile_printed(&code, all, i, &all->params, entry_cycles, why);
        cycles[i] = err ? 0 : (double)code.cycles;
        vyasa_code_release(&code);
    }
    return err;
}

/* Returns the distance of both geomeans from the printed geomeans, if cycles[0] grow to cycles[1] by this share. */
static double error_of(const struct vyasa_work *all, double *const cycles[2], double share)
{
    static const double printed[2] = { 7.67, 25.92 };
    double sum[2] = { 0 }, n[2] = { 0 };

    for (size_t i = 0; i < all->n; i++) {
        const struct vyasa_problem *p = &all->workload[i].problem;

        if (all->workload[i].group != VYASA_VI)
            continue;
        sum[p->bits == 16] += log((double)vyasa_macs(p) / (cycles[0][i] + share * (cycles[1][i] - cycles[0][i])));
        n[p->bits == 16]++;
    }
    return pow(sum[0] / n[0] - log(printed[0]), 2) + pow(sum[1] / n[1] - log(printed[1]), 2);
}

int vyasa_fit(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why)
{
    enum { FIRST = 1, SECOND = 33, MOST = 64 };
    struct vyasa_work all = { .params = w->params };
    int err = vyasa_read(&all, experiments_dir, "", why);
    double *const cycles[2] = { exp_new(all.n + 1, sizeof(double)), exp_new(all.n + 1, sizeof(double)) };
    double least = (double)INFINITY;

    err = err ? err : compile_all(&all, FIRST, cycles[0], why);
    err = err ? err : compile_all(&all, SECOND, cycles[1], why);
    for (unsigned entry = FIRST; entry <= MOST && !err; entry++) { /* each row takes this many cycles more */
        const double error = error_of(&all, cycles, (double)(entry - FIRST) / (SECOND - FIRST));

        w->entry_cycles = error < least ? entry : w->entry_cycles;
        least = fmin(error, least);
    }
    for (size_t i = 0; i < w->n && !err; i++)
        err = cut(&w->workload[i], &w->params, why);
    vyasa_work_release(&all);
    free(cycles[0]);
    free(cycles[1]);
    return err;
}

/* ---- a workload ---- */

static int check(const struct vyasa_code *code, struct vyasa_work *w, const char *what, struct aie_counts *counts,
                 struct exp_why *why)
{
    struct vyasa_tensors t;
    clock_t begin;
    int32_t *want;
    int err;

    vyasa_tensors_new(&t, &code->problem);
    vyasa_tensors_fill(&t, &code->problem, 1);
    vyasa_plain(&code->problem, &t);
    want = exp_copy_bytes(t.out, t.n_out, sizeof *t.out);
    memset(t.out, 0x55, t.n_out * sizeof *t.out);
    begin = clock();
    err = vyasa_simulate(code, &t, counts, why);
    w->simulated_seconds += (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (!err && memcmp(want, t.out, t.n_out * sizeof *want) != 0)
        err = exp_fail(why, -EPROTO, "%s: the outputs are not those of plain loops", what);
    if (!err && counts->cycles != code->cycles)
        err = exp_fail(why, -EPROTO, "%s: it took %llu cycles, not %llu", what, (unsigned long long)counts->cycles,
                       (unsigned long long)code->cycles);
    free(want);
    vyasa_tensors_release(&t);
    w->simulated_cycles += counts->cycles;
    return err;
}

static void say_schedule(const struct vyasa_schedule *s, char *text_, size_t bytes)
{
    static const char *const fusions[] = { "padded", "row pairs", "channels" };

    exp_say(text_, bytes, "vector %c; %c%c%c; jam %ux%ux%u%s; %s", loops[s->vector], loops[s->outer[0]],
            loops[s->outer[1]], loops[s->inner], s->jam[0], s->jam[1], s->jam[2], s->is_far ? " far" : "",
            fusions[s->fusion]);
}

void vyasa_live(const struct vyasa_code *code, uint16_t *held)
{
    const struct vyasa_body *b = &code->body;
    const long n = b->interval;

    assert(held && b->interval > 0);
    memset(held, 0, b->interval * sizeof *held);
    for (size_t i = 0; i < b->n_loads; i++) {
        const struct vyasa_load *l = &b->load[i];
        const struct vyasa_instance *x = &b->instance[l->instance];

        for (unsigned part = l->at; part < l->at + l->n_v; part++) {
            if (!x->is_read[part])
                continue;
            for (long t = l->time + (long)code->params.load_latency; t <= b->mac[x->last_use[part]].time; t++)
                held[((t + b->shift_time) % n + n) % n] |= (uint16_t)(1U << x->v[part]);
        }
    }
}

static unsigned most_live(const struct vyasa_code *code)
{
    uint16_t *held = exp_new(code->body.interval, sizeof *held);
    unsigned most = 0;

    vyasa_live(code, held);
    for (unsigned c = 0; c < code->body.interval; c++) {
        unsigned n = 0;

        for (unsigned bits = held[c]; bits; bits &= bits - 1)
            n++;
        most = n > most ? n : most;
    }
    free(held);
    return most;
}

/* Counts how often a unit is busy in the kernel, in percent. */
static void take_occupancy(ROW *row, const struct vyasa_code *code)
{
    const struct vyasa_section *kernel = NULL;
    unsigned n[4] = { 0 };

    for (unsigned i = 0; i < code->n_sections; i++) {
        if (!strcmp(code->section[i].name, "kernel"))
            kernel = &code->section[i];
    }
    for (size_t i = 0; kernel && i < kernel->n; i++) {
        const struct aie_bundle *b = &code->program.bundle[kernel->first + i];

        n[0] += b->mac.kind != AIE_MAC_NONE;
        n[1] += b->load[0].bytes != 0;
        n[2] += b->load[1].bytes != 0;
        n[3] += b->store.bits != 0;
    }
    row->mac_busy = 100.0 * n[0] / code->body.interval;
    row->load_a_busy = 100.0 * n[1] / code->body.interval;
    row->load_b_busy = 100.0 * n[2] / code->body.interval;
    row->store_busy = 100.0 * n[3] / code->body.interval;
}

static void take_roofline(ROW *row, const struct vyasa_shape *t)
{
    const struct vyasa_problem *p = t->p;
    const double out = (double)p->x * p->y * p->k * t->bytes;
    const double filters = (double)vyasa_macs(p) / ((double)p->x * p->y) / (p->kind == VYASA_3D ? p->k : 1) * t->bytes;
    const double in = (double)t->in_planes * t->in_height * (p->x + p->r - 1) * t->bytes, macs = (double)vyasa_macs(p);
    const double cycles = fmax(macs / (t->lanes * t->columns), fmax((in + filters) / 64, out / 32));

    row->bytes = (uint64_t)(out + filters + in) * row->parts;
    row->intensity = macs * (double)row->parts / (double)row->bytes;
    row->roofline = macs / cycles;
}

static void take_tuned(ROW *row, const struct vyasa_code *code, const struct vyasa_found *found)
{
    const struct vyasa_body *b = &code->body;

    row->macs = vyasa_macs(&code->problem) * row->parts;
    row->tuned_cycles = code->cycles * row->parts;
    row->tuned_rate = (double)row->macs / (double)row->tuned_cycles;
    row->operations = found->bound * row->parts;
    row->operations_rate = (double)row->macs / (double)row->operations;
    row->interval = b->interval;
    row->stages = b->n_stages;
    row->bundles = code->program.n;
    row->is_seamless = code->is_seamless;
    row->candidates = found->n_schedules;
    row->compiled = found->n_compiled;
    row->live_registers = most_live(code);
    say_schedule(&code->schedule, row->tuned, sizeof row->tuned);
    take_occupancy(row, code);
    take_roofline(row, &code->shape);
}

int vyasa_run(struct vyasa_work *w, size_t i, struct exp_why *why)
{
    const struct vyasa_workload *l = &w->workload[i];
    const struct vyasa_problem *p = &l->problem;
    const struct vyasa_space space = { false, 0 };
    const clock_t begin = clock();
    struct vyasa_code printed = { 0 }, tuned = { 0 };
    struct aie_counts counts;
    ROW *row = &w->row[i];
    double seconds;
    int err = vyasa_compile_printed(&printed, w, i, &w->params, w->entry_cycles, why);

    assert(i < w->n);
    *row =
        (ROW){ .table = groups[l->group], .name = l->name, .layouts = l->layouts, .bits = p->bits, .parts = l->parts };
    exp_say(row->sizes, sizeof row->sizes, "%ux%ux%u %ux%ux%ux%u", p->x, p->y, p->k * l->parts, p->r, p->s, p->d, p->c);
    err = err ? err : vyasa_tune(&w->found[i], p, &space, &w->params, why);
    err = err ? err : vyasa_compile(&tuned, p, &w->found[i].schedule, &w->params, why);
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    w->tune_seconds += seconds;
    w->slowest_seconds = fmax(w->slowest_seconds, seconds);
    err = err ? err : check(&printed, w, l->name, &counts, why);
    err = err ? err : check(&tuned, w, l->name, &counts, why);
    if (!err) {
        row->is_checked = true;
        take_tuned(row, &tuned, &w->found[i]);
        row->printed_cycles = printed.cycles * l->parts;
        row->printed_rate = (double)row->macs / (double)row->printed_cycles;
        say_schedule(&printed.schedule, row->printed, sizeof row->printed);
        if (!l->has_schedule)
            exp_say_more(row->printed, sizeof row->printed, " (best)");
    }
    vyasa_code_release(&printed);
    vyasa_code_release(&tuned);
    return err;
}

double vyasa_geomean(const struct vyasa_work *w, enum vyasa_group group, unsigned bits, bool is_tuned)
{
    double *x = exp_new(w->n, sizeof *x), mean;
    size_t n = 0;

    assert(bits == 16 || bits == 32);
    for (size_t i = 0; i < w->n; i++) {
        if ((group == VYASA_N_GROUPS || w->workload[i].group == group) && w->row[i].bits == bits)
            x[n++] = is_tuned ? w->row[i].tuned_rate : w->row[i].printed_rate;
    }
    mean = n ? exp_stats_geomean(x, n) : (double)NAN;
    free(x);
    return mean;
}
