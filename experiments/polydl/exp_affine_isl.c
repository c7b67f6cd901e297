#include "experiments/polydl/exp_affine_isl.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* A text that grows. */
struct words {
    char text[4096];
    size_t used;
};

static void put(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct words *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (n > 0)
        w->used += (size_t)n < sizeof w->text - w->used ? (size_t)n : sizeof w->text - 1 - w->used;
}

/* Puts a tuple of iterators, S[i0,i1,...]; prefix tells those of a target from those of a source. */
static void put_iterators(struct words *w, const struct exp_affine_nest *n, char prefix)
{
    put(w, "S[");
    for (size_t l = 0; l < n->n_loops; l++)
        put(w, "%s%c%zu", l ? "," : "", prefix, l);
    put(w, "]");
}

isl_set *exp_affine_domain(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    for (size_t l = 0; l < n->n_loops; l++)
        put(&w, "%s 0 <= i%zu < %ju", l ? " and" : " :", l, (uintmax_t)n->loop[l].extent);
    put(&w, " }");
    return isl_set_read_from_str(ctx, w.text);
}

isl_set *exp_affine_symbolic_domain(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };

    put(&w, "[");
    for (size_t l = 0; l < n->n_loops; l++)
        put(&w, "%se%zu", l ? "," : "", l);
    put(&w, "] -> { ");
    put_iterators(&w, n, 'i');
    for (size_t l = 0; l < n->n_loops; l++)
        put(&w, "%s 0 <= i%zu < e%zu and e%zu >= 2", l ? " and" : " :", l, l, l);
    put(&w, " }");
    return isl_set_read_from_str(ctx, w.text);
}

isl_map *exp_affine_access(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> %s[", a->array);
    for (size_t d = 0; d < a->n_dims; d++) {
        put(&w, "%s%ju", d ? "," : "", (uintmax_t)a->dim[d].first);
        for (size_t l = 0; l < n->n_loops; l++) {
            if (a->dim[d].step[l])
                put(&w, " + %ju i%zu", (uintmax_t)a->dim[d].step[l], l);
        }
    }
    put(&w, "] }");
    return isl_map_read_from_str(ctx, w.text);
}

isl_map *exp_affine_carried_by(isl_ctx *ctx, const struct exp_affine_nest *n, size_t loop)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> ");
    put_iterators(&w, n, 'j');
    for (size_t l = 0; l < loop; l++)
        put(&w, "%s i%zu = j%zu", l ? " and" : " :", l, l);
    put(&w, "%s i%zu < j%zu }", loop ? " and" : " :", loop, loop);
    return isl_map_read_from_str(ctx, w.text);
}

isl_map *exp_affine_same_parallel(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };
    bool any = false;

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> ");
    put_iterators(&w, n, 'j');
    for (size_t l = 0; l < n->n_loops; l++) {
        if (!n->loop[l].is_parallel)
            continue;
        put(&w, "%s i%zu = j%zu", any ? " and" : " :", l, l);
        any = true;
    }
    put(&w, " }");
    return isl_map_read_from_str(ctx, w.text);
}
