/* Three sentences: the reason of the fastest algorithm's speed, the algorithm's waits, and the layer to work on next. */
#include "experiments/show/page_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/layers.h"

enum { TEXT_BYTES = 600, N_WAITS = 5, MOST_WAITS = 3 };

static const double least_share = 0.005;

/* The fastest algorithm beside Base. */
struct subject {
    const struct exp_page_run *r;
    bool is_timed;     /* else by simulated cycles */
    enum measure cost; /* time, or cycles */
    double unit;       /* of the cost, for people */
    const char *unit_name, *best;
};

/* Returns the sum over the layers of a number; NaN if a layer lacks the number. */
static double sum_of(const struct subject *s, const char *algo, enum measure m)
{
    const struct exp_layers_row *row = s->r->layers.row;
    double sum = 0;

    for (size_t i = 0; i < s->r->n_layers; i++) {
        const size_t at = exp_page_row_shown_as(s->r, i, algo);

        sum += at < s->r->layers.table.n_rows && !row[at].of[m].why ? row[at].of[m].number : (double)NAN;
    }
    return sum;
}

/* Finds the algorithm with the least cost over all layers; NULL: Base is alone. */
static const char *find_best(const struct subject *s)
{
    const struct exp_layers_row *row = s->r->layers.row;
    const char *best = NULL;
    double least = (double)INFINITY;

    for (size_t i = s->r->layer[0].first; i < s->r->layer[0].first + s->r->layer[0].n; i++) {
        const char *name = exp_page_shown_as(&s->r->layer[0], row, i);
        const double cost = name && strcmp(name, exp_algo_base()->name) != 0 ? sum_of(s, name, s->cost) : (double)NAN;

        if (cost < least) {
            least = cost;
            best = name;
        }
    }
    return best;
}

static void add(struct exp_page_writer *w, const char *name, const char *value)
{
    if (*value)
        exp_page_fact(w, EXP_PAGE_LIST, &(struct exp_page_fact){ .name = name, .value = value, .note = "" });
}

/* ---- why ---- */

/* Returns the share of im2col and packing in the run step by step, in percent. */
static double packing_percent(const struct subject *s, const char *algo)
{
    const double packing = sum_of(s, algo, M_measured_im2col_ns) + sum_of(s, algo, M_measured_packing_ns);

    return 100 * packing / (packing + sum_of(s, algo, M_measured_kernel_ns) + sum_of(s, algo, M_measured_other_ns));
}

/* Names the part of the simulated cycles with the largest difference. */
static void say_cycles(const struct subject *s, char *text)
{
    const char *base = exp_algo_base()->name;
    const double all = sum_of(s, base, M_simulated_cycles);
    double largest = 0;
    size_t most = 0;

    for (size_t i = 0; i < EXP_PAGE_RUN_PARTS; i++) {
        const enum measure m = exp_page_run_parts[i].measure;
        const double saved = (sum_of(s, base, m) - sum_of(s, s->best, m)) / all;

        if (fabs(saved) > fabs(largest)) {
            largest = saved;
            most = i;
        }
    }
    if (fabs(largest) >= 0.01)
        exp_say(text, TEXT_BYTES, "By simulation, %s needs %.0f %% of Base's cycles %s for %s.",
                exp_page_algo_title(s->best), 100 * fabs(largest), largest > 0 ? "less" : "more",
                exp_page_run_parts[most].word);
}

static void say_why(const struct subject *s, char *text)
{
    const char *base = exp_algo_base()->name, *title = exp_page_algo_title(s->best);
    const double its = packing_percent(s, base), own = packing_percent(s, s->best);
    const double misses = sum_of(s, s->best, M_simulated_l1_load_misses) / sum_of(s, base, M_simulated_l1_load_misses);

    if (!isnan(its) && !isnan(own))
        exp_say(text, TEXT_BYTES,
                "Base spends %.0f %% of its time on im2col and packing, %s %.0f %%; its micro-kernels take %.2f of the "
                "time of Base's.",
                its, title, own, sum_of(s, s->best, M_measured_kernel_ns) / sum_of(s, base, M_measured_kernel_ns));
    else if (!isnan(sum_of(s, s->best, M_simulated_cycles)))
        say_cycles(s, text);
    if (!*text && !isnan(misses))
        exp_say(text, TEXT_BYTES, "By simulation, %s has %.2f of Base's load misses in L1.", title, misses);
}

/* ---- waits ---- */

/* Returns the largest part that is not said, from `first` on; EXP_PAGE_RUN_PARTS: none has half a percent. */
static size_t largest_part(const double *share, const bool *is_said, size_t first)
{
    size_t most = EXP_PAGE_RUN_PARTS;

    for (size_t i = first; i < EXP_PAGE_RUN_PARTS; i++) {
        if (!is_said[i] && share[i] > least_share && (most == EXP_PAGE_RUN_PARTS || share[i] > share[most]))
            most = i;
    }
    return most;
}

/* Says work and the largest waits as shares of the simulated cycles. */
static void say_cycles_of(const struct subject *s, const char *algo, char *text)
{
    const double all = sum_of(s, algo, M_simulated_cycles);
    bool is_said[EXP_PAGE_RUN_PARTS] = { false };
    double share[EXP_PAGE_RUN_PARTS];
    size_t most, n = 0;

    for (size_t i = 0; i < EXP_PAGE_RUN_PARTS; i++)
        share[i] = sum_of(s, algo, exp_page_run_parts[i].measure) / all;
    for (size_t i = 0; i < EXP_PAGE_RUN_PARTS - N_WAITS; i++)
        exp_say_more(text, TEXT_BYTES, "%s%s %.0f %%", i ? ", " : "", exp_page_run_parts[i].word, 100 * share[i]);
    while (n < MOST_WAITS && (most = largest_part(share, is_said, EXP_PAGE_RUN_PARTS - N_WAITS)) < EXP_PAGE_RUN_PARTS) {
        is_said[most] = true;
        n++;
        exp_say_more(text, TEXT_BYTES, ", %s %.0f %%", exp_page_run_parts[most].word, 100 * share[most]);
    }
    if (!n)
        exp_say_more(text, TEXT_BYTES, ", waiting below 1 %%");
}

