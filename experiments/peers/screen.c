/* The screen of the peers: all methods over whole networks, the fastest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/peers/peers.h"

typedef struct exp_peers_total TOTAL;

/* The network of the screen: a single network, or all together. */
static size_t network_of(const struct exp_peers *p)
{
    return p->n_networks > 1 ? p->n_networks : 0;
}

static const TOTAL *total_of(const struct exp_peers *p, size_t method)
{
    return exp_peers_total(p, network_of(p), EXP_PEERS_NETWORK, method);
}

/* Orders methods by speed-up, the largest first; a method without a speed-up is last. */
static size_t *ordered(const struct exp_peers *p)
{
    size_t *order = exp_new(p->n_methods, sizeof *order);

    for (size_t i = 0; i < p->n_methods; i++) {
        const double x = total_of(p, i)->of[M_measured_speedup_vs_base].number;
        size_t at = i;

        while (at > 0 && !isnan(x) && !(total_of(p, order[at - 1])->of[M_measured_speedup_vs_base].number >= x)) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return order;
}

static enum exp_tone tone_of(const TOTAL *t)
{
    const double low = t->of[M_measured_speedup_low].number, high = t->of[M_measured_speedup_high].number;

    return low > 1 ? EXP_GOOD : high < 1 ? EXP_BAD : EXP_PLAIN;
}

static void put_method(struct exp_screen *s, const struct exp_peers *p, size_t method)
{
    const TOTAL *t = total_of(p, method), *warm = exp_peers_total(p, network_of(p), EXP_PEERS_WARM, method);

    exp_screen_row(s, "%s", p->method[method]->title);
    exp_screen_number(s, tone_of(t), t->of[M_measured_speedup_vs_base].number);
    exp_screen_number(s, EXP_PLAIN, warm->of[M_measured_speedup_vs_base].number);
    exp_screen_number(s, EXP_PLAIN, t->won_percent.number);
    exp_screen_number(s, EXP_PLAIN, t->peak_percent.number);
    exp_screen_number(s, EXP_PLAIN,
                      t->has_phases ? t->part_percent[0].number + t->part_percent[1].number : (double)NAN);
}

/* Names the first method without times of some layers, and the reason. */
static void say_missing(struct exp_screen *s, const struct exp_peers *p)
{
    for (size_t m = 0; m < p->n_methods; m++) {
        const TOTAL *t = total_of(p, m);

        if (t->why_not_all) {
            exp_screen_note(s, "missing", "%s lacks layers: %s", p->method[m]->title, t->why_not_all);
            return;
        }
    }
}

/* Returns the first words about a busy computer, of any network; "": the computer was never busy. */
static const char *busy_of(const struct exp_peers *p)
{
    size_t i = 0;

    while (i + 1 < p->n_networks && !*p->info[i][EXP_PEERS_NETWORK].busy)
        i++;
    return p->info[i][EXP_PEERS_NETWORK].busy;
}

void exp_peers_screen(const struct exp_peers *p, struct exp_screen *s)
{
    size_t *order = ordered(p);
    const TOTAL *best = total_of(p, order[0]);
    const struct value speedup = best->of[M_measured_speedup_vs_base];
    char state[400], interval[40] = "";

    if (p->n_networks && *busy_of(p))
        exp_say(interval, sizeof interval, " [%.2f, %.2f]", best->of[M_measured_speedup_low].number,
                best->of[M_measured_speedup_high].number);
    if (speedup.why)
        exp_screen_say(s, EXP_STRONG, "No method was timed: %s.", speedup.why);
    else if (!order[0])
        exp_screen_say(s, EXP_STRONG, "No method is as fast as %s over whole networks.", p->method[0]->label);
    else
        exp_screen_say(
            s, EXP_STRONG,
            "%s is the fastest of %zu methods: %.2f%s times as fast as %s, and faster in %.0f %% of the layers.",
            p->method[order[0]]->title, p->n_methods, speedup.number, interval, p->method[0]->label,
            best->won_percent.number);
    if (p->n_networks && *busy_of(p)) {
        exp_screen_note(s, "trust", "%s; %zu rounds", busy_of(p), p->info[0][EXP_PEERS_NETWORK].n_rounds);
    } else if (p->n_networks) {
        exp_disturbance_describe(&p->info[0][EXP_PEERS_NETWORK].disturbance, state, sizeof state);
        exp_screen_note(s, "trust", "the computer was %.*s; %zu rounds", (int)strcspn(state, ":"), state,
                        p->info[0][EXP_PEERS_NETWORK].n_rounds);
    }
    say_missing(s, p);
    exp_screen_row(s, "method");
    exp_screen_cell(s, EXP_PLAIN, "speed-up");
    exp_screen_cell(s, EXP_PLAIN, "warm caches");
    exp_screen_cell(s, EXP_PLAIN, "layers won %%");
    exp_screen_cell(s, EXP_PLAIN, "of peak %%");
    exp_screen_cell(s, EXP_PLAIN, "packing %%");
    for (size_t i = 0; i < p->n_methods; i++)
        put_method(s, p, order[i]);
    free(order);
}
