#include "experiments/polydl/exp_space.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { A = EXP_OPERAND_A, B = EXP_OPERAND_B, C = EXP_OPERAND_C };

static struct exp_space conv_space(const struct exp_variant_source *s)
{
    const struct conv_problem *p = s->problem;
    const uint64_t block = s->block, n_ofm = p->k / block, n_ifm = p->c / block;
    const uint64_t height = p->h + p->pad_top + p->pad_bottom, width = p->w + p->pad_left + p->pad_right;

    return (struct exp_space){
        .n_dims = 9,
        .dim = { { "img", s->n_images, EXP_NO_MICRO_LOOP, { [B] = { [0] = 1 }, [C] = { [0] = 1 } } },
                 { "ofm", n_ofm, EXP_NO_MICRO_LOOP, { [A] = { [0] = 1 }, [C] = { [1] = 1 } } },
                 { "ifm", n_ifm, EXP_NO_MICRO_LOOP, { [A] = { [1] = 1 }, [B] = { [1] = 1 } } },
                 { "oj", p->p, EXP_NO_MICRO_LOOP, { [B] = { [2] = p->stride_h }, [C] = { [2] = 1 } } },
                 { "oi", p->q, EXP_MICRO_N, { [B] = { [3] = p->stride_w }, [C] = { [3] = 1 } } },
                 { "kj", p->r, EXP_NO_MICRO_LOOP, { [A] = { [2] = 1 }, [B] = { [2] = 1 } } },
                 { "ki", p->s, EXP_NO_MICRO_LOOP, { [A] = { [3] = 1 }, [B] = { [3] = 1 } } },
                 { "", block, EXP_MICRO_M, { [A] = { [5] = 1 }, [C] = { [4] = 1 } } },
                 { "", block, EXP_MICRO_K, { [A] = { [4] = 1 }, [B] = { [4] = 1 } } } },
        .tensor = { [A] = { "filter", 6, { n_ofm, n_ifm, p->r, p->s, block, block } },
                    [B] = { "input", 5, { s->n_images, n_ifm, height, width, block } },
                    [C] = { "output", 5, { s->n_images, n_ofm, p->p, p->q, block } } },
        .block = block,
    };
}

/* The paper's A is the micro-kernel's B. */
static struct exp_space gemm_space(const struct exp_gemm *g)
{
    return (struct exp_space){
        .n_dims = 3,
        .dim = { { "i", g->m, EXP_MICRO_N, { [B] = { [0] = 1 }, [C] = { [0] = 1 } } },
                 { "j", g->n, EXP_MICRO_M, { [A] = { [1] = 1 }, [C] = { [1] = 1 } } },
                 { "k", g->k, EXP_MICRO_K, { [A] = { [0] = 1 }, [B] = { [1] = 1 } } } },
        .tensor = { [A] = { "B", 2, { g->k, g->n } },
                    [B] = { "A", 2, { g->m, g->k } },
                    [C] = { "C", 2, { g->m, g->n } } },
    };
}

struct exp_space exp_space_of(const struct exp_variant_source *s)
{
    return s->problem ? conv_space(s) : gemm_space(&s->gemm);
}

/* ---- a variant ---- */

/* Adds a loop to the nest, and its steps to the subscripts of all accesses. */
static void add_loop(struct exp_affine_nest *n, const struct exp_space_dim *d, const struct exp_space_loop *l)
{
    static const size_t operand_of[] = { C, B, A, C };

    for (size_t i = 0; i < n->n_accesses; i++) {
        for (size_t k = 0; k < n->access[i].n_dims; k++)
            n->access[i].dim[k].step[n->n_loops] = d->step[operand_of[i]][k] * l->step;
    }
    n->loop[n->n_loops].extent = l->extent;
    n->loop[n->n_loops++].is_parallel = l->is_parallel;
}

static void add_accesses(struct exp_affine_nest *n, const struct exp_space *s)
{
    const struct exp_tensor *accessed[] = { &s->tensor[C], &s->tensor[B], &s->tensor[A], &s->tensor[C] };

    n->n_accesses = sizeof accessed / sizeof *accessed;
    for (size_t i = 0; i < n->n_accesses; i++) {
        memcpy(n->access[i].array, accessed[i]->name, sizeof n->access[i].array);
        n->access[i].n_dims = accessed[i]->n_dims;
    }
    n->access[n->n_accesses - 1].is_write = true;
}

/* Adds the micro-kernel's loops: what is left of their dimensions. */
static void add_micro_loops(struct exp_affine_nest *n, const struct exp_space *s,
                            const uint64_t left[EXP_MAX_SPACE_DIMS])
{
    static const char *const names[EXP_N_MICRO_LOOPS] = { "n", "m", "k" };

    for (size_t micro = 0; micro < EXP_N_MICRO_LOOPS; micro++) {
        for (size_t d = 0; d < s->n_dims; d++) {
            if (s->dim[d].micro != micro)
                continue;
            exp_say(n->loop[n->n_loops].name, sizeof n->loop[0].name, "%s", names[micro]);
            add_loop(n, &s->dim[d], &(struct exp_space_loop){ .step = 1, .extent = left[d] });
        }
    }
}

void exp_space_fill(const struct exp_space *s, const struct exp_space_loop *loop, size_t n_loops, struct exp_variant *v)
{
    uint64_t left[EXP_MAX_SPACE_DIMS];

    *v = (struct exp_variant){ .n_outer = n_loops, .block = s->block };
    memcpy(v->tensor, s->tensor, sizeof v->tensor);
    for (size_t d = 0; d < s->n_dims; d++)
        left[d] = s->dim[d].extent;
    add_accesses(&v->nest, s);
    for (size_t l = 0; l < n_loops; l++) {
        const struct exp_space_dim *d = &s->dim[loop[l].dim];
        char tile[24] = "", number[24] = "";

        if (loop[l].step > 1) {
            exp_say(tile, sizeof tile, ".%" PRIu64, loop[l].step);
            exp_say(number, sizeof number, "%" PRIu64, loop[l].step);
        }
        exp_say_more(v->name, sizeof v->name, "%s%s%s%s", l ? " " : "", d->name, tile, loop[l].is_parallel ? "*" : "");
        exp_say(v->nest.loop[l].name, sizeof v->nest.loop[l].name, "%s%s", d->name, number);
        left[loop[l].dim] = loop[l].step;
        add_loop(&v->nest, d, &loop[l]);
    }
    if (!n_loops)
        exp_say(v->name, sizeof v->name, EXP_NO_LOOPS);
    add_micro_loops(&v->nest, s, left);
}
