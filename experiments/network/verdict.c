/* A study of a network in words. */
#include <math.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/network/measure.h"

enum { LINE_BYTES = 64 };

/* ---- how fast ---- */

/* Tells whether an algorithm runs a step as a convolution. */
static bool has_convolutions(const struct net *net)
{
    for (size_t i = 0; i < net->n_steps; i++) {
        if (net->step[i].conv)
            return true;
    }
    return false;
}

/* Returns a number of the variant as asked. */
static struct value number_of(const struct net_study *s, const struct net_by_algo *by, enum net_measure m)
{
    const struct net_part part = net_part_of(s, by, NULL);

    return net_measure(&part, m);
}

/*
 * Prints the share of the convolutions, if there are any, and speed-ups over Base, of the network and of the
 * convolutions; a speed-up without a number is left out.
 */
static void say_ratios(const struct net_study *s, const struct net_by_algo *by, const struct net *net,
                       enum net_measure share, enum net_measure whole, enum net_measure conv, FILE *out)
{
    const bool is_base = by == net_study_base(s);

    if (has_convolutions(net))
        fprintf(out, ", of which convolutions are %.0f %%", number_of(s, by, share).number);
    if (is_base || number_of(s, by, whole).why)
        return;
    fprintf(out, ": %.2f times as fast as with Base", number_of(s, by, whole).number);
    if (!number_of(s, by, conv).why)
        fprintf(out, ", its convolutions %.2f times", number_of(s, by, conv).number);
}

static void say_times(const struct net_study *s, const struct net_by_algo *by, FILE *out)
{
    fprintf(out, "with %s it takes %.4g ms", by->algo->name, number_of(s, by, NET_measured_time_ns).number * 1e-6);
    say_ratios(s, by, by->timed.net, NET_measured_conv_share_percent, NET_measured_speedup_vs_base,
               NET_measured_conv_speedup_vs_base, out);
}

static void say_estimates(const struct net_study *s, const struct net_by_algo *by, FILE *out)
{
    fprintf(out, "with %s an estimate of %.4g million cycles if all loads wait", by->algo->name,
            number_of(s, by, NET_estimated_cycles).number * 1e-6);
    say_ratios(s, by, by->variant[NET_AS_ASKED].net, NET_estimated_conv_share_percent, NET_estimated_speedup_vs_base,
               NET_estimated_conv_speedup_vs_base, out);
}

/* Prints an algorithm's times, else estimates, behind `before`. Returns whether there are any. */
static bool say_speed(const struct net_study *s, const struct net_by_algo *by, const char *before, FILE *out)
{
    const bool is_timed = !*by->timed.missing.text,
               is_estimated = value_is_known(number_of(s, by, NET_estimated_cycles));

    if (is_timed || is_estimated)
        fputs(before, out);
    if (is_timed)
        say_times(s, by, out);
    else if (is_estimated)
        say_estimates(s, by, out);
    return is_timed || is_estimated;
}

/* Says the paper's Table 2, if the table has the network. */
static void say_paper(const struct net_study *s, FILE *out)
{
    struct net_published p;

    if (!net_published_of(s, &p, NULL) && value_is_known(p.speedup))
        fprintf(out,
                " The paper's Table 2 has, on its %s: %.2f times as fast, its convolutions %.2f times, which are %.0f "
                "%% of the time.",
                p.computer, p.speedup.number, p.conv_speedup.number, 100 * p.conv_share.number);
}

static void say_peer(const struct net_peer_timed *p, FILE *out)
{
    fprintf(out, " %s takes %.4g ms", p->name, net_peer_times_of(p).low_mean.number * 1e-6);
    if (!isnan(p->found.conv_share))
        fprintf(out, ", of which convolutions are %.0f %%", 100 * p->found.conv_share);
    fprintf(out, ".");
}

