/* Panels of AVX2's 16x24_taps: windows in place, masked where a tap reads padding; few windows are broadcast. */
#include <inttypes.h>

#include "kernels/emit/c_ukr_print.h"
#include "kernels/shape/sizes.h"

/* Accumulators of a tap: of filters, each as many as there are vectors of windows; or of windows. */
static size_t n_accumulators(const struct conv_routine_ukr *u)
{
    return u->few ? u->n_win : u->n_f;
}

/* Taps of a row with accumulators of their own: few products, added to one set, would wait for each other. */
static size_t n_sets(const struct conv_routine_ukr *u)
{
    enum { IN_FLIGHT = 8, MOST = 3 };
    size_t n = u->few ? u->n_win : u->n_f * ceil_div(u->n_win, u->lanes);

    return u->group == 1 ? 1 : min_size(MOST, ceil_div(IN_FLIGHT, n));
}

static size_t first_of(const struct conv_routine_ukr *u, size_t g)
{
    return g % n_sets(u) * n_accumulators(u);
}

static void print_few_products(const struct conv_c_ukr *p, size_t g, bool is_masked)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "        vec f = load_panel(filter, %zu);\n\n        KEEP(f);\n", u->n_f);
    for (size_t w = 0; w < u->n_win; w++) {
        if (is_masked)
            fprintf(p->out, "        if (live >> %zu & 1)\n    ", w);
        fprintf(p->out, "        c%zu_0 = multiply_add(f, broadcast(at + %zu), c%zu_0);\n", first_of(u, g) + w, w,
                first_of(u, g) + w);
    }
}

static void print_whole(const struct conv_c_ukr *p, size_t g)
{
    if (p->u->few)
        print_few_products(p, g, false);
    else
        conv_c_print_windows_step(p, "at", first_of(p->u, g), false);
}

static void print_masked(const struct conv_c_ukr *p, size_t g)
{
    fprintf(p->out, "        const uint32_t live = tap[%zu].live;\n\n", g);
    if (p->u->few)
        print_few_products(p, g, true);
    else
        conv_c_print_windows_step(p, "at", first_of(p->u, g), true);
}

/* The lives of a group's taps, put together by & or |. */
static void print_lives(const struct conv_c_ukr *p, const char *name, char sign)
{
    fprintf(p->out, "        const uint32_t %s = tap[0].live", name);
    for (size_t g = 1; g < p->u->group; g++)
        fprintf(p->out, " %c tap[%zu].live", sign, g);
    fprintf(p->out, ";\n");
}

/* All taps of a group; of three taps, the middle tap may read no padding where its neighbours do. */
static void print_taps(const struct conv_c_ukr *p, bool is_masked, bool is_middle_whole)
{
    for (size_t g = 0; g < p->u->group; g++)
        conv_c_print_tap(p, g, is_masked && !(is_middle_whole && g == 1) ? print_masked : print_whole);
}

/* A group without live windows is left out; else all its taps are taken, whatever is live. */
static void print_any(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;

    print_lives(p, "every", '&');
    print_lives(p, "some", '|');
    fprintf(p->out, "\n        if (every == 0x%" PRIx32 ") {\n", conv_c_all_windows(p));
    print_taps(p, false, false);
    if (u->group == 3 && !u->few) {
        fprintf(p->out, "        } else if (tap[1].live == 0x%" PRIx32 ") {\n", conv_c_all_windows(p));
        print_taps(p, true, true);
    }
    fprintf(p->out, "        } else if (some) {\n");
    print_taps(p, true, false);
    fprintf(p->out, "        } else {\n            filter += %zu;\n        }\n", u->group * u->n_f);
}

void conv_c_print_by_taps(const struct conv_c_ukr *p)
{
    static const struct conv_c_walk walk = { print_whole, print_any };
    const struct conv_routine_ukr *u = p->u;
    size_t n = n_accumulators(u), n_v = u->few ? 1 : ceil_div(u->n_win, u->lanes);

    conv_c_print_zeros(p, n_sets(u) * n, n_v);
    conv_c_print_walk(p, &walk);
    for (size_t i = n; i < n_sets(u) * n; i++)
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "    c%zu_%zu = add(c%zu_%zu, c%zu_%zu);\n", i % n, v, i % n, v, i, v);
    if (u->few)
        conv_c_print_few_outputs(u, "_0", p->out);
    else
        conv_c_print_windows_out(p);
}
