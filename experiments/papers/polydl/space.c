#include "experiments/papers/polydl/space.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { A = EXP_OPERAND_A, B = EXP_OPERAND_B, C = EXP_OPERAND_C };
enum { LEAST_BLOCK = 16, MOST_BLOCK = 64, MAX_OUTER_LOOPS = EXP_AFFINE_MAX_LOOPS - EXP_N_MICRO_LOOPS };

/* An outer loop of a variant: a dimension, in steps. */
struct loop {
    size_t dim;
    uint64_t step, extent;
    bool is_parallel;
};

/* ---- tensors ---- */

size_t exp_tensor_bytes(const struct exp_tensor *t)
{
    size_t bytes = sizeof(float);

    for (size_t d = 0; d < t->n_dims; d++)
        bytes *= t->extent[d];
    return bytes;
}

uint64_t exp_tensor_step(const struct exp_tensor *t, const struct exp_affine_access *a, size_t loop)
{
    uint64_t step = 0;

    for (size_t d = 0; d < a->n_dims; d++)
        step = step * t->extent[d] + a->dim[d].step[loop];
    return step;
}

/* ---- spaces ---- */

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

size_t exp_space_dim(const struct exp_space *s, const char *name, size_t length)
{
    size_t d = 0;

    while (d < s->n_dims && (!length || strncmp(s->dim[d].name, name, length) != 0 || s->dim[d].name[length]))
        d++;
    return d;
}

/* ---- a variant ---- */

/* Adds a loop to the nest, and the loop's steps to the subscripts of all accesses. */
static void add_loop(struct exp_affine_nest *n, const struct exp_space_dim *d, const struct loop *l)
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

/* Adds the micro-kernel's loops: the rest of each dimension. */
static void add_micro_loops(struct exp_affine_nest *n, const struct exp_space *s,
                            const uint64_t left[EXP_MAX_SPACE_DIMS])
{
    static const char *const names[EXP_N_MICRO_LOOPS] = { "n", "m", "k" };

    for (size_t micro = 0; micro < EXP_N_MICRO_LOOPS; micro++) {
        for (size_t d = 0; d < s->n_dims; d++) {
            if (s->dim[d].micro != micro)
                continue;
            exp_say(n->loop[n->n_loops].name, sizeof n->loop[0].name, "%s", names[micro]);
            add_loop(n, &s->dim[d], &(struct loop){ .step = 1, .extent = left[d] });
        }
    }
}

/* Puts loops into a variant, outermost first: nest, tensors and name. */
static void fill(const struct exp_space *s, const struct loop *loop, size_t n_loops, struct exp_variant *v)
{
    uint64_t left[EXP_MAX_SPACE_DIMS];

    *v = (struct exp_variant){ .n_outer = n_loops, .block = s->block };
    memcpy(v->tensor, s->tensor, sizeof v->tensor);
    for (size_t d = 0; d < s->n_dims; d++)
        left[d] = s->dim[d].extent;
    add_accesses(&v->nest, s);
    for (size_t l = 0; l < n_loops; l++) {
        const struct exp_space_dim *d = &s->dim[loop[l].dim];
        char tile[24] = "";

        if (loop[l].step > 1)
            exp_say(tile, sizeof tile, ".%" PRIu64, loop[l].step);
        exp_say_more(v->name, sizeof v->name, "%s%s%s%s", l ? " " : "", d->name, tile, loop[l].is_parallel ? "*" : "");
        exp_say(v->nest.loop[l].name, sizeof v->nest.loop[l].name, "%s%s", d->name, *tile ? tile + 1 : "");
        left[loop[l].dim] = loop[l].step;
        add_loop(&v->nest, d, &loop[l]);
    }
    if (!n_loops)
        exp_say(v->name, sizeof v->name, EXP_NO_LOOPS);
    add_micro_loops(&v->nest, s, left);
}

/* ---- reading a variant ---- */

uint64_t exp_variant_block(const struct conv_problem *p, struct exp_why *why)
{
    uint64_t block = MOST_BLOCK;

    if (p->groups > 1 || p->dilation_h > 1 || p->dilation_w > 1) {
        exp_fail(why, 0, "PolyDL's loops have no groups (here %zu) and no dilation (here %zux%zu)", p->groups,
                 p->dilation_h, p->dilation_w);
        return 0;
    }
    while (block >= LEAST_BLOCK && (p->c % block || p->k % block))
        block /= 2;
    if (block >= LEAST_BLOCK)
        return block;
    exp_fail(why, 0, "%zu channels and %zu filters: blocks of 16, 32 or 64 that divide both need padding", p->c, p->k);
    return 0;
}

/* ---- the text ---- */

/* A variant while its text is read. */
struct reading {
    const char *text; /* the whole text, for messages */
    const struct exp_space *space;
    uint64_t left[EXP_MAX_SPACE_DIMS];
    struct loop loop[MAX_OUTER_LOOPS];
    size_t n_loops;
    struct exp_why *why;
};

static int refuse(struct reading *r, const char *word, const char *what)
{
    return exp_fail(r->why, -EINVAL, "variant '%s': '%s' %s", r->text, word, what);
}

/* Lists the names of dimensions. */
static int refuse_name(struct reading *r, const char *word)
{
    char names[128] = "is not dim, dim.tile or dim* with dim one of";

    for (size_t d = 0; d < r->space->n_dims; d++) {
        if (*r->space->dim[d].name)
            exp_say_more(names, sizeof names, " %s", r->space->dim[d].name);
    }
    return refuse(r, word, names);
}