static void print_speed(const struct net_study *s, FILE *out)
{
    const char *before = "";

    fprintf(out, "%s, %s, %u thread%s: ", s->name, s->fuses ? "fused" : "not fused", s->n_threads,
            s->n_threads == 1 ? "" : "s");
    for (size_t a = 0; a < s->n_algos; a++) {
        if (say_speed(s, &s->by[a], before, out))
            before = "; ";
    }
    if (!*before)
        fprintf(out, "nothing was timed (%s), and there is no estimate (%s)", s->by[0].timed.missing.text,
                number_of(s, &s->by[0], NET_estimated_cycles).why);
    fprintf(out, ".");
    if (*s->peer.name && !*s->peer.missing.text)
        say_peer(&s->peer, out);
    if (net_study_base(s))
        say_paper(s, out);
    if (s->why_elsewhere)
        fprintf(out, " Times are this computer's, not the simulated machine's: %s.", s->why_elsewhere);
    fprintf(out, "\n");
}

/* ---- oddities ---- */

static void print_oddities(const struct net_study *s, FILE *out)
{
    const struct net *net = net_study_shown(s)->variant[NET_AS_ASKED].net;

    if (net->n_steps && !has_convolutions(net))
        fprintf(out, "No step is a convolution of filters that are constants: all algorithms run the same.\n");
    if (net->n_not_finite)
        fprintf(out, "The weights of %zu convolution%s, '%s'%s, have NaN or infinities: plain loops run %s.\n",
                net->n_not_finite, net->n_not_finite == 1 ? "" : "s", net->not_finite,
                net->n_not_finite == 1 ? "" : " the first", net->n_not_finite == 1 ? "it" : "them");
}

/* ---- in sequence ---- */

/* Prints lines as MiB. */
static void put_mib(double lines, FILE *out)
{
    const double mib = lines * LINE_BYTES / (1 << 20);

    if (mib > 0 && mib < 0.01)
        fprintf(out, "less than 0.01 MiB");
    else
        fprintf(out, "%.3g MiB", mib);
}

static void say_level(const struct net_part *x, FILE *out)
{
    fprintf(out, "%s %s ", x->level < x->s->setup->machine.n_levels ? "into" : "from", net_level_name(x->s, x->level));
    put_mib(net_measure(x, NET_sequence_lines).number, out);
    fprintf(out, " in sequence; ");
    put_mib(net_measure(x, NET_alone_lines).number, out);
    fprintf(out, " if each step starts with empty caches, ");
    put_mib(net_measure(x, NET_warm_lines).number, out);
    fprintf(out, " with what it left itself");
}

static void print_sequence(const struct net_study *s, FILE *out)
{
    const struct net_by_algo *by = net_study_shown(s);
    struct net_part part = net_part_of(s, by, NULL);

    if (net_measure(&part, NET_sequence_lines).why || net_measure(&part, NET_alone_lines).why)
        return;
    fprintf(out, "At the planner's addresses, %s, its %.0f steps with %s bring:",
            part.view == NET_CACHES_ALONE ? "by caches alone" : "on the machine as it is",
            net_measure(&part, NET_steps).number, by->algo->name);
    for (part.level = 1; part.level <= s->setup->machine.n_levels; part.level++) {
        fputs(part.level > 1 ? "; " : " ", out);
        say_level(&part, out);
    }
    fprintf(out, ".\n");
}

/* ---- costs and savings ---- */

/* Returns the lines of a variant of the network shown, by caches alone. */
static double lines_of(const struct net_study *s, enum net_variant v, size_t level, const struct net_which *w)
{
    return net_measure(&(struct net_part){ .s = s,
                                           .by = net_study_shown(s),
                                           .variant = v,
                                           .view = NET_CACHES_ALONE,
                                           .level = level,
                                           .which = w },
                       NET_sequence_lines)
        .number;
}

