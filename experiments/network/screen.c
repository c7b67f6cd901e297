/*
 * The screen of a network: the step to optimise first. A step's rate is compared with the best rate of the network,
 * because a step as fast as the best step would save time.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/measure.h"

enum { LINE_BYTES = 64 };

/* What the steps are compared by: the first that is known. */
struct unit {
    enum net_measure measure;
    const char *name, *noun, *rate_name; /* rate_name NULL: no rate of multiply-adds */
    double one;                          /* in the unit of the numbers */
};

static const struct unit by_time = { NET_measured_time_ns, "ms", "time", "multiply-adds a ns", 1e6 },
                         by_cycles = { NET_estimated_cycles, "million cycles", "simulated cycles",
                                       "multiply-adds a cycle", 1e6 },
                         by_memory = { NET_sequence_lines, "MiB from memory", "simulated lines from memory", NULL,
                                       (1 << 20) / (double)LINE_BYTES },
                         by_macs = { NET_macs, "million multiply-adds", "multiply-adds", NULL, 1e6 };

/* Steps of equal shape. */
struct group {
    const struct net_step *step; /* the first one */
    size_t n, second;            /* number of the second step */
    double cost, macs, saves;    /* cost in ns, cycles, lines or multiply-adds; saves NaN: no multiply-adds */
};

struct subject {
    const struct net_study *s;
    const struct net_by_algo *by;
    const struct net *net;
    const struct unit *unit;
    struct group *group; /* [n] the highest cost first */
    size_t n;
    double all, roof;          /* the sum of the costs, and the best rate; 0: there is none */
    const struct group *first; /* the group that saves most; NULL: none */
};

/* ---- names ---- */

/* Tells whether a name says more than a number: files without names have "n12" and "Conv_12". */
static bool is_telling(const struct net_step *step)
{
    const size_t op = strlen(step->op);
    const char *name = step->name;
    size_t n_letters = 0;

    if (!strncmp(name, step->op, op))
        name += op;
    for (; *name; name++)
        n_letters += isalpha((unsigned char)*name) != 0;
    return n_letters > 2;
}

static void say_shape(const struct net *net, const struct net_step *step, char *text, size_t bytes)
{
    const size_t t = step->n_out ? step->out[0] : ONNX_NONE, v = t == ONNX_NONE ? ONNX_NONE : net->tensor[t].value;

    if (step->conv) {
        const struct conv_problem *p = &step->conv->plan.problem;

        exp_say_more(text, bytes, " %zux%zu, %zu to %zu, %zux%zu", p->r, p->s, p->c, p->k, p->p, p->q);
        return;
    }
    for (size_t d = 1; v != ONNX_NONE && d < net->graph->value[v].n_dims; d++)
        exp_say_more(text, bytes, "%s%lld", d > 1 ? "x" : " ", (long long)net->graph->value[v].dim[d]);
}

/* Names a group by the first step, and by operator and shape where the file has no name. */
static void say_name(const struct net *net, const struct group *g, char *text, size_t bytes)
{
    exp_say(text, bytes, "%s", g->step->name);
    if (g->n == 2)
        exp_say_more(text, bytes, ", %s", net->step[g->second].name);
    else if (g->n > 2)
        exp_say_more(text, bytes, " and %zu more", g->n - 1);
    if (is_telling(g->step))
        return;
    exp_say_more(text, bytes, " (%s", g->step->op);
    say_shape(net, g->step, text, bytes);
    exp_say_more(text, bytes, ")");
}

/* ---- costs ---- */

/* Returns an algorithm's cost of the steps asked about; NaN: not known. */
static double cost_of(const struct net_study *s, const struct net_by_algo *by, enum net_measure m,
                      const struct net_which *w)
{
    const struct net_part part = net_part_of(s, by, w);

    return net_measure(&part, m).number;
}

