#include "kernels/emit/c_ukr.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/emit/c_ukr_few.h"
#include "kernels/sizes.h"

/* What is printed, and where to: the code of one routine, or of several that differ by their tables only. */
struct printer {
    FILE *out;
    const struct conv_program *program;
    const struct conv_routine *r;
    const struct conv_routine_ukr *u;
    const char *prefix;
    size_t number;
    bool asks; /* for what is prefetched */
};

/* Whether two routines differ by nothing but what they prefetch, and which windows are there. */
static bool has_code_of(const struct conv_routine *a, const struct conv_routine *b)
{
    struct conv_routine_ukr x, y;

    if (a->kind != b->kind || a->n_table != b->n_table)
        return false;
    x = a->of.ukr;
    y = b->of.ukr;
    x.n_ahead = y.n_ahead = 0;
    memset(x.ahead, 0, sizeof x.ahead);
    memset(y.ahead, 0, sizeof y.ahead);
    return !memcmp(&x, &y, sizeof x);
}

static void print_asking(const struct printer *p)
{
    if (p->asks)
        fprintf(p->out, "        if (t < n_steps)\n            ask(ahead, n_ahead, t);\n");
}

static void print_zeros(const struct printer *p, size_t n, size_t n_v)
{
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "    vec c%zu_%zu = zero();\n", i, v);
    fprintf(p->out, "\n");
}

/* ---- windows side by side ---- */

static void print_windows_step(const struct printer *p, size_t n_v, size_t last)
{
    const struct conv_routine_ukr *u = p->u;

    for (size_t v = 0; v < n_v; v++) {
        bool is_whole = u->is_packed || v + 1 < n_v || last == u->lanes;

        fprintf(p->out,
                is_whole ? "        vec w%zu = load(in + %zu);\n" : "        vec w%zu = load_first(in + %zu, %zu);\n",
                v, v * u->in_step, last);
        fprintf(p->out, "        KEEP(w%zu);\n", v);
    }
    for (size_t f = 0; f < u->n_f; f++) {
        fprintf(p->out, "        const vec f%zu = broadcast(filter + %zu);\n", f, f);
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "        c%zu_%zu = multiply_add(w%zu, f%zu, c%zu_%zu);\n", f, v, v, f, f, v);
    }
    print_asking(p);
}

static void print_update(const struct printer *p, size_t f, size_t v, size_t n)
{
    const struct conv_routine_ukr *u = p->u;
    size_t at = f * u->ld_out + v * u->lanes;
    bool is_whole = n == u->lanes;

    if (u->accumulate && is_whole)
        fprintf(p->out, "    c%zu_%zu = add(c%zu_%zu, load(out + %zu));\n", f, v, f, v, at);
    else if (u->accumulate)
        fprintf(p->out, "    c%zu_%zu = add(c%zu_%zu, load_first(out + %zu, %zu));\n", f, v, f, v, at, n);
    if (is_whole)
        fprintf(p->out, "    store(out + %zu, c%zu_%zu);\n", at, f, v);
    else
        fprintf(p->out, "    store_first(out + %zu, c%zu_%zu, %zu);\n", at, f, v, n);
}

static void print_by_windows(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = ceil_div(u->n_win, u->lanes), last = (u->n_win - 1) % u->lanes + 1;

    print_zeros(p, u->n_f, n_v);
    fprintf(p->out, "    for (size_t t = 0; t < %zu; t++, in += %zu, filter += %zu) {\n", u->k, u->ld_in, u->n_f);
    print_windows_step(p, n_v, last);
    fprintf(p->out, "    }\n");
    for (size_t f = 0; f < u->n_f; f++)
        for (size_t v = 0; v < n_v; v++)
            print_update(p, f, v, v + 1 < n_v ? u->lanes : last);
}

/* ---- filters side by side: products ---- */

static size_t filter_vectors(const struct conv_routine_ukr *u)
{
    return ceil_div(u->n_f, u->lanes);
}

static size_t taps_of(const struct conv_routine *r)
{
    return r->n_table / CONV_TAP_VALUES;
}

static uint64_t live_of(const struct conv_routine *r, size_t tap)
{
    return (uint64_t)r->table[CONV_TAP_VALUES * tap + 1];
}

static uint64_t all_windows(const struct conv_routine_ukr *u)
{
    return ((uint64_t)1 << u->n_win) - 1;
}

static bool walks(const struct conv_routine *r)
{
    return r->of.ukr.by_filters && taps_of(r) > 1;
}

