/* Prints what was observed, for the terminal and in sentences: the other half of exp_observe.h. */
#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/observe/exp_observe.h"
#include "experiments/replay/exp_totals.h"

const char *exp_observe_known_difference(const struct exp_observation *x)
{
    return exp_guest_used_small_kernels(x->seen)
               ? "OpenBLAS used its small-matrix kernel, which packs nothing and is not replayed"
               : NULL;
}

/* ---- in short ---- */

/* Returns the smallest share of a layer that its observations have. */
static double layer_share(const struct exp_observed *o, size_t first)
{
    double share = 1;

    for (size_t i = first; i < first + o->experiment.n_algos; i++) {
        if (exp_observe_is_meant(o, i))
            share = fmin(share, *o->observation[i].why_not ? 0 : o->observation[i].share);
    }
    return share;
}

/* Shapes that were observed in part, by some algorithm at least. */
static size_t count_parts(const struct exp_observed *o)
{
    size_t n = 0;

    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i += o->experiment.n_algos)
        n += o->observation[i].same_as == i && layer_share(o, i) > 0 && layer_share(o, i) < 1;
    return n;
}

void exp_observe_describe(const struct exp_observed *o, char *text, size_t bytes)
{
    const struct exp_way *emulated = &o->way[EXP_WAY_EMULATED], *twin = &o->way[EXP_WAY_TWIN];
    const struct conv_ukr *own = o->unobserved_ukr;
    size_t n_observed, n = exp_observe_count(o, &n_observed);

    exp_say(text, bytes, "%s", o->observation ? "SConv " : "nothing");
    if (!o->observation)
        return;
    if (o->rewritten_core)
        exp_say_more(text, bytes, "%s and OpenBLAS %s as %ss", own->name, o->rewritten_core, twin->emulator->source);
    else if (twin->emulator)
        exp_say_more(text, bytes, "%s as %s, OpenBLAS %s %s", own->name, twin->emulator->source,
                     emulated->setup.core->name, emulated->emulator->source);
    else
        exp_say_more(text, bytes, "%s%s%s%s and OpenBLAS %s %s", emulated->setup.ukr->name, own ? " (for " : "",
                     own ? own->name : "", own ? ", which is not emulated)" : "", emulated->setup.core->name,
                     emulated->emulator->source);
    if (n_observed < n)
        exp_say_more(text, bytes, "; %zu of %zu shapes", n_observed, n);
    else if (o->mode != EXP_OBSERVE_ALL)
        exp_say_more(text, bytes, "; one of each shape");
    if (count_parts(o))
        exp_say_more(text, bytes, ", of large ones a part");
}

/* ---- the table ---- */

static void print_level(const struct exp_observation *x, const struct sim_cell *seen, const struct sim_cell *replayed,
                        size_t named, FILE *out)
{
    double a = exp_load_misses(&x->seen->stats, seen, named), b = exp_load_misses(x->replayed, replayed, named);

    fprintf(out, " %8.3f", seen->loads ? 100 * a / (double)seen->loads : 0);
    if (b > 0)
        fprintf(out, " %+7.2f", 100 * (a - b) / b);
    else
        fprintf(out, " %7s", a > 0 ? "-" : "+0.00");
}

static void print_case(const struct exp_case *c, const struct exp_observation *x, size_t n_levels, FILE *out)
{
    struct sim_cell seen, replayed;
    double a, b;

    fprintf(out, "%-24.24s %-14s", c->layer->name, c->algo->name);
    if (*x->why_not) {
        fprintf(out, " not available: %s\n", x->why_not);
        return;
    }
    seen = sim_stats_total(&x->seen->stats);
    replayed = sim_stats_total(x->replayed);
    a = (double)(seen.loads + seen.stores);
    b = (double)(replayed.loads + replayed.stores);
    fprintf(out, " %6.1f %11.4g %+7.2f", 100 * x->share, a, 100 * (a - b) / b);
    for (size_t l = 0; l < n_levels; l++)
        print_level(x, &seen, &replayed, l, out);
    if (exp_observe_known_difference(x))
        fprintf(out, "  (%s)", exp_observe_known_difference(x));
    fprintf(out, "\n");
}

/* ---- algorithm by algorithm ---- */