/* Chooses what is compared, and the algorithm with the lowest cost. */
static void choose(struct subject *x)
{
    static const struct unit *const units[] = { &by_time, &by_cycles, &by_memory, &by_macs };

    for (size_t u = 0; u < sizeof units / sizeof units[0] && !x->by; u++) {
        double least = (double)INFINITY;

        x->unit = units[u];
        for (size_t a = 0; a < x->s->n_algos; a++) {
            const double cost = cost_of(x->s, &x->s->by[a], x->unit->measure, NULL);

            if (cost < least) {
                least = cost;
                x->by = &x->s->by[a];
            }
        }
    }
    if (!x->by)
        x->by = net_study_shown(x->s);
    x->net = x->unit == &by_time ? x->by->timed.net : x->by->variant[NET_AS_ASKED].net;
}

static bool is_equal(const struct net *net, const struct net_step *a, const struct net_step *b)
{
    char of_a[512] = "", of_b[512] = "";

    if (strcmp(a->op, b->op) != 0 || !a->conv != !b->conv)
        return false;
    if (a->conv)
        return !memcmp(&a->conv->plan.problem, &b->conv->plan.problem, sizeof a->conv->plan.problem);
    say_shape(net, a, of_a, sizeof of_a);
    say_shape(net, b, of_b, sizeof of_b);
    return !strcmp(of_a, of_b);
}

static void add_step(struct subject *x, size_t i)
{
    const struct net_step *step = &x->net->step[i];
    size_t g = 0;

    while (g < x->n && !is_equal(x->net, x->group[g].step, step))
        g++;
    if (g == x->n)
        x->group[x->n++] = (struct group){ .step = step };
    x->group[g].n++;
    if (x->group[g].n == 2)
        x->group[g].second = i;
    x->group[g].cost += cost_of(x->s, x->by, x->unit->measure, &(struct net_which){ .step = step });
    x->group[g].macs += net_step_macs(x->net, step);
}

static int by_cost(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return (x->cost < y->cost) - (x->cost > y->cost);
}

/* Finds the best rate, of groups with at least a hundredth of the cost, and the savings at this rate. */
static void find_roof(struct subject *x)
{
    for (size_t g = 0; g < x->n && x->unit->rate_name; g++) {
        if (x->group[g].cost >= 0.01 * x->all)
            x->roof = fmax(x->roof, x->group[g].macs / x->group[g].cost);
    }
    for (size_t g = 0; g < x->n; g++) {
        struct group *group = &x->group[g];

        group->saves = x->roof > 0 && group->macs > 0 ? fmax(group->cost - group->macs / x->roof, 0) : (double)NAN;
        if (group->saves > 0 && (!x->first || group->saves > x->first->saves))
            x->first = group;
    }
}

/* Returns the subject of the screen; the caller frees `group`. */
static struct subject subject_of(const struct net_study *s)
{
    struct subject x = { .s = s };

    choose(&x);
    x.group = exp_new(x.net->n_steps + 1, sizeof *x.group);
    for (size_t i = 0; i < x.net->n_steps; i++)
        add_step(&x, i);
    for (size_t g = 0; g < x.n; g++)
        x.all += x.group[g].cost;
    qsort(x.group, x.n, sizeof *x.group, by_cost);
    if (x.all > 0)
        find_roof(&x);
    return x;
}

/* ---- sentences ---- */

static double share_of(const struct subject *x, double cost)
{
    return x->all > 0 ? 100 * cost / x->all : 0;
}

