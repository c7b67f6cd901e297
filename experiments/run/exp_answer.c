#include "experiments/run/exp_answer.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_emulated.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/run/exp_verdict.h"

enum { MOST_ROWS = 60, MOST_VARIANTS = EXP_N_ALGO_RECORDS };

/* A verdict and what it points to. */
struct answer {
    struct exp_verdict v;
    struct exp_verdict_variant variant[MOST_VARIANTS];
    const char **layer;
    char where[128], how[512], disturbance[400], planned_levels[200];
    char *elsewhere;
};

/* ---- one layer ---- */

static double phase_ns(const struct exp_case *c, uint64_t ns)
{
    return exp_case_why_no_phases(c) ? (double)NAN : (double)ns;
}

/* Puts the loads of a simulation and the misses of each of its levels; those that it does not have are not known. */
static void put_misses(const struct exp_simulated *s, double *loads, double *misses)
{
    const struct sim_cell sum = s->why_not ? (struct sim_cell){ 0 } : sim_stats_total(&s->stats);

    *loads = s->why_not ? (double)NAN : (double)sum.loads;
    for (size_t i = 0; i < SIM_MAX_LEVELS; i++)
        misses[i] = s->why_not || i >= s->stats.n_levels ? (double)NAN : (double)sum.level[i].load_misses;
}

static void put_estimate(const struct sim_machine *m, const struct exp_case *c, double *quantity)
{
    bool is_known = !exp_estimate_why_not_case(m, c);
    struct exp_estimate e = is_known ? exp_estimate(m, c) : (struct exp_estimate){ 0 };

    quantity[EXP_ISSUE_CYCLES] = is_known ? e.issue_cycles : (double)NAN;
    quantity[EXP_WAITING_CYCLES] = is_known ? e.total_cycles : (double)NAN;
}

static struct exp_verdict_layer layer_of(const struct exp_report *r, const struct exp_case *c)
{
    const struct exp_phases *x = &c->measured.phases;
    struct exp_verdict_layer l = {
        .quantity = { [EXP_TIME_NS] = exp_case_times(c).low_mean,
                      [EXP_STEPS_NS] = phase_ns(c, x->total_ns),
                      [EXP_PACKING_NS] = phase_ns(c, exp_phases_packing_ns(x) + x->step_ns[CONV_STEP_IM2COL]),
                      [EXP_KERNEL_NS] = phase_ns(c, exp_phases_kernel_ns(x)) },
        .speedup = exp_case_speedup(r->e, c),
    };

    put_misses(&c->simulated, &l.quantity[EXP_SIMULATED_LOADS], &l.quantity[EXP_MISSES]);
    put_misses(c->simulated.why_not ? &c->simulated : &c->alone, &l.quantity[EXP_ALONE_LOADS],
               &l.quantity[EXP_ALONE_MISSES]);
    put_estimate(&r->e->setup->machine, c, l.quantity);
    return l;
}

static struct exp_verdict_layer nothing(void)
{
    struct exp_verdict_layer l = { .speedup = exp_ratio_none() };

    for (int q = 0; q < EXP_N_QUANTITIES; q++)
        l.quantity[q] = (double)NAN;
    return l;
}

/* ---- one variant ---- */

/* Fills a variant of the verdict. A total has one case in every layer, or none at all. */
static int fill_variant(const struct exp_report *r, const struct exp_total *t, struct exp_verdict_variant *x)
{
    size_t n = 0;

    *x = (struct exp_verdict_variant){ .name = t->algo,
                                       .label = exp_algo_find(t->algo)->label,
                                       .why_not_timed = t->why_no_time,
                                       .speedup = t->speedup,
                                       .layer = calloc(r->e->model->n_layers, sizeof *x->layer) };
    if (!x->layer)
        return -ENOMEM;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        if (exp_total_covers(t, &r->e->cases[i]))
            x->layer[n++] = layer_of(r, &r->e->cases[i]);
    }
    while (n < r->e->model->n_layers)
        x->layer[n++] = nothing();
    return 0;
}

/* ---- the whole ---- */

static void name_levels(struct answer *a, const struct sim_machine *m)
{
    a->v.n_levels = m->n_levels;
    for (size_t i = 0; i < m->n_levels; i++)
        a->v.level[i] = m->level[i].name;
    exp_say_planned_levels(m, a->planned_levels, sizeof a->planned_levels);
    a->v.planned_levels = a->planned_levels;
    a->v.has_two_views = !sim_machine_is_plain(m);
}