/* Prints each operator's share of the lines from memory, for the network without fusion. */
static void print_kinds(const struct net_study *s, FILE *out)
{
    const enum net_variant v = s->fuses ? NET_OTHER_FUSION : NET_AS_ASKED;
    const struct net_simulated *x = &net_study_shown(s)->variant[v];
    const size_t n = s->setup->machine.n_levels;
    static const char first[] = "Not fused, of what comes from memory ";
    const char *before = first;

    if (!x->net || !x->in_sequence[NET_CACHES_ALONE].counts)
        return;
    for (size_t i = 0; i < x->net->n_steps; i++) {
        const struct net_which w = { .op = x->net->step[i].op };
        double share;

        if (!net_is_first_of_op(x->net, i))
            continue;
        share = 100 * lines_of(s, v, n, &w) / lines_of(s, v, n, NULL);
        if (!(share >= 1))
            continue;
        fprintf(out, "%s%s is %.0f %%", before, w.op, share);
        before = ", ";
    }
    fputs(before == first ? "" : ".\n", out);
}

static void say_change(const struct net_study *s, enum net_variant v, size_t level, FILE *out)
{
    const double from = lines_of(s, NET_AS_ASKED, level, NULL), to = lines_of(s, v, level, NULL);

    fprintf(out, "%s%+.1f %% %s %s",
            level == 1                            ? ""
            : level == s->setup->machine.n_levels ? " and "
                                                  : ", ",
            from > 0 ? 100 * (to / from - 1) : 0, level < s->setup->machine.n_levels ? "into" : "from",
            net_level_name(s, level));
}

static void print_variants(const struct net_study *s, FILE *out)
{
    static const char *const what[NET_N_VARIANTS] = { [NET_NO_REUSE] = "if no memory were reused",
                                                      [NET_DEPTH_FIRST] = "if each branch were run to its end",
                                                      [NET_WIDTH_FIRST] = "if branches were run side by side" };
    static const char first[] = "Lines would change, by caches alone: ";
    const char *before = first;

    for (int v = NET_OTHER_FUSION; v < NET_N_VARIANTS; v++) {
        const struct net_simulated *x = &net_study_shown(s)->variant[v];

        if (*x->missing.text || !x->in_sequence[NET_CACHES_ALONE].counts)
            continue;
        fprintf(out, "%s%s ", before,
                v != NET_OTHER_FUSION ? what[v]
                : x->is_fused         ? "if nodes were fused"
                                      : "if nothing were fused");
        before = "; ";
        for (size_t l = 1; l <= s->setup->machine.n_levels; l++)
            say_change(s, (enum net_variant)v, l, out);
    }
    fputs(before == first ? "" : ".\n", out);
}

static void print_memory(const struct net_study *s, FILE *out)
{
    const struct net *net = net_study_shown(s)->variant[NET_AS_ASKED].net;

    fprintf(out,
            "The planner needs %.4g MiB for tensors and workspaces, %.3f times the largest set of them that is needed "
            "at once (%s).",
            (double)net->place_bytes[NET_ARENA] / (1 << 20),
            net->alive_bytes ? (double)net->place_bytes[NET_ARENA] / (double)net->alive_bytes : 1, net->heuristic);
    if (*s->types)
        fprintf(out, " %s", s->types);
    if (*s->checked)
        fprintf(out, " Checked against plain loops: %s.", s->checked);
    if (*s->agreement)
        fprintf(out, " Beside what others say: %s.", s->agreement);
    fprintf(out, "\n");
}

static int say(const void *study, FILE *out)
{
    const struct net_study *s = study;
    char headline[512];

    net_headline(s, headline, sizeof headline);
    fprintf(out, "%s\n", headline);
    print_speed(s, out);
    print_oddities(s, out);
    print_sequence(s, out);
    print_kinds(s, out);
    print_variants(s, out);
    print_memory(s, out);
    return 0;
}

int net_verdict_print(const struct net_study *s, FILE *out)
{
    return exp_wrap_print(say, s, out);
}
