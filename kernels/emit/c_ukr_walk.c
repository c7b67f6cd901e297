/* Windows in place, tap by tap: tables of taps, and the loops over the tables. */
#include <inttypes.h>

#include "kernels/emit/c_ukr_print.h"
#include "kernels/shape/sizes.h"

size_t conv_c_taps(const struct conv_routine *r)
{
    return r->n_table / CONV_TAP_VALUES;
}

uint32_t conv_c_live(const struct conv_routine *r, size_t tap)
{
    return (uint32_t)r->table[CONV_TAP_VALUES * tap + 1];
}

static uint32_t bits(size_t n)
{
    return (1u << n) - 1;
}

uint32_t conv_c_all_windows(const struct conv_c_ukr *p)
{
    return bits(p->n_win);
}

/* Tells whether no tap leaves out any of n windows from `first` on. */
static bool is_whole(const struct conv_routine *r, size_t first, size_t n)
{
    size_t t = 0;

    while (t < conv_c_taps(r) && (conv_c_live(r, t) >> first & bits(n)) == bits(n))
        t++;
    return t == conv_c_taps(r);
}

bool conv_c_walks(const struct conv_routine *r)
{
    const struct conv_routine_ukr *u = &r->of.ukr;

    return u->by_taps || (u->by_filters && (conv_c_taps(r) > 1 || !is_whole(r, 0, u->n_win)));
}

unsigned conv_c_whole_parts(const struct conv_routine *r)
{
    const struct conv_routine_ukr *u = &r->of.ukr;
    unsigned whole = 0;
    size_t first = 0;

    if (!u->n_parts)
        return is_whole(r, 0, u->n_win);
    for (size_t i = 0; i < u->n_parts; first += u->part[i++])
        whole |= (unsigned)is_whole(r, first, u->part[i]) << i;
    return whole;
}

/* Channels whose taps share a loop: enough that the loop does not end every few steps. */
static size_t group_channels(const struct conv_routine *r)
{
    enum { GROUP_STEPS = 64 };

    return max_size(1, min_size(GROUP_STEPS, r->of.ukr.k) / conv_c_taps(r));
}

void conv_c_print_taps(const struct conv_c_ukr *p)
{
    const struct conv_routine *r = p->r;

    fprintf(p->out, "static const struct tap taps_%s_%zu[] = {\n", p->prefix, p->number);
    for (size_t c = 0; c < group_channels(r); c++)
        for (size_t t = 0; t < conv_c_taps(r); t++)
            fprintf(p->out, "    { %" PRId64 ", 0x%" PRIx32 " },\n",
                    (int64_t)(c * r->of.ukr.ld_in) + r->table[CONV_TAP_VALUES * t], conv_c_live(r, t));
    fprintf(p->out, "};\n\n");
}

void conv_c_print_tap(const struct conv_c_ukr *p, size_t g, void (*products)(const struct conv_c_ukr *p, size_t g))
{
    fprintf(p->out, "        {\n        const float *at = in + tap[%zu].in;\n\n", g);
    products(p, g);
    fprintf(p->out, "        filter += %zu;\n        }\n", p->u->n_f);
}

static void print_asking_group(const struct conv_c_ukr *p)
{
    if (p->asks && p->u->group > 1)
        fprintf(p->out,
                "        for (size_t s = t; s < t + %zu && s < n_steps; s++)\n            ask(ahead, n_ahead, s);\n",
                p->u->group);
    else
        conv_c_print_asking(p);
}

/* A group without dead windows and without prefetches has a loop of its own, which is shorter. */
void conv_c_print_walk(const struct conv_c_ukr *p, const struct conv_c_walk *walk)
{
    const struct conv_routine_ukr *u = p->u;
    size_t channels = group_channels(p->r), steps = channels * conv_c_taps(p->r);

    fprintf(p->out,
            "    for (size_t t = 0; t < %zu; in += %zu) {\n"
            "        const size_t end = t + %zu < %zu ? t + %zu : %zu;\n"
            "        const struct tap *tap = taps;\n\n"
            "        for (; (is_whole & 1)%s && t < end; t += %zu, tap += %zu) {\n",
            u->k, channels * u->ld_in, steps, u->k, steps, u->k, p->asks ? " && t >= n_steps" : "", u->group, u->group);
    for (size_t g = 0; g < u->group; g++)
        conv_c_print_tap(p, g, walk->whole);
    fprintf(p->out, "        }\n        for (; t < end; t += %zu, tap += %zu) {\n", u->group, u->group);
    walk->any(p);
    print_asking_group(p);
    fprintf(p->out, "        }\n    }\n");
}

void conv_c_print_asking(const struct conv_c_ukr *p)
{
    if (p->asks)
        fprintf(p->out, "        if (t < n_steps)\n            ask(ahead, n_ahead, t);\n");
}