/* Says what a measured speed-up holds for: this computer's clock, but maybe another machine's plans. */
static void say_where(struct answer *a, const struct sim_machine *m)
{
    const bool is_host = !strcmp(m->name, "host");

    exp_say(a->where, sizeof a->where, "%s%s%s", ctr_is_emulated() ? "by an emulator's clock" : "on this computer",
            is_host ? "" : ", with plans for ", is_host ? "" : m->name);
    a->v.where = a->where;
}

static void describe(struct answer *a, const struct exp_report *r)
{
    char cpu[96], ruled[160] = "";

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(a->how, sizeof a->how, "Measured on %s%s: one thread, %s caches, the fastest quarter of %zu rounds; %s.",
            ctr_is_emulated() ? "an emulator, whose times say nothing about the CPU that it imitates, " : "", cpu,
            exp_cache_state_name(r->cache), r->info->n_rounds, exp_end_text(r->info->end));
    if (r->info->ruler.n_timings)
        exp_ruler_say(&r->info->ruler, ruled, sizeof ruled);
    if (*ruled)
        exp_say_more(a->how, sizeof a->how, " %s.", ruled);
    a->v.how = a->how;
    exp_disturbance_describe(&r->info->disturbance, a->disturbance, sizeof a->disturbance);
    a->v.disturbance = r->is_timed ? a->disturbance : NULL;
    a->v.observed = r->observed;
    a->v.why_no_check = r->why_elsewhere;
}

/* Keeps what is known of the estimates' error, as a string. */
static int find_errors(struct answer *a, const struct exp_report *r)
{
    size_t bytes;
    FILE *text = exp_memory_open(&a->elsewhere, &bytes);

    if (!text)
        return -ENOMEM;
    exp_known_errors_say(r->experiments_dir, text);
    if (fclose(text))
        return -ENOMEM;
    a->v.estimates_elsewhere = a->elsewhere;
    return 0;
}

static int fill(struct answer *a, const struct exp_report *r)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    const bool has_group = exp_total_find(total, n, exp_algo_chosen()) != NULL;
    const struct exp_total no_base = { .algo = exp_algo_base()->name,
                                       .why_no_time = "base was not selected",
                                       .speedup = exp_ratio_none() };
    int err;

    *a = (struct answer){ .v = { .model = r->e->model->name,
                                 .machine = r->e->setup->machine.name,
                                 .n_layers = r->e->model->n_layers,
                                 .variant = a->variant },
                          .layer = calloc(r->e->model->n_layers, sizeof *a->layer) };
    a->v.layer = a->layer;
    if (!a->layer)
        return -ENOMEM;
    for (size_t l = 0; l < a->v.n_layers; l++)
        a->layer[l] = r->e->model->layer[l].name;
    if (!r->is_timed)
        a->v.why_not_timed = r->e->cases[0].measured.why_no_time;
    else if (*r->info->why_disturbed)
        a->v.why_not_timed = r->info->why_disturbed;
    if (*r->info->why_no_base_steps.text)
        a->v.why_no_parts = r->info->why_no_base_steps.text;
    name_levels(a, &r->e->setup->machine);
    say_where(a, &r->e->setup->machine);
    describe(a, r);
    err = find_errors(a, r);
    err = err ? err : fill_variant(r, base ? base : &no_base, &a->v.reference);
    for (size_t i = 0; i < n && !err; i++) {
        if (&total[i] != base && !(has_group && exp_algo_find(total[i].algo)->when == EXP_ALGO_MEMBER))
            err = fill_variant(r, &total[i], &a->variant[a->v.n_variants++]);
    }
    return err;
}

static void release(struct answer *a)
{
    for (size_t i = 0; i < a->v.n_variants; i++)
        free(a->variant[i].layer);
    free(a->v.reference.layer);
    free(a->layer);
    free(a->elsewhere);
}

struct request {
    const struct exp_report *r;
    size_t most_rows;
    int (*print)(const struct exp_verdict *v, size_t most_rows, FILE *out);
};

static int print(const void *request, FILE *out)
{
    const struct request *q = request;
    struct answer a;
    int err = fill(&a, q->r);

    if (!err)
        err = q->print(&a.v, q->most_rows, out);
    release(&a);
    return err;
}

int exp_answer_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct request all = { r, SIZE_MAX, exp_verdict_print };

    return exp_outdir_write(dir, "verdict.txt", print, &all, why);
}

int exp_answer_print(const struct exp_report *r, FILE *out, struct exp_why *why)
{
    const struct request some = { r, MOST_ROWS, exp_verdict_print_last };
    int err = print(&some, out);

    return err ? exp_fail(why, err, "out of memory for the verdict") : 0;
}
