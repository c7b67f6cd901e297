#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/emit/plan_json.h"
#include "kernels/wisdom/wisdom_lines.h"
#include "sim/hierarchy.h"
#include "sim/machine/machine.h"
#include "sim/trace/trace_reader.h"
#include "tests/fuzz_files.h"
#include "tests/fuzz_targets.h"
#include "tests/kernels/shape_check.h"

enum {
    MANY_ACCESSES =
        20000, /* longer traces are not written again: a few bytes of a binary trace can stand for billions */
    SMALL_BLOCK_BYTES = 64,
    MOST_LINES = 1 << 20, /* simulators of larger caches are not built */
};

/* ---- machine files ---- */

static bool reads_machine_back(const struct sim_machine *m)
{
    struct sim_machine again;
    char path[64], why[512];
    FILE *f = tmpfile();
    bool same;

    if (!f || sim_machine_print(m, f) || fflush(f))
        return fuzz_complain("a machine that was read cannot be printed", m->name);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
    same = !sim_machine_read(&again, path, why, sizeof why) && !memcmp(&again, m, sizeof again);
    fclose(f);
    return same || fuzz_complain("a machine differs after being printed and read", m->name);
}

/* A valid machine also gives valid machines with the first levels, with the caches alone, and without prefetchers. */
static bool is_whole(const struct sim_machine *m)
{
    struct sim_machine bare = *m, alone = sim_machine_caches_alone(m);
    char why[256] = "";
    bool holds;

    sim_machine_strip_prefetch(&bare);
    holds = !sim_machine_validate(m, why, sizeof why) && !sim_machine_validate(&alone, why, sizeof why) &&
            !sim_machine_validate(&bare, why, sizeof why);
    for (size_t n = 1; n <= m->n_levels && holds; n++) {
        const struct sim_machine first = sim_machine_first_levels(m, n);

        holds = !sim_machine_validate(&first, why, sizeof why);
    }
    return holds || fuzz_complain("a machine that was read cannot be simulated", why);
}

/* Builds the simulator with one set per slice, because only the number of slices limits the number of sets. */
static bool can_be_built(const struct sim_machine *m)
{
    struct sim_machine small = *m;
    struct sim_hierarchy *h;
    int err;

    for (size_t k = 0; k < m->n_levels; k++) {
        struct sim_level *l = &small.level[k];

        l->n_sets = l->n_slices ? l->n_slices : 1;
        if (l->n_sets > MOST_LINES / l->n_ways)
            return true;
    }
    err = sim_hierarchy_new(&h, &small);
    sim_hierarchy_free(err ? NULL : h);
    return !err || fuzz_complain("the simulator refuses a machine that was read", strerror(-err));
}

bool fuzz_machine(const uint8_t *data, size_t size)
{
    struct sim_machine m;
    char path[64], why[512] = "";
    FILE *f = fuzz_file(data, size);
    int err;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
    err = sim_machine_read(&m, path, why, sizeof why);
    fclose(f);
    if (err)
        return fuzz_is_message(why, path) || fuzz_complain("not a message", why);
    return reads_machine_back(&m) && is_whole(&m) && can_be_built(&m);
}

/* ---- traces ---- */

/* The outcome of reading a trace. */
struct outcome {
    int err;
    char why[256];
    uint64_t n_accesses;
    uint64_t digest; /* of the accesses in order, unless there are many */
};

static void digest_access(void *ctx, const struct sim_access *a)
{
    const uint64_t words[] = { a->addr, a->bytes, (uint64_t)a->kind << 16 | (uint64_t)a->tag << 8 | a->phase };
    uint64_t *digest = ctx;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        *digest = (*digest ^ words[i]) * 0x100000001b3u;
}

static struct outcome read_trace(FILE *in, enum sim_trace_format format, size_t block_bytes, struct sim_sink *copy)
{
    const struct sim_trace_options options = { .format = format, .has_fetches = true, .block_bytes = block_bytes };
    struct outcome o = { .digest = 0xcbf29ce484222325u };
    struct sim_expander x;
    struct sim_trace_reader *r;
    struct sim_run run[3];
    size_t n = 1;

    sim_expander_init(&x, digest_access, &o.digest);
    if (sim_trace_reader_new(&r, in, "trace", &options))
        exit(1);
    while (!o.err && n) {
        o.err = sim_trace_reader_next(r, run, sizeof run / sizeof run[0], &n, o.why, sizeof o.why);
        if (sim_trace_reader_counts(r).accesses > MANY_ACCESSES)
            continue;
        sim_emit(&x.sink, run, n, 1);
        if (copy)
            sim_emit(copy, run, n, 1);
    }
    o.n_accesses = sim_trace_reader_counts(r).accesses;
    sim_trace_reader_free(r);
    return o;
}

static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    return a->err == b->err && a->n_accesses == b->n_accesses && a->digest == b->digest;
}

/* Reads in small blocks, copying into a binary trace; the copy must have an equal outcome. */
static bool survives_copy(FILE *in, enum sim_trace_format format, const struct outcome *whole)
{
    struct outcome small, again;
    struct sim_trace t;
    FILE *copy = tmpfile();

    if (!copy || fseek(in, 0, SEEK_SET))
        exit(1);
    sim_trace_init_as(&t, copy, SIM_TRACE_BINARY);
    small = read_trace(in, format, SMALL_BLOCK_BYTES, sim_trace_sink(&t));
    if (!same_outcome(whole, &small) && !strstr(small.why, "too long"))
        return fuzz_complain("small blocks change the trace", small.why);
    if (sim_trace_close(&t) || fseek(copy, 0, SEEK_SET))
        exit(1);
    again = read_trace(copy, SIM_TRACE_BINARY, 0, NULL);
    fclose(copy);
    if (small.err || small.n_accesses > MANY_ACCESSES)
        return true;
    return same_outcome(&small, &again) || fuzz_complain("a trace differs after being written and read", again.why);
}

