#include "experiments/emit/exp_emit_coder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/emit/exp_emit_build.h"

enum { N_BUCKETS = 1024 };

/* Tells plans of this coder apart. */
struct key {
    struct conv_problem problem;
    struct csa_tiling tiling;
    struct conv_sconv_options options;
    const struct conv_ukr *ukr;
};

struct entry {
    struct key key;
    struct exp_emit_code code;
    exp_code_fn fn;
    struct entry *next;
};

struct exp_emit_coder_part {
    pthread_mutex_t lock;
    struct entry *bucket[N_BUCKETS];
};

static bool same_tiling(const struct csa_tiling *a, const struct csa_tiling *b)
{
    return a->schedule == b->schedule && a->n_c == b->n_c && a->k2 == b->k2 && a->k3 == b->k3;
}

static bool is_of(const struct entry *e, const struct conv_plan *p)
{
    return e->key.ukr == p->ukr && conv_problem_equal(&e->key.problem, &p->problem) &&
           same_tiling(&e->key.tiling, &p->sconv.tiling) &&
           !memcmp(&e->key.options, &p->sconv.options, sizeof e->key.options);
}

static size_t bucket_of(const struct conv_plan *p)
{
    const struct csa_tiling *t = &p->sconv.tiling;
    const size_t parts[] = { p->problem.c, p->problem.h, p->problem.k, p->problem.r,       p->problem.w,
                             t->n_c,       t->k2,        t->k3,        (size_t)t->schedule };
    size_t hash = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = hash * 31 + parts[i];
    return hash % N_BUCKETS;
}

static int make(const struct conv_plan *plan, struct entry **made)
{
    static const char name[] = "layer";
    const struct conv_noted_plan noted = { .layer = name, .machine = "", .plan = *plan };
    struct entry *e = calloc(1, sizeof *e);
    struct exp_why why;
    int err = e ? exp_emit_build(&e->code, EXP_EMIT_C, &noted, 1, false, &why) : -ENOMEM;

    if (err) {
        free(e);
        return err;
    }
    e->key = (struct key){ plan->problem, plan->sconv.tiling, plan->sconv.options, plan->ukr };
    e->fn = exp_emit_code_function(&e->code, name, 0);
    *made = e;
    return 0;
}

static int find(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code)
{
    struct exp_emit_coder_part *part = ((struct exp_emit_coder *)self)->part;
    struct entry **bucket = &part->bucket[bucket_of(plan)], *e;
    int err = 0;

    pthread_mutex_lock(&part->lock);
    for (e = *bucket; e && !is_of(e, plan); e = e->next)
        ;
    if (!e) {
        err = make(plan, &e);
        if (!err) {
            e->next = *bucket;
            *bucket = e;
        }
    }
    pthread_mutex_unlock(&part->lock);
    if (!err)
        *code = e->fn;
    return err;
}

int exp_emit_coder_new(struct exp_emit_coder **coder)
{
    struct exp_emit_coder *c = calloc(1, sizeof *c);

    *coder = NULL;
    if (c)
        c->part = calloc(1, sizeof *c->part);
    if (!c || !c->part) {
        free(c);
        return -ENOMEM;
    }
    c->base.find = find;
    c->base.why_not = exp_emit_why_no_compiler(EXP_EMIT_C);
    pthread_mutex_init(&c->part->lock, NULL);
    *coder = c;
    return 0;
}

void exp_emit_coder_free(struct exp_emit_coder *coder)
{
    if (!coder)
        return;
    for (size_t i = 0; i < N_BUCKETS; i++) {
        for (struct entry *e = coder->part->bucket[i], *next; e; e = next) {
            next = e->next;
            exp_emit_code_release(&e->code);
            free(e);
        }
    }
    pthread_mutex_destroy(&coder->part->lock);
    free(coder->part);
    free(coder);
}
