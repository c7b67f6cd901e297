/*
 * Callgrind's format: https://valgrind.org/docs/manual/cl-format.html. A number stands before each name, "(7) name", so
 * that no name is read as a number.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/show/ways_out.h"

enum { MAX_COSTS = 4 + 3 * SIM_MAX_LEVELS };

/* Prints the costs of one line: the events in the order of their names. */
struct cost {
    uint64_t n[MAX_COSTS];
};

struct profile {
    const struct exp_report *r;
    size_t algo;     /* index in the experiment */
    size_t n_levels; /* of the machine */
    size_t n_costs;
    FILE *out;
};

static const struct exp_case *case_of(const struct exp_experiment *e, size_t algo, size_t layer)
{
    return &e->cases[layer * e->n_algos + algo];
}

bool exp_callgrind_has(const struct exp_experiment *e, size_t i)
{
    for (size_t l = 0; l < e->model->n_layers; l++) {
        if (!case_of(e, i, l)->simulated.why)
            return true;
    }
    return false;
}

/* ---- costs ---- */

static struct cost cost_of(const struct profile *f, const struct sim_cell *cell)
{
    struct cost cost;
    size_t i = 0;

    cost.n[i++] = cell->loads;
    cost.n[i++] = cell->stores;
    for (size_t l = 0; l < f->n_levels; l++) {
        cost.n[i++] = cell->level[l].load_misses;
        cost.n[i++] = cell->level[l].read_misses;
        cost.n[i++] = cell->level[l].write_misses;
    }
    cost.n[i++] = cell->memory_read_lines;
    cost.n[i++] = cell->memory_written_lines;
    return cost;
}

static bool is_nothing(const struct profile *f, const struct cost *cost)
{
    for (size_t i = 0; i < f->n_costs; i++) {
        if (cost->n[i])
            return false;
    }
    return true;
}

/* Prints the rest of a line. */
static void print_cost(const struct profile *f, const struct sim_cell *cell)
{
    const struct cost cost = cost_of(f, cell);

    for (size_t i = 0; i < f->n_costs; i++)
        fprintf(f->out, " %" PRIu64, cost.n[i]);
    fputc('\n', f->out);
}

/* ---- the head ---- */

/* Prints any text on the rest of a line. */
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? '?' : *text, out);
    fputc('\n', out);
}

static void print_events(const struct profile *f)
{
    const struct sim_machine *m = &f->r->e->setup->machine;

    fprintf(f->out, "event: loads : load instructions\n"
                    "event: stores : store instructions\n");
    for (size_t l = 0; l < f->n_levels; l++) {
        const char *name = m->level[l].name;

        fprintf(f->out,
                "event: %s_load_misses : loads not served by %s or further in\n"
                "event: %s_read_misses : line reads that %s did not have\n"
                "event: %s_write_misses : line writes that %s did not have\n",
                name, name, name, name, name, name);
    }
    fprintf(f->out, "event: memory_read_lines : lines fetched from memory\n"
                    "event: memory_written_lines : lines written to memory\n"
                    "events: loads stores");
    for (size_t l = 0; l < f->n_levels; l++) {
        const char *name = m->level[l].name;

        fprintf(f->out, " %s_load_misses %s_read_misses %s_write_misses", name, name, name);
    }
    fprintf(f->out, " memory_read_lines memory_written_lines\n");
}

static void print_head(const struct profile *f)
{
    const struct exp_experiment *e = f->r->e;
    const char *algo = case_of(e, f->algo, 0)->algo->name;
    size_t n = 0;

    for (size_t l = 0; l < e->model->n_layers; l++)
        n += !case_of(e, f->algo, l)->simulated.why;
    fprintf(f->out, "# callgrind format\nversion: 1\ncreator: experiment, commit %s\n",
            *f->r->commit ? f->r->commit : "unknown");
    fprintf(f->out, "cmd: %s of ", algo);
    print_text(f->out, e->model->name);
    fprintf(f->out, "desc: Replayed: %zu of %zu layers, %s caches at the start of each\n", n, e->model->n_layers,
            exp_cache_state_name(f->r->cache));
    fprintf(f->out, "desc: Machine: ");
    print_text(f->out, e->setup->machine.description);
    fprintf(f->out, "positions: line\n");
    print_events(f);
}

/* ---- functions ---- */

/*
 * Numbers of names: object 1 is the algorithm; function 1 is the model, and a layer is the first function of its group.
 */
enum { OBJECT_ALGO = 1, OBJECT_TENSOR, FUNCTION_MODEL = 1, FUNCTIONS = 1 + CONV_N_TENSORS * CONV_N_PHASES };