struct loads {
    double n, misses[EXP_N_NAMED_LEVELS];
};

static void add_loads(struct loads *to, const struct sim_stats *s)
{
    const struct sim_cell sum = sim_stats_total(s);

    to->n += (double)sum.loads;
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++)
        to->misses[l] += exp_load_misses(s, &sum, l);
}

/* Sums up the observed layers of an algorithm. */
struct sums {
    double macs, observed_macs;
    struct loads seen, replayed;
    struct loads whole; /* the whole layers, simulated; of the algorithm's own kernel, or nothing */
};

static struct sums sum_algo(const struct exp_observed *o, const struct exp_experiment *e, size_t algo)
{
    struct sums s = { 0 };

    for (size_t i = algo; i < o->experiment.n_cases; i += o->experiment.n_algos) {
        const struct exp_observation *x = &o->observation[i];
        double macs = conv_macs(&e->cases[i].layer->problem);

        s.macs += macs;
        if (*x->why_not)
            continue;
        s.observed_macs += x->share * macs;
        add_loads(&s.seen, &x->seen->stats);
        add_loads(&s.replayed, x->replayed);
        if (!e->cases[i].observed.why_not && !e->cases[i].simulated.why_not)
            add_loads(&s.whole, &e->cases[i].simulated.stats);
    }
    return s;
}

static void print_rate(const struct loads *l, size_t level, FILE *out)
{
    if (l->n > 0)
        fprintf(out, " %8.3f", 100 * l->misses[level] / l->n);
    else
        fprintf(out, " %8s", "-");
}

static void print_algo(const struct exp_observed *o, const struct exp_experiment *e, size_t algo, FILE *out)
{
    const struct exp_case *c = &o->experiment.cases[algo];
    const struct sums s = sum_algo(o, e, algo);

    fprintf(out, "%-15s %-34.34s %6.1f", c->algo->name,
            conv_plan_is_base(&c->plan) ? conv_plan_core(&c->plan)->name : conv_plan_kernel_name(&c->plan),
            100 * s.observed_macs / s.macs);
    for (size_t l = 0; l < exp_n_level_names(&o->way[EXP_WAY_EMULATED].setup.machine); l++) {
        print_rate(&s.seen, l, out);
        print_rate(&s.replayed, l, out);
        print_rate(&s.whole, l, out);
    }
    fprintf(out, "\n");
}

static void print_algos(const struct exp_observed *o, const struct exp_experiment *e, FILE *out)
{
    const struct sim_machine *m = &o->way[EXP_WAY_EMULATED].setup.machine;

    fprintf(
        out,
        "\nthe observed layers together: load misses as %% of loads, observed (obs), in the replay of just what was\n"
        "observed (repl), and simulated of the whole of those layers (all; -: with another kernel)\n");
    fprintf(out, "%-15s %-34s %6s", "", "", "");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8.8s %8s %8s", exp_level_name(m, l), "", "");
    fprintf(out, "\n%-15s %-34s %6s", "algo", "kernel", "part %");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8s %8s %8s", "obs", "repl", "all");
    fprintf(out, "\n");
    for (size_t a = 0; a < o->experiment.n_algos; a++)
        print_algo(o, e, a, out);
}

/* The largest difference of a level's load misses, in % of the replayed ones, where the two should be equal. */
static double largest_difference(const struct exp_observed *o, size_t named)
{
    double largest = 0;

    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        const struct exp_observation *x = &o->observation[i];
        struct sim_cell seen, replayed;
        double a, b;

        if (*x->why_not || x->same_as != i || exp_observe_known_difference(x))
            continue;
        seen = sim_stats_total(&x->seen->stats);
        replayed = sim_stats_total(x->replayed);
        a = exp_load_misses(&x->seen->stats, &seen, named);
        b = exp_load_misses(x->replayed, &replayed, named);
        if (a > b || a < b)
            largest = fmax(largest, b > 0 ? 100 * fabs(a - b) / b : (double)INFINITY);
    }
    return largest;
}

static void say_parts(const struct exp_observed *o, char *text, size_t bytes)
{
    double least = 1;

    for (size_t i = 0; i < o->experiment.n_cases; i += o->experiment.n_algos)
        least = layer_share(o, i) > 0 ? fmin(least, layer_share(o, i)) : least;
    exp_say_more(text, bytes, ", %zu of them in part, %.1f %% or more of each", count_parts(o), 100 * least);
}

