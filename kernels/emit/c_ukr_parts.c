#include "kernels/emit/c_source.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/emit/c_ukr_print.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/ref/f32_ref.h"

bool conv_c_has_code_of(const struct conv_routine *a, const struct conv_routine *b)
{
    struct conv_routine_ukr x, y;

    if (a->kind != b->kind || a->n_table != b->n_table || conv_c_walks(a) != conv_c_walks(b))
        return false;
    x = a->of.ukr;
    y = b->of.ukr;
    x.n_ahead = y.n_ahead = 0;
    memset(x.ahead, 0, sizeof x.ahead);
    memset(y.ahead, 0, sizeof y.ahead);
    return !memcmp(&x, &y, sizeof x);
}

void conv_c_print_zeros(const struct conv_c_ukr *p, size_t n, size_t n_v)
{
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "    vec c%zu_%zu = zero();\n", i, v);
    fprintf(p->out, "\n");
}

void conv_c_print_update(const struct conv_c_ukr *p, const char *vector, size_t at, size_t n)
{
    const struct conv_routine_ukr *u = p->u;

    if (n == u->lanes) {
        if (u->accumulate)
            fprintf(p->out, "    %s = add(%s, load(out + %zu));\n", vector, vector, at);
        fprintf(p->out, "    store(out + %zu, %s);\n", at, vector);
    } else {
        if (u->accumulate)
            fprintf(p->out, "    %s = add(%s, load_first(out + %zu, %zu));\n", vector, vector, at, n);
        fprintf(p->out, "    store_first(out + %zu, %s, %zu);\n", at, vector, n);
    }
}

/* ---- windows side by side ---- */

static size_t last_windows(const struct conv_routine_ukr *u)
{
    return (u->n_win - 1) % u->lanes + 1;
}

/* One vector of windows: all that are there, the first, or those whose bits are set in `live`. */
static void print_windows(const struct conv_c_ukr *p, const char *in, size_t v, bool is_masked)
{
    const struct conv_routine_ukr *u = p->u;
    bool is_whole = u->is_packed || v + 1 < conv_c_window_vectors(u) || last_windows(u) == u->lanes;

    fprintf(p->out, "        vec w%zu = ", v);
    if (is_masked)
        fprintf(p->out, "load_live(%s + %zu, live >> %zu);\n", in, v * u->in_step, v * u->lanes);
    else if (is_whole)
        fprintf(p->out, "load(%s + %zu);\n", in, v * u->in_step);
    else
        fprintf(p->out, "load_first(%s + %zu, %zu);\n", in, v * u->in_step, last_windows(u));
    fprintf(p->out, "        KEEP(w%zu);\n", v);
}

void conv_c_print_windows_step(const struct conv_c_ukr *p, const char *in, size_t first, bool is_masked)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = conv_c_window_vectors(u);

    for (size_t v = 0; v < n_v; v++)
        print_windows(p, in, v, is_masked);
    for (size_t f = 0; f < u->n_f; f++) {
        fprintf(p->out, "        const vec f%zu = broadcast(filter + %zu);\n", f, f);
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "        c%zu_%zu = multiply_add(w%zu, f%zu, c%zu_%zu);\n", first + f, v, v, f, first + f,
                    v);
    }
}

void conv_c_print_windows_out(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = conv_c_window_vectors(u);
    char name[64];

    for (size_t f = 0; f < u->n_f; f++) {
        for (size_t v = 0; v < n_v; v++) {
            snprintf(name, sizeof name, "c%zu_%zu", f, v);
            conv_c_print_update(p, name, f * u->ld_out + v * u->lanes, v + 1 < n_v ? u->lanes : last_windows(u));
        }
    }
}

void conv_c_print_table_parameters(const struct conv_c_ukr *p)
{
    fprintf(p->out, "%s%s", conv_c_walks(p->r) ? ", const struct tap *taps, unsigned is_whole" : "",
            p->asks ? ", const struct ahead *ahead, size_t n_ahead, size_t n_steps" : "");
}