static void say_headline(const struct subject *x, char *text, size_t bytes)
{
    char name[128];

    if (!x->n || !(x->all > 0)) {
        exp_say(text, bytes, "No step of the network has anything to optimise: nothing was measured or simulated.");
        return;
    }
    say_name(x->net, x->first ? x->first : x->group, name, sizeof name);
    if (!x->first) {
        exp_say(text, bytes, "%s %s most: %.0f %% of the network's %s.", name, x->group->n > 1 ? "take" : "takes",
                share_of(x, x->group->cost), x->unit->noun);
        return;
    }
    exp_say(text, bytes,
            "Optimise %s first: %s %.0f %% of the %s at %.3g %s. At %.3g, the best rate of this network, the network "
            "would be %.2f times as fast%s.",
            name, x->first->n > 1 ? "the steps take" : "the step takes", share_of(x, x->first->cost), x->unit->noun,
            x->first->macs / x->first->cost, x->unit->rate_name, x->roof, x->all / (x->all - x->first->saves),
            x->unit == &by_time ? "" : " by simulation");
}

void net_headline(const struct net_study *s, char *text, size_t bytes)
{
    struct subject x = subject_of(s);

    say_headline(&x, text, bytes);
    free(x.group);
}

static void say_whole(const struct subject *x, struct exp_screen *screen)
{
    const struct net_by_algo *base = net_study_base(x->s);
    const double whole = cost_of(x->s, x->by, x->unit->measure, NULL),
                 of_base = base ? cost_of(x->s, base, x->unit->measure, NULL) : (double)NAN;
    char text[512] = "";

    exp_say(text, sizeof text, "The whole network takes %.*f %s with %s", exp_screen_digits(whole / x->unit->one),
            whole / x->unit->one, x->unit->name, x->by->algo->name);
    if (x->by != base && x->unit == &by_time) {
        const struct exp_ratio r = net_speedup(x->s, x->by, NULL);

        if (!isnan(r.value))
            exp_say_more(text, sizeof text, ", %.2f times as fast as with Base [%.2f, %.2f]", r.value, r.low, r.high);
    } else if (x->by != base && of_base > 0 && x->unit->rate_name) {
        exp_say_more(text, sizeof text, ", %.2f times as fast as with Base", of_base / whole);
    }
    exp_say_more(text, sizeof text, ".");
    if (*x->s->peer.name && !*x->s->peer.missing.text)
        exp_say_more(text, sizeof text, " %s takes %.3g ms.", x->s->peer.name,
                     net_peer_times_of(&x->s->peer).low_mean.number * 1e-6);
    exp_screen_say(screen, EXP_PLAIN, "%s", text);
}

/* Names the operators with the highest shares. */
static void say_kinds(const struct subject *x, struct exp_screen *screen)
{
    char text[512] = "";

    for (size_t g = 0; g < x->n; g++) {
        const char *op = x->group[g].step->op;
        bool is_first = true;
        double sum = 0;

        for (size_t i = 0; i < x->n; i++) {
            if (strcmp(x->group[i].step->op, op) != 0)
                continue;
            is_first &= i >= g;
            sum += x->group[i].cost;
        }
        if (is_first && share_of(x, sum) >= 1)
            exp_say_more(text, sizeof text, "%s%s %.0f %%", *text ? ", " : "", op, share_of(x, sum));
    }
    exp_screen_note(screen, "shares", "%s", text);
}

static double mib_of(struct value lines)
{
    return lines.number * LINE_BYTES / (1 << 20);
}

/* Says what comes from memory, in sequence and for each step alone. */
static void say_memory(const struct subject *x, struct exp_screen *screen)
{
    const struct net_part part = net_part_of(x->s, x->by, NULL);
    const struct value sequence = net_measure(&part, NET_sequence_lines), alone = net_measure(&part, NET_alone_lines);

    if (sequence.why)
        return;
    if (alone.why)
        exp_screen_note(screen, "memory", "%.3g MiB come from memory in sequence", mib_of(sequence));
    else
        exp_screen_note(screen, "memory",
                        "%.3g MiB come from memory in sequence, %.3g MiB if each step starts with empty caches",
                        mib_of(sequence), mib_of(alone));
}

