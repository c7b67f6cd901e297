#include "experiments/peers/exp_peers_plot.h"

#include "experiments/base/exp_error.h"

static bool is_any(enum exp_peer m)
{
    return m < EXP_N_PEERS;
}

static bool is_other(enum exp_peer m)
{
    return m != EXP_PEER_BASE && !exp_peer_is_sconv(m);
}

static const struct {
    const char *name, *quote;
    const char *(*text_of)(enum exp_peer m);
    bool (*is_in)(enum exp_peer m);
} lists[] = {
    { "peer_names", "", exp_peer_name, is_any },     { "peer_titles", "\"", exp_peer_title, is_any },
    { "peer_colours", "", exp_peer_colour, is_any }, { "sconv_peers", "", exp_peer_name, exp_peer_is_sconv },
    { "other_peers", "", exp_peer_name, is_other },
};

enum { N_LISTS = sizeof lists / sizeof lists[0], PEAK = N_LISTS, READ };

_Static_assert(READ + 1 == EXP_N_PEERS_VARIABLES, "the lists and the roof");

static void put_list(struct exp_peers_plot *p, size_t i)
{
    char *text = p->text[i];

    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (lists[i].is_in((enum exp_peer)m))
            exp_say_more(text, sizeof p->text[i], "%s%s%s%s", *text ? " " : "", lists[i].quote,
                         lists[i].text_of((enum exp_peer)m), lists[i].quote);
    }
    p->variable[i] = (struct exp_plot_variable){ lists[i].name, text };
}

static void put_number(struct exp_peers_plot *p, size_t i, const char *name, double value)
{
    exp_say(p->text[i], sizeof p->text[i], "%g", value);
    p->variable[i] = (struct exp_plot_variable){ name, p->text[i] };
}

void exp_peers_plot_init(struct exp_peers_plot *p, const struct exp_peers_report *r)
{
    double peak = 0, read = 0;

    *p = (struct exp_peers_plot){ 0 };
    for (size_t i = 0; i < N_LISTS; i++)
        put_list(p, i);
    for (size_t i = 0; i < r->n_models; i++) {
        peak += r->model[i].peak_gflops / (double)r->n_models;
        read += r->model[i].read_gbytes / (double)r->n_models;
    }
    put_number(p, PEAK, "peak_gflops", peak);
    put_number(p, READ, "read_gbytes", read);
}