static void print_filter_vectors(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = filter_vectors(u), last = (u->n_f - 1) % u->lanes + 1;

    for (size_t v = 0; v < n_v; v++)
        fprintf(p->out,
                v + 1 < n_v || last == u->lanes ? "            const vec f%zu = load(filter + %zu);\n"
                                                : "            const vec f%zu = load_first(filter + %zu, %zu);\n",
                v, v * u->lanes, last);
}

/* One window's, with accumulator number i. */
static void print_window(const struct printer *p, size_t w, size_t i)
{
    fprintf(p->out, "            vec w%zu = broadcast(at + %" PRId64 ");\n            KEEP(w%zu);\n", w,
            p->u->window[w], w);
    for (size_t v = 0; v < filter_vectors(p->u); v++)
        fprintf(p->out, "            c%zu_%zu = multiply_add(f%zu, w%zu, c%zu_%zu);\n", i, v, v, w, i, v);
}

/* One tap's, for the windows whose bits are set; accumulators from number `first` on. */
static void print_products(const struct printer *p, uint64_t live, size_t first)
{
    print_filter_vectors(p);
    for (size_t w = 0; w < p->u->n_win; w++) {
        if (live >> w & 1)
            print_window(p, w, first + w);
    }
}

/* One tap's, for any windows. */
static void print_any_products(const struct printer *p)
{
    print_filter_vectors(p);
    for (size_t w = 0; w < p->u->n_win; w++) {
        fprintf(p->out, "            if (tap->live >> %zu & 1) {\n", w);
        print_window(p, w, w);
        fprintf(p->out, "            }\n");
    }
}

/* ---- filters side by side: tap by tap ---- */

/* Taps of some channels, so many that their loop does not end every few steps. */
static size_t group_channels(const struct conv_routine *r)
{
    enum { GROUP_STEPS = 64 };

    return max_size(1, min_size(GROUP_STEPS, r->of.ukr.k) / taps_of(r));
}

static void print_taps(const struct printer *p)
{
    const struct conv_routine *r = p->r;

    fprintf(p->out, "static const struct tap taps_%s_%zu[] = {\n", p->prefix, p->number);
    for (size_t c = 0; c < group_channels(r); c++)
        for (size_t t = 0; t < taps_of(r); t++)
            fprintf(p->out, "    { %" PRId64 ", 0x%" PRIx64 " },\n",
                    (int64_t)(c * r->of.ukr.ld_in) + r->table[CONV_TAP_VALUES * t], live_of(r, t));
    fprintf(p->out, "};\n\n");
}

/* The windows that are live for taps of routines with one code, beside all and none: those with code of their own. */
enum { MOST_LIVES = 3 };

struct lives {
    size_t n;
    uint64_t live[MOST_LIVES];
    bool are_all; /* there are no more */
};

static void add_live(struct lives *l, uint64_t live)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->live[i] == live)
            return;
    }
    if (l->n < MOST_LIVES)
        l->live[l->n++] = live;
    else
        l->are_all = false;
}

static struct lives lives_of(const struct printer *p)
{
    struct lives l = { .are_all = true };

    for (size_t i = 0; i < p->program->n_routines; i++) {
        const struct conv_routine *r = &p->program->routine[i];

        for (size_t t = 0; has_code_of(r, p->r) && t < taps_of(r); t++) {
            if (live_of(r, t) && live_of(r, t) != all_windows(p->u))
                add_live(&l, live_of(r, t));
        }
    }
    return l;
}

/* One step of a table of taps. */
static void print_any_tap(const struct printer *p)
{
    const struct lives l = lives_of(p);

    fprintf(p->out, "        const float *at = in + tap->in;\n\n        if (tap->live == 0x%" PRIx64 ") {\n",
            all_windows(p->u));
    print_products(p, all_windows(p->u), 0);
    for (size_t i = 0; i < l.n; i++) {
        fprintf(p->out, "        } else if (tap->live == 0x%" PRIx64 ") {\n", l.live[i]);
        print_products(p, l.live[i], 0);
    }
    if (!l.are_all) {
        fprintf(p->out, "        } else if (tap->live) {\n");
        print_any_products(p);
    }
    fprintf(p->out, "        }\n");
    print_asking(p);
}