static void say_trust(const struct subject *x, struct exp_screen *screen)
{
    const struct net_study *s = x->s;
    const char *untimed = s->by[0].timed.missing.text;

    if (*untimed)
        exp_screen_note(screen, "trust", "the time was not measured: %s", untimed);
    else
        exp_screen_note(
            screen, "trust", "%zu round%s, %s%s%s", s->n_rounds, s->n_rounds == 1 ? "" : "s", exp_end_text(s->end),
            *s->checked ? "; all steps were checked against plain loops" : "; no step was checked (CHECK=0)",
            s->why_elsewhere ? "; times are this computer's, not the simulated machine's" : "");
    if (*s->peer.name && *s->peer.missing.text)
        exp_screen_note(screen, "beside", "no time of ONNX Runtime: %s", s->peer.missing.text);
    exp_screen_note(screen, "types", "%s", s->types);
}

/* ---- the table ---- */

/* Multiply-adds for each unit of cost stand in the table; a network without any has no rate. */
static bool has_rate(const struct subject *x)
{
    return x->unit->rate_name && x->roof > 0;
}

static void put_head(const struct subject *x, struct exp_screen *screen)
{
    exp_screen_row(screen, "step");
    exp_screen_cell(screen, EXP_PLAIN, "%s", x->unit->name);
    exp_screen_cell(screen, EXP_PLAIN, "share");
    if (!has_rate(x))
        return;
    exp_screen_cell(screen, EXP_PLAIN, x->unit == &by_time ? "MACs/ns" : "MACs/cycle");
    exp_screen_cell(screen, EXP_PLAIN, x->unit == &by_time ? "saves ms at %.3g" : "saves at %.3g", x->roof);
}

static void put_group(const struct subject *x, const struct group *g, const char *name, struct exp_screen *screen)
{
    exp_screen_row(screen, "%s", name);
    exp_screen_number(screen, EXP_PLAIN, g->cost / x->unit->one);
    exp_screen_cell(screen, EXP_PLAIN, "%.1f %%", share_of(x, g->cost));
    if (!has_rate(x))
        return;
    exp_screen_number(screen, g == x->first ? EXP_BAD : EXP_PLAIN, g->macs > 0 ? g->macs / g->cost : (double)NAN);
    exp_screen_number(screen, g == x->first ? EXP_GOOD : EXP_PLAIN, g->saves / x->unit->one);
}

static void put_table(const struct subject *x, size_t rows, struct exp_screen *screen)
{
    const size_t n = x->n > rows ? rows - 1 : x->n;
    struct group rest = { .n = 0 };
    char name[128];

    put_head(x, screen);
    for (size_t g = 0; g < n; g++) {
        say_name(x->net, &x->group[g], name, sizeof name);
        put_group(x, &x->group[g], name, screen);
    }
    for (size_t g = n; g < x->n; g++) {
        rest.n += x->group[g].n;
        rest.cost += x->group[g].cost;
        rest.macs += x->group[g].macs;
        rest.saves += isnan(x->group[g].saves) ? 0 : x->group[g].saves;
    }
    if (!rest.n)
        return;
    exp_say(name, sizeof name, "%zu more steps", rest.n);
    put_group(x, &rest, name, screen);
}

void net_screen(const struct net_study *s, struct exp_screen *screen)
{
    enum { ROWS = 9 };
    struct subject x = subject_of(s);
    char text[512];

    exp_screen_title(screen, "%s, %zu steps, %s, %u thread%s, %s%s", s->name, x.net->n_steps,
                     s->fuses ? "fused" : "not fused", s->n_threads, s->n_threads == 1 ? "" : "s",
                     x.unit == &by_time ? "measured on this computer" : "simulated machine ",
                     x.unit == &by_time ? "" : s->setup->machine.name);
    say_headline(&x, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    say_whole(&x, screen);
    say_kinds(&x, screen);
    say_memory(&x, screen);
    say_trust(&x, screen);
    if (x.all > 0)
        put_table(&x, ROWS, screen);
    free(x.group);
}