static void say_left_out(const struct exp_observed *o, size_t n, char *text, size_t bytes)
{
    exp_say_more(text, bytes,
                 "; %zu left out, the time for observing was over (OBSERVE_LIMIT=%u; another run goes on from here, "
                 "OBSERVE=sample observes all of every shape)",
                 n, o->limit_s);
}

static void say_differences(const struct exp_observed *o, char *text, size_t bytes)
{
    exp_say_more(text, bytes, ". Load misses observed differ from those replayed by at most");
    for (size_t l = 0; l < exp_n_level_names(&o->way[EXP_WAY_EMULATED].setup.machine); l++)
        exp_say_more(text, bytes, "%s %.2f %% in %s", l ? "," : "", largest_difference(o, l),
                     exp_level_name(&o->way[EXP_WAY_EMULATED].setup.machine, l));
    exp_say_more(text, bytes, ".");
}

/* A reason why something is missing, though there was time for it; NULL if nothing is. */
static const char *why_not(const struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        if (*o->observation[i].why_not && !o->observation[i].is_left_out && exp_observe_is_meant(o, i))
            return o->observation[i].why_not;
    }
    return NULL;
}

static size_t count_left_out(const struct exp_observed *o)
{
    size_t n = 0;

    for (size_t i = 0; i < o->experiment.n_cases; i += o->experiment.n_algos) {
        bool is_left_out = false;

        for (size_t a = i; a < i + o->experiment.n_algos && o->observation[i].same_as == i; a++)
            is_left_out |= o->observation[a].is_left_out;
        n += is_left_out;
    }
    return n;
}

static bool is_anything_observed(const struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        if (!*o->observation[i].why_not)
            return true;
    }
    return false;
}

void exp_observe_sum_up(const struct exp_observed *o, char *text, size_t bytes)
{
    size_t n, n_observed, n_left_out;

    *text = '\0';
    if (!o->observation)
        return;
    n = exp_observe_count(o, &n_observed);
    n_left_out = count_left_out(o);
    exp_say_more(text, bytes, "observed %zu of %zu %s in %.0f s", n_observed, n,
                 o->mode == EXP_OBSERVE_ALL ? "layers" : "shapes", o->spent_s);
    if (count_parts(o))
        say_parts(o, text, bytes);
    if (n_left_out)
        say_left_out(o, n_left_out, text, bytes);
    if (why_not(o))
        exp_say_more(text, bytes, "; not available: %s", why_not(o));
    if (is_anything_observed(o))
        say_differences(o, text, bytes);
}

static void print_heading(const struct exp_observed *o, FILE *out)
{
    const struct sim_machine *m = &o->way[EXP_WAY_EMULATED].setup.machine;
    char how[320];

    exp_observe_describe(o, how, sizeof how);
    fprintf(out, "\nobserved (%s), simulated on %s\n", how, m->name);
    fprintf(out,
            "%% of the layer that was observed; accesses to tensors; load misses as %% of loads; each beside what it\n"
            "differs by from the replay of the same, in %%\n");
    fprintf(out, "%-24s %-14s %6s %11s %7s", "layer", "algo", "part %", "accesses", "diff");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8.8s %7s", exp_level_name(m, l), "diff");
    fprintf(out, "\n");
}

void exp_observe_print(const struct exp_observed *o, const struct exp_experiment *e, FILE *out)
{
    char sum[768];

    if (!o->observation)
        return;
    if (is_anything_observed(o))
        print_heading(o, out);
    for (size_t i = 0; i < o->experiment.n_cases && is_anything_observed(o); i++) {
        if (o->observation[i].same_as == i && !o->observation[i].is_left_out)
            print_case(&o->experiment.cases[i], &o->observation[i],
                       exp_n_level_names(&o->way[EXP_WAY_EMULATED].setup.machine), out);
    }
    if (is_anything_observed(o))
        print_algos(o, e, out);
    exp_observe_sum_up(o, sum, sizeof sum);
    fprintf(out, "%s%s\n", is_anything_observed(o) ? "" : "\n", sum);
}