/* A group in which nothing is left out and nothing is asked for has a loop of its own: it is shorter. */
static void print_walk(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t channels = group_channels(p->r), steps = channels * taps_of(p->r);

    fprintf(p->out,
            "    for (size_t t = 0; t < %zu; in += %zu) {\n"
            "        const size_t end = t + %zu < %zu ? t + %zu : %zu;\n"
            "        const struct tap *tap = taps;\n\n"
            "        for (; is_whole%s && t < end; t++, tap++, filter += %zu) {\n"
            "            const float *at = in + tap->in;\n\n",
            u->k, channels * u->ld_in, steps, u->k, steps, u->k, p->asks ? " && t >= n_steps" : "", u->n_f);
    print_products(p, all_windows(u), 0);
    fprintf(p->out, "        }\n        for (; t < end; t++, tap++, filter += %zu) {\n", u->n_f);
    print_any_tap(p);
    fprintf(p->out, "        }\n    }\n");
}

/* ---- filters side by side: a single tap ---- */

/* Steps that run into accumulators of their own: those of few windows would wait for each other. */
static size_t n_sets(const struct conv_routine *r)
{
    static const size_t sets[] = { 1, 4, 3, 2, 2 };
    size_t n_win = r->of.ukr.n_win;

    return !walks(r) && n_win < sizeof sets / sizeof sets[0] ? sets[n_win] : 1;
}

static void print_single(const struct printer *p, size_t set)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "        {\n            const float *at = in;\n\n");
    print_products(p, all_windows(u), set * u->n_win);
    fprintf(p->out, "        }\n");
    print_asking(p);
    fprintf(p->out, "        t++;\n        in += %zu;\n        filter += %zu;\n", u->ld_in, u->n_f);
}

static void print_singles(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t sets = n_sets(p->r), whole = u->k / sets * sets;

    fprintf(p->out, "    size_t t = 0;\n\n    while (t < %zu) {\n", whole);
    for (size_t s = 0; s < sets; s++)
        print_single(p, s);
    fprintf(p->out, "    }\n");
    if (whole < u->k) {
        fprintf(p->out, "    while (t < %zu) {\n", u->k);
        print_single(p, 0);
        fprintf(p->out, "    }\n");
    }
    for (size_t i = u->n_win; i < sets * u->n_win; i++)
        for (size_t v = 0; v < filter_vectors(u); v++)
            fprintf(p->out, "    c%zu_%zu = add(c%zu_%zu, c%zu_%zu);\n", i % u->n_win, v, i % u->n_win, v, i, v);
}

/* ---- filters side by side: outputs ---- */

/* Turns vectors of filters to vectors of windows. */
static void print_transpose(const struct printer *p, size_t v)
{
    fprintf(p->out, "    vec row%zu[LANES] = {", v);
    for (size_t w = 0; w < p->u->lanes; w++) {
        fprintf(p->out, "%s", w % 8 ? " " : "\n        ");
        if (w < p->u->n_win)
            fprintf(p->out, "c%zu_%zu,", w, v);
        else
            fprintf(p->out, "zero(),");
    }
    fprintf(p->out, "\n    };\n    transpose(row%zu);\n", v);
}

/* The outputs of windows from `first` on, of a vector of filters. */
static void print_rows(const struct printer *p, size_t first, size_t v)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n = min_size(u->n_win - first, u->out_windows), n_f = min_size(u->n_f - v * u->lanes, u->lanes);

    for (size_t f = 0; f < n_f; f++)
        fprintf(p->out, "    %s_part(out + %zu, row%zu[%zu], %zu, %zu);\n", u->accumulate ? "add" : "store",
                (v * u->lanes + f) * u->ld_out, v, f, first, n);
}

static void print_by_filters(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = filter_vectors(u);
    bool at_once = u->n_win <= u->out_windows;

    print_zeros(p, n_sets(p->r) * u->n_win, n_v);
    (walks(p->r) ? print_walk : print_singles)(p);
    for (size_t v = 0; v < n_v; v++) {
        print_transpose(p, v);
        if (at_once)
            print_rows(p, 0, v);
    }
    for (size_t first = 0; first < u->n_win && !at_once; first += u->out_windows)
        for (size_t v = 0; v < n_v; v++)
            print_rows(p, first, v);
}

/* ---- without vectors ---- */

