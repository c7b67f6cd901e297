#include "experiments/polydl/exp_polydl_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_text.h"

static bool is_same_source(const struct exp_variant_source *a, const struct exp_variant_source *b)
{
    if (!a->problem != !b->problem)
        return false;
    if (a->problem)
        return a->block == b->block && conv_problem_equal(a->problem, b->problem);
    return a->gemm.m == b->gemm.m && a->gemm.n == b->gemm.n && a->gemm.k == b->gemm.k;
}

bool exp_polydl_are_same(const struct exp_polydl_layer *a, const struct exp_polydl_layer *b)
{
    bool is_same = is_same_source(&a->source, &b->source) && a->variants.n == b->variants.n;

    for (size_t i = 0; i < a->variants.n && is_same; i++)
        is_same = !strcmp(a->variants.variant[i].name, b->variants.variant[i].name);
    return is_same;
}

size_t exp_polydl_first_same(const struct exp_polydl *p, size_t layer)
{
    size_t i = 0;

    while (!exp_polydl_are_same(&p->layer[i], &p->layer[layer]))
        i++;
    return i;
}

static void print_shape(const struct conv_problem *p, FILE *out)
{
#define FIELD(member, sconv_member, name, ...) fprintf(out, "%s=%zu ", name, p->member);
#include "kernels/shape/problem_fields.def"
}

char *exp_polydl_text(const struct exp_polydl_layer *l, const struct exp_variant *v, const char *micro_kernel)
{
    const struct exp_gemm *g = &l->source.gemm;
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    if (!out)
        return NULL;
    if (l->source.problem)
        print_shape(l->source.problem, out);
    else
        fprintf(out, "gemm m=%" PRIu64 " n=%" PRIu64 " k=%" PRIu64 " ", g->m, g->n, g->k);
    fprintf(out, "block=%" PRIu64 "; %s", l->source.block, micro_kernel);
    for (size_t i = 0; i < l->variants.n && !v; i++)
        fprintf(out, "; %s", l->variants.variant[i].name);
    if (v)
        fprintf(out, "; %s", v->name);
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}