/* Reads `oj`, `oj.8` or `oj*` into a loop without extent. */
static int read_word(struct reading *r, const char *word, struct loop *l)
{
    size_t length = strcspn(word, ".*");
    char *end = (char *)word + length;

    *l = (struct loop){ .step = 1, .dim = exp_space_dim(r->space, word, length) };
    if (l->dim == r->space->n_dims)
        return refuse_name(r, word);
    if (*end == '.' && isdigit((unsigned char)end[1]))
        l->step = strtoull(end + 1, &end, 10);
    l->is_parallel = *end == '*';
    end += l->is_parallel;
    return *end || !l->step ? refuse_name(r, word) : 0;
}

/* Adds a loop from the text. A loop of a single iteration is left out; a loop behind its own tiles joins the tiles. */
static int add(struct reading *r, const char *word, struct loop l)
{
    struct loop *last = r->n_loops ? &r->loop[r->n_loops - 1] : NULL;
    char what[96];

    if (r->left[l.dim] % l.step) {
        exp_say(what, sizeof what, "does not divide %s, %" PRIu64 " here", r->space->dim[l.dim].name, r->left[l.dim]);
        return refuse(r, word, what);
    }
    l.extent = r->left[l.dim] / l.step;
    r->left[l.dim] = l.step;
    if (l.extent == 1)
        return 0;
    if (last && last->dim == l.dim && last->is_parallel == l.is_parallel) {
        last->step = l.step;
        last->extent *= l.extent;
        return 0;
    }
    for (size_t i = 0; i < r->n_loops && l.is_parallel; i++) {
        if (r->loop[i].is_parallel)
            return refuse(r, word, "is a second parallel loop; there may be one");
    }
    if (r->n_loops == MAX_OUTER_LOOPS)
        return refuse(r, word, "is one loop too many");
    r->loop[r->n_loops++] = l;
    return 0;
}

/* The micro-kernel takes whole vectors of m, and whatever there is of n and k. */
static int check_rest(struct reading *r)
{
    char what[96];

    for (size_t d = 0; d < r->space->n_dims; d++) {
        const struct exp_space_dim *dim = &r->space->dim[d];

        if (dim->micro == EXP_NO_MICRO_LOOP && r->left[d] > 1)
            exp_say(what, sizeof what, "is not walked to its end: loops leave %" PRIu64 " of it", r->left[d]);
        else if (dim->micro == EXP_MICRO_M && r->left[d] % LEAST_BLOCK)
            exp_say(what, sizeof what, "leaves %" PRIu64 " to the micro-kernel, no multiple of %d", r->left[d],
                    LEAST_BLOCK);
        else
            continue;
        return refuse(r, dim->name, what);
    }
    return 0;
}

static int read_words(struct reading *r)
{
    char *text = exp_copy_text(r->text), *rest = text, *word;
    int err = 0;

    while (!err && (word = strtok_r(rest, " \t", &rest))) {
        struct loop l;

        if (!strcmp(word, EXP_NO_LOOPS))
            continue;
        err = read_word(r, word, &l);
        if (!err)
            err = add(r, word, l);
    }
    free(text);
    return err ? err : check_rest(r);
}

/* ---- forbidden loops ---- */

/* Says the dependence that a parallel loop breaks, such as "output, read after write, from ifm=0 to ifm=1". */
static int refuse_dependence(struct reading *r, const struct exp_variant *v, const struct exp_dependence *d)
{
    static const struct {
        unsigned kind;
        const char *name;
    } kinds[] = { { EXP_READ_AFTER_WRITE, "read after write" },
                  { EXP_WRITE_AFTER_READ, "write after read" },
                  { EXP_WRITE_AFTER_WRITE, "write after write" } };
    char what[256] = "";
    size_t parallel = 0, kind = 0;

    while (!v->nest.loop[parallel].is_parallel)
        parallel++;
    while (!(d->kinds & kinds[kind].kind))
        kind++;
    exp_say(what, sizeof what,
            "must not be parallel: a dependence on %s forbids it (%s, carried by %s, %" PRIu64 " -> %" PRIu64 ")",
            d->array, kinds[kind].name, v->nest.loop[d->carrier].name, d->source.at[d->carrier],
            d->first_target.at[d->carrier]);
    return refuse(r, v->nest.loop[parallel].name, what);
}

int exp_space_parse(struct exp_variant *v, const struct exp_space *s, const char *text, struct exp_why *why)
{
    struct reading r = { .text = text, .space = s, .why = why };
    int err;

    for (size_t d = 0; d < s->n_dims; d++)
        r.left[d] = s->dim[d].extent;
    err = read_words(&r);
    if (!err)
        fill(s, r.loop, r.n_loops, v);
    return err;
}

int exp_variant_check(const struct exp_variant *v, struct exp_why *why)
{
    struct reading r = { .text = v->name, .why = why };
    struct exp_dependence *d;
    bool is_any_parallel = false;
    size_t n;
    int err = 0;

    for (size_t l = 0; l < v->n_outer; l++)
        is_any_parallel = is_any_parallel || v->nest.loop[l].is_parallel;
    if (!is_any_parallel)
        return 0;
    d = exp_new(EXP_MAX_DEPENDENCES, sizeof *d);
    n = exp_affine_dependences(&v->nest, d);
    for (size_t i = 0; i < n && !err; i++) {
        if (d[i].spans_parallel && d[i].kinds & EXP_ORDERED)
            err = refuse_dependence(&r, v, &d[i]);
    }
    free(d);
    return err;
}

int exp_variant_read(struct exp_variant *v, const struct exp_variant_source *s, const char *text, struct exp_why *why)
{
    const struct exp_space space = exp_space_of(s);
    int err = exp_space_parse(v, &space, text, why);

    assert(v && text);
    return err ? err : exp_variant_check(v, why);
}