/* Says how many loads miss each level. */
static void say_misses(const struct subject *s, const char *algo, char *text)
{
    static const enum measure misses[EXP_PAGE_LEVELS] = { M_simulated_l1_load_misses, M_simulated_l2_load_misses,
                                                          M_simulated_l3_load_misses };
    const double loads = sum_of(s, algo, M_simulated_loads);

    for (size_t i = 0; i < EXP_PAGE_LEVELS && loads > 0 && s->r->level[i]; i++)
        exp_say_more(text, TEXT_BYTES, "%s%s %.2f %%", i ? ", " : "", s->r->level[i],
                     100 * sum_of(s, algo, misses[i]) / loads);
}

static void say_waits(const struct subject *s, char *text)
{
    const char *base = exp_algo_base()->name;

    if (sum_of(s, s->best, M_simulated_cycles) > 0) {
        exp_say(text, TEXT_BYTES, "By simulation, of the cycles of %s: ", exp_page_algo_title(s->best));
        say_cycles_of(s, s->best, text);
        exp_say_more(text, TEXT_BYTES, "; of Base: ");
        say_cycles_of(s, base, text);
        exp_say_more(text, TEXT_BYTES, ". The lower bars of the figure show all parts.");
        return;
    }
    exp_say(text, TEXT_BYTES,
            "No waits are simulated for this machine. Loads that miss with %s: ", exp_page_algo_title(s->best));
    say_misses(s, s->best, text);
    exp_say_more(text, TEXT_BYTES, "; with Base: ");
    say_misses(s, base, text);
    exp_say_more(text, TEXT_BYTES, ".");
}

/* ---- next ---- */

/* A layer with its cheapest algorithm. */
struct cheapest {
    const char *algo;
    double cost, work, rate; /* work: operations; rate: operations for each ns or cycle */
};

static struct cheapest cheapest_of(const struct subject *s, size_t layer)
{
    const struct exp_layers_row *row = s->r->layers.row;
    const struct exp_page_layer *l = &s->r->layer[layer];
    struct cheapest c = { NULL, (double)INFINITY, 0, 0 };

    for (size_t i = l->first; i < l->first + l->n; i++) {
        const char *name = exp_page_shown_as(l, row, i);
        const double cost = row[i].of[s->cost].number;

        if (name && cost > 0 && cost < c.cost)
            c = (struct cheapest){ name, cost, (s->is_timed ? 2 : 1) * row[i].of[M_macs].number, 0 };
    }
    c.rate = c.work / c.cost;
    return c;
}

/* Finds the layer with the largest saving at a rate, from 1; 0: none. Adds up the cheapest costs. */
static size_t find_next(const struct subject *s, double roof, double *all)
{
    size_t next = 0;
    double most = 0;

    for (size_t i = 0; i < s->r->n_layers; i++) {
        const struct cheapest c = cheapest_of(s, i);
        const double saves = c.cost - c.work / roof;

        if (!c.algo)
            continue;
        *all += c.cost;
        if (saves > most) {
            most = saves;
            next = i + 1;
        }
    }
    return next;
}

static void add_next(struct exp_page_writer *w, const struct subject *s)
{
    double roof = s->is_timed ? exp_page_run_peak(s->r) : (double)NAN, all = 0;
    const bool has_peak = roof > 0;
    char text[TEXT_BYTES], cost[48], saves[48];
    struct cheapest c;
    size_t next;

    for (size_t i = 0; i < s->r->n_layers && !has_peak; i++)
        roof = fmax(roof, cheapest_of(s, i).rate);
    next = find_next(s, roof, &all);
    if (!next)
        return;
    c = cheapest_of(s, next - 1);
    exp_page_print_number(cost, sizeof cost, c.cost * s->unit, EXP_PAGE_DECIMAL);
    exp_page_print_number(saves, sizeof saves, (c.cost - c.work / roof) * s->unit, EXP_PAGE_DECIMAL);
    exp_say(text, sizeof text,
            "Its fastest algorithm, %s, takes %s %s, %.0f %% of all layers, at %.0f %% of %s. At that rate it would "
            "save %s %s, more than any other layer.",
            exp_page_algo_title(c.algo), cost, s->unit_name, 100 * c.cost / all, 100 * c.rate / roof,
            has_peak ? "the measured FMA peak" : "the best rate of a layer", saves, s->unit_name);
    exp_page_fact(w, EXP_PAGE_LIST,
                  &(struct exp_page_fact){ "which layer next", s->r->layer[next - 1].name, text, false,
                                           exp_page_of_layer(s->r, next - 1) });
}

void exp_page_why_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    struct subject s = { r, true, M_measured_time_ns, 1e-6, "ms", NULL };
    char why[TEXT_BYTES] = "", waits[TEXT_BYTES] = "";

    s.best = find_best(&s);
    if (!s.best) {
        s = (struct subject){ r, false, M_simulated_cycles, 1e-6, "million cycles", NULL };
        s.best = find_best(&s);
    }
    if (!s.best)
        return;
    say_why(&s, why);
    say_waits(&s, waits);
    add(w, "why", why);
    add(w, "what it waits for", waits);
    add_next(w, &s);
    exp_page_facts_end(w);
}