static bool fuzz_trace(enum sim_trace_format format, const uint8_t *data, size_t size)
{
    FILE *in = fuzz_file(data, size);
    struct outcome whole = read_trace(in, format, 0, NULL);
    bool holds = !whole.err || fuzz_is_message(whole.why, "trace") || fuzz_complain("not a message", whole.why);

    holds = holds && survives_copy(in, format, &whole);
    fclose(in);
    return holds;
}

bool fuzz_text(const uint8_t *data, size_t size)
{
    return fuzz_trace(SIM_TRACE_TEXT, data, size);
}

bool fuzz_din(const uint8_t *data, size_t size)
{
    return fuzz_trace(SIM_TRACE_DIN, data, size);
}

bool fuzz_lackey(const uint8_t *data, size_t size)
{
    return fuzz_trace(SIM_TRACE_LACKEY, data, size);
}

bool fuzz_binary(const uint8_t *data, size_t size)
{
    return fuzz_trace(SIM_TRACE_BINARY, data, size);
}

/* ---- shapes ---- */

static size_t size_at(const uint8_t *data, size_t size, size_t index)
{
    uint64_t number = 0;

    if (index * sizeof number + sizeof number > size)
        return 1;
    for (size_t i = 0; i < sizeof number; i++)
        number |= (uint64_t)data[index * sizeof number + i] << 8 * i;
    return (size_t)number;
}

bool fuzz_shape(const uint8_t *data, size_t size)
{
    struct conv_problem p = { 0 };
    struct shape_check check;

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        conv_field_set(&p, i, size_at(data, size, i));
    return shape_check(&check, &p, size_at(data, size, CONV_N_FIELDS)) || fuzz_complain("a shape", check.why);
}

/* ---- plans ---- */

/* Returns the file of plans, to be read from the start. */
static FILE *print_plans(const struct conv_layer_plans *plans)
{
    FILE *f = tmpfile();

    if (!f || conv_plans_print(plans->plan, plans->n, f) || fflush(f))
        exit(1);
    return f;
}

static bool are_same_plans(const struct conv_layer_plans *a, const struct conv_layer_plans *b)
{
    const size_t length = conv_plans_write(a->plan, a->n, NULL, 0), bytes = length + 1;
    char *one = malloc(bytes), *two = malloc(bytes);
    bool same = one && two && conv_plans_write(b->plan, b->n, two, bytes) == length;

    if (same)
        conv_plans_write(a->plan, a->n, one, bytes);
    same = same && !strcmp(one, two);
    free(one);
    free(two);
    return same;
}

static int read_plans(struct conv_layer_plans *plans, FILE *f, char path[static 64], struct sim_why why)
{
    snprintf(path, 64, "/proc/self/fd/%d", fileno(f));
    return conv_plans_read(plans, path, NULL, why);
}

bool fuzz_plan(const uint8_t *data, size_t size)
{
    FILE *f = fuzz_file(data, size), *printed;
    struct conv_layer_plans plans, again;
    char path[64], why[512] = "";
    bool holds;
    int err = read_plans(&plans, f, path, SIM_WHY(why));

    fclose(f);
    if (err)
        return fuzz_is_message(why, path) || fuzz_complain("not a message", why);
    printed = print_plans(&plans);
    err = read_plans(&again, printed, path, SIM_WHY(why));
    fclose(printed);
    holds = !err && !*again.derived_anew && are_same_plans(&plans, &again);
    conv_plans_release(&plans);
    if (!err)
        conv_plans_release(&again);
    return holds || fuzz_complain("plans differ after being printed and read", err ? why : again.derived_anew);
}

/* ---- wisdom ---- */

static bool are_same_lines(const struct wisdom_lines *a, const struct wisdom_lines *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; i < a->n && same; i++) {
        const struct wisdom_value *x = &a->line[i].value, *y = wisdom_lines_find(b, a->line[i].key);

        same = y && !strcmp(x->ukr, y->ukr) && x->in_place == y->in_place && x->is_ws == y->is_ws && x->n_c == y->n_c &&
               x->k2 == y->k2 && x->k3 == y->k3;
    }
    return same;
}

bool fuzz_wisdom(const uint8_t *data, size_t size)
{
    static const char *const name[] = { "wisdom" };
    struct wisdom_lines lines = { 0 }, again = { 0 };
    char path[64], why[512] = "";
    bool holds;

    snprintf(path, sizeof path, "%s/%s", fuzz_folder(name, 1, data, size), name[0]);
    if (wisdom_lines_read(&lines, path, SIM_WHY(why)))
        return fuzz_is_message(why, path) || fuzz_complain("not a message", why);
    holds = !wisdom_lines_write(&lines, path, SIM_WHY(why)) && !wisdom_lines_read(&again, path, SIM_WHY(why)) &&
            are_same_lines(&lines, &again);
    wisdom_lines_release(&lines);
    wisdom_lines_release(&again);
    return holds || fuzz_complain("wisdom differs after being written and read", why);
}