static void print_portable(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out,
            "    float sum[%zu][%zu] = { { 0 } };\n\n"
            "    for (size_t t = 0; t < %zu; t++, in += %zu, filter += %zu)\n"
            "        for (size_t f = 0; f < %zu; f++) {\n"
            "            const float weight = get(filter + f);\n\n"
            "            for (size_t i = 0; i < %zu; i++)\n"
            "                sum[f][i] += weight * get(in + i);\n"
            "        }\n"
            "    for (size_t f = 0; f < %zu; f++, out += %zu)\n"
            "        for (size_t i = 0; i < %zu; i++)\n"
            "            put(out + i, %ssum[f][i]);\n",
            u->n_f, u->n_win, u->k, u->ld_in, u->n_f, u->n_f, u->n_win, u->n_f, u->ld_out, u->n_win,
            u->accumulate ? "get(out + i) + " : "");
}

static void print_few(const struct printer *p)
{
    conv_c_print_few(p->u, p->asks, p->out);
}

/* ---- functions ---- */

static void print_start(const struct printer *p, const char *kind)
{
    fprintf(p->out, "static __attribute__((noinline)) void %s%s_%zu(const float *in, const float *filter, float *out",
            kind, p->prefix, p->number);
}

/* The code that routines with other tables share; kind: before its name. */
static void print_code(const struct printer *p, const char *kind)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "/* %zu windows by %zu filters, %zu steps; %s. */\n", u->n_win, u->n_f, u->k,
            u->accumulate ? "adds to the outputs" : "overwrites the outputs");
    print_start(p, kind);
    fprintf(p->out, "%s%s)\n{\n", walks(p->r) ? ", const struct tap *taps, int is_whole" : "",
            p->asks ? ", const struct ahead *ahead, size_t n_ahead, size_t n_steps" : "");
    (u->lanes == 1 ? print_portable : u->few ? print_few : u->by_filters ? print_by_filters : print_by_windows)(p);
    fprintf(p->out, "}\n\n");
}

static size_t ahead_steps(const struct conv_routine_ukr *u)
{
    size_t n = 0;

    for (size_t l = 0; l < u->n_ahead; l++)
        n = max_size(n, u->ahead[l].n);
    return n;
}

static void print_ahead(const struct printer *p)
{
    fprintf(p->out, "    const struct ahead ahead[] = {\n");
    for (size_t l = 0; l < p->u->n_ahead; l++) {
        const struct conv_routine_ahead *a = &p->u->ahead[l];

        if (a->operand < CONV_FOLD_OPERANDS)
            fprintf(p->out, "        { out + %" PRId64 ", %" PRId64 ", %zu },\n", a->at, a->step, a->n);
        else
            fprintf(p->out, "        { ahead%zu, %" PRId64 ", %zu },\n", a->operand, a->step, a->n);
    }
    fprintf(p->out, "    };\n\n");
}

static bool is_whole(const struct conv_routine *r)
{
    size_t t = 0;

    while (t < taps_of(r) && live_of(r, t) == all_windows(&r->of.ukr))
        t++;
    return t == taps_of(r);
}

/* A routine: a call of the code of number `code` with its tables. */
static void print_call(const struct printer *p, size_t code)
{
    print_start(p, "");
    for (size_t o = CONV_FOLD_OPERANDS; o < p->r->n_operands; o++)
        fprintf(p->out, ", const float *ahead%zu", o);
    fprintf(p->out, ")\n{\n");
    if (p->u->n_ahead)
        print_ahead(p);
    fprintf(p->out, "    code_%s_%zu(in, filter, out", p->prefix, code);
    if (walks(p->r))
        fprintf(p->out, ", taps_%s_%zu, %d", p->prefix, p->number, is_whole(p->r));
    if (p->u->n_ahead)
        fprintf(p->out, ", ahead, %zu, %zu", p->u->n_ahead, ahead_steps(p->u));
    else if (p->asks)
        fprintf(p->out, ", NULL, 0, 0");
    fprintf(p->out, ");\n}\n\n");
}

/* Whether a routine with this one's code prefetches. */
static bool asks(const struct conv_program *program, const struct conv_routine *r)
{
    for (size_t i = 0; i < program->n_routines; i++) {
        if (has_code_of(&program->routine[i], r) && program->routine[i].of.ukr.n_ahead)
            return true;
    }
    return false;
}

void conv_c_print_ukr(const struct conv_program *program, size_t number, const char *prefix, FILE *out)
{
    const struct conv_routine *r = &program->routine[number];
    const struct printer p = { out, program, r, &r->of.ukr, prefix, number, asks(program, r) };
    size_t code = 0;

    if (!p.asks && !walks(r)) {
        print_code(&p, "");
        return;
    }
    while (!has_code_of(&program->routine[code], r))
        code++;
    if (code == number)
        print_code(&p, "code_");
    if (walks(r))
        print_taps(&p);
    print_call(&p, code);
}