static size_t layer_function(size_t layer)
{
    return 2 + layer * FUNCTIONS;
}

static size_t cell_function(size_t layer, unsigned tensor, unsigned phase)
{
    return layer_function(layer) + 1 + tensor * CONV_N_PHASES + phase;
}

static void print_layer_name(const struct profile *f, size_t layer)
{
    const struct exp_layer *l = case_of(f->r->e, f->algo, layer)->layer;

    fprintf(f->out, "%u ", l->index);
    print_text(f->out, l->name);
}

/* Prints the costs of a layer's phase with one tensor. */
static void print_cell(const struct profile *f, size_t layer, unsigned tensor, unsigned phase)
{
    const struct exp_case *c = case_of(f->r->e, f->algo, layer);
    const struct sim_cell *cell = &c->simulated.stats.cell[tensor][phase];
    const struct cost cost = cost_of(f, cell);
    const char *name = exp_algo_tensor_name(c->algo, (enum conv_tensor)tensor);

    if (is_nothing(f, &cost))
        return;
    fprintf(f->out, "ob=(%u) %s\nfl=(1)\nfn=(%zu) %s, %s: ", OBJECT_TENSOR + tensor, name,
            cell_function(layer, tensor, phase), conv_phase_name((enum conv_phase)phase), name);
    print_layer_name(f, layer);
    fprintf(f->out, "%u", c->layer->line);
    print_cost(f, cell);
    fputc('\n', f->out);
}

static void print_call(const struct profile *f, unsigned object, size_t function, unsigned from, unsigned to,
                       const struct sim_cell *inclusive)
{
    fprintf(f->out, "cob=(%u)\ncfi=(1)\ncfn=(%zu)\ncalls=1 %u\n%u", object, function, to, from);
    print_cost(f, inclusive);
}

/* Prints a layer: the functions come first, to define the names. */
static void print_layer(const struct profile *f, size_t layer)
{
    const struct exp_case *c = case_of(f->r->e, f->algo, layer);
    const unsigned line = c->layer->line;

    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++)
            print_cell(f, layer, t, p);
    }
    fprintf(f->out, "ob=(%u)\nfl=(1)\nfn=(%zu) ", OBJECT_ALGO, layer_function(layer));
    print_layer_name(f, layer);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            const struct sim_cell *cell = &c->simulated.stats.cell[t][p];
            const struct cost cost = cost_of(f, cell);

            if (!is_nothing(f, &cost))
                print_call(f, OBJECT_TENSOR + t, cell_function(layer, t, p), line, line, cell);
        }
    }
    fputc('\n', f->out);
}

/* Prints the model, which calls the layers, and the sum. */
static void print_model(const struct profile *f)
{
    const struct exp_experiment *e = f->r->e;
    struct sim_cell sum = { 0 };

    fprintf(f->out, "ob=(%u)\nfl=(1)\nfn=(%d) ", OBJECT_ALGO, FUNCTION_MODEL);
    print_text(f->out, e->model->name);
    for (size_t l = 0; l < e->model->n_layers; l++) {
        const struct exp_case *c = case_of(e, f->algo, l);
        struct sim_cell total;

        if (c->simulated.why)
            continue;
        total = sim_stats_total(&c->simulated.stats);
        sim_cell_add(&sum, &total);
        print_call(f, OBJECT_ALGO, layer_function(l), 1, c->layer->line, &total);
    }
    fprintf(f->out, "\ntotals:");
    print_cost(f, &sum);
}

static int print_profile(const void *ctx, FILE *out)
{
    struct profile f = *(const struct profile *)ctx;
    const struct exp_experiment *e = f.r->e;

    f.out = out;
    print_head(&f);
    fprintf(out, "\nob=(%u) %s\nfl=(1) ", OBJECT_ALGO, case_of(e, f.algo, 0)->algo->name);
    print_text(out, e->model->path);
    for (size_t l = 0; l < e->model->n_layers; l++) {
        if (!case_of(e, f.algo, l)->simulated.why)
            print_layer(&f, l);
    }
    print_model(&f);
    return 0;
}

int exp_callgrind_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    const size_t n_levels = r->e->setup->machine.n_levels;
    int err = 0;

    for (size_t i = 0; i < r->e->n_algos && !err; i++) {
        const struct profile f = { .r = r, .algo = i, .n_levels = n_levels, .n_costs = 4 + 3 * n_levels };
        char *file;

        if (!exp_callgrind_has(r->e, i))
            continue;
        file = exp_format("%s%s", EXP_CALLGRIND_FILE, case_of(r->e, i, 0)->algo->name);
        err = exp_outdir_write(dir, file, print_profile, &f, why);
        free(file);
    }
    return err;
}
