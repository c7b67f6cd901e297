#include "experiments/bench/replay/sample_choice.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "kernels/plan/plan.h"

/* ---- pieces ---- */

/* Tells whether two micro-kernel steps belong to one pass over the packed set. */
static bool is_one_pass(const struct conv_plan *plan, const struct conv_step *a, const struct conv_step *b)
{
    const bool by_windows = plan->algorithm == CONV_SCONV && plan->sconv.tiling.schedule == CSA_IS;

    return a->image == b->image && a->group == b->group && a->k0 == b->k0 &&
           (by_windows ? a->win0 == b->win0 : a->f0 == b->f0);
}

/* Tells whether two passes, by their first steps, go over one packed set. */
static bool is_one_set(const struct conv_plan *plan, const struct conv_step *a, const struct conv_step *b)
{
    const bool by_windows = plan->algorithm == CONV_SCONV && plan->sconv.tiling.schedule == CSA_IS;

    return a->image == b->image && a->group == b->group && a->k0 == b->k0 &&
           (by_windows ? a->f0 == b->f0 : a->win0 == b->win0);
}

static bool begins_pass(struct exp_pieces *p, const struct conv_plan *plan, const struct conv_step *s)
{
    const bool begins = !p->has_pass || s->kind != CONV_STEP_UKR || !is_one_pass(plan, &p->last, s);

    if (begins && s->kind == CONV_STEP_UKR) {
        p->is_first = !p->first_of_pass.n_k || !is_one_set(plan, &p->first_of_pass, s);
        p->first_of_pass = *s;
    }
    p->has_pass = s->kind == CONV_STEP_UKR;
    p->last = *s;
    return begins;
}

static bool is_equal(const struct exp_piece_class *a, const struct exp_piece_class *b)
{
    return a->kind == b->kind && a->n_win == b->n_win && a->n_f == b->n_f && a->n_k == b->n_k &&
           a->dead.above == b->dead.above && a->dead.below == b->dead.below && a->accumulates == b->accumulates &&
           a->is_first == b->is_first && a->has_input_ahead == b->has_input_ahead &&
           a->has_filter_ahead == b->has_filter_ahead && a->reads_new == b->reads_new && a->n_pieces == b->n_pieces;
}

static uint32_t find_class(struct exp_pieces *p, const struct exp_piece_class *c)
{
    for (size_t i = p->n_classes; i-- > 0;) {
        if (is_equal(&p->class[i], c))
            return (uint32_t)i;
    }
    *(struct exp_piece_class *)exp_append(&p->class, &p->n_classes, sizeof *c) = *c;
    p->class[p->n_classes - 1].step = (uint32_t)(p->n_classes - 1);
    return (uint32_t)(p->n_classes - 1);
}

/* Gives the pieces of a whole pass their classes. */
static void end_pass(struct exp_pieces *p)
{
    for (size_t i = 0; i < p->n_pass; i++) {
        struct exp_piece_class plain;
        uint32_t class, step;

        p->pass[i].n_pieces = (uint32_t)p->n_pass;
        plain = p->pass[i];
        plain.reads_new = false;
        class = find_class(p, &p->pass[i]);
        step = find_class(p, &plain);
        p->class[class].step = step;
        p->piece[p->n - p->n_pass + i].class = class;
    }
    free(p->pass);
    p->pass = NULL;
    p->n_pass = 0;
}

void exp_pieces_add(struct exp_pieces *p, const struct conv_plan *plan, const struct conv_step *s, uint64_t accesses,
                    bool goes_on, bool reads_new)
{
    struct exp_piece *piece;
    const bool begins = !goes_on && begins_pass(p, plan, s);
    const bool may_end = begins || goes_on; /* a unit ends between two passes, unless passes are long */

    if (begins)
        end_pass(p);
    if (!p->n_units || p->in_unit >= 4 * p->unit_accesses || (may_end && p->in_unit >= p->unit_accesses)) {
        p->n_units++;
        p->in_unit = 0;
    }
    piece = exp_append(&p->piece, &p->n, sizeof *piece);
    piece->unit = (uint32_t)(p->n_units - 1);
    piece->accesses = accesses;
    p->in_unit += accesses;
    p->accesses += accesses;
    *(struct exp_piece_class *)exp_append(&p->pass, &p->n_pass, sizeof *p->pass) = (struct exp_piece_class){
        .kind = s->kind,
        .n_win = (uint32_t)s->n_win,
        .n_f = (uint32_t)s->n_f,
        .n_k = (uint32_t)s->n_k,
        .dead = s->dead,
        .accumulates = s->accumulate,
        .is_first = s->kind == CONV_STEP_UKR && p->is_first,
        .has_input_ahead = s->ahead.is_on && s->ahead.channels,
        .has_filter_ahead = s->ahead.is_on && s->ahead.elems,
        .reads_new = reads_new,
    };
}

/* ---- strata ---- */

/* Sebastiano Vigna's splitmix64. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double next_random(struct exp_pieces *p)
{
    p->random += 0x9e3779b97f4a7c15u;
    return (double)(mix(p->random) >> 11) * 0x1p-53;
}

/* Adds a unit to the stratum of its set of classes. */
static void add_unit(struct exp_pieces *p, size_t unit, uint64_t hash, uint64_t accesses, bool packs, bool reads_new)
{
    size_t i = 0;

    while (i < p->n_strata && p->stratum[i].hash != hash)
        i++;
    if (i == p->n_strata)
        ((struct exp_stratum *)exp_append(&p->stratum, &p->n_strata, sizeof *p->stratum))->hash = hash;
    p->stratum_of[unit] = (uint32_t)i;
    p->stratum[i].n_units++;
    p->stratum[i].accesses += accesses;
    p->stratum[i].packs |= packs;
    p->stratum[i].reads_new |= reads_new;
}

static void make_strata(struct exp_pieces *p)
{
    uint32_t *last = exp_new(p->n_classes, sizeof *last); /* unit + 1 */
    uint64_t hash = 0, accesses = 0;
    bool packs = false, reads_new = false;

    p->stratum_of = exp_new(p->n_units, sizeof *p->stratum_of);
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_piece *x = &p->piece[i];

        hash += last[x->class] != x->unit + 1 ? mix(x->class + 1) : 0;
        last[x->class] = x->unit + 1;
        accesses += x->accesses;
        packs |= p->class[x->class].kind != CONV_STEP_UKR && !exp_piece_is_long(&p->class[x->class]);
        reads_new |= p->class[x->class].reads_new;
        if (i + 1 == p->n || p->piece[i + 1].unit != x->unit) {
            add_unit(p, x->unit, hash, accesses, packs, reads_new);
            hash = accesses = 0;
            packs = reads_new = false;
        }
    }
    free(last);
}

static void make_groups(struct exp_pieces *p)
{
    uint32_t *group = exp_new(p->n_strata * p->n_classes, sizeof *group); /* + 1 */

    for (size_t i = 0; i < p->n; i++) {
        struct exp_piece *x = &p->piece[i];
        uint32_t *g = &group[p->stratum_of[x->unit] * p->n_classes + x->class];

        if (!*g) {
            ((struct exp_group *)exp_append(&p->group, &p->n_groups, sizeof *p->group))->class = x->class;
            *g = (uint32_t)p->n_groups;
        }
        x->class = *g - 1;
        p->group[x->class].accesses += x->accesses;
    }
    free(group);
}

void exp_pieces_end(struct exp_pieces *p, uint64_t seed)
{
    assert(p->n && !p->stratum);
    end_pass(p);
    p->random = seed;
    make_strata(p);
    make_groups(p);
    p->drawn = exp_new(p->n_units, sizeof *p->drawn);
    p->used = exp_new(p->n_units, sizeof *p->used);
}

/* ---- the choice ---- */

enum { LAST_PACKS = 1 }; /* before a drawn unit, simulated */

/* Accesses at least, before a drawn unit, that warm up the first level and the prefetchers. */
static const uint64_t warming = 30000;

/* Draws a unit of each n-th part of a stratum's unused units. Equal distances would follow the rows of windows. */
static void draw(struct exp_pieces *p, size_t stratum, size_t n)
{
    struct exp_stratum *s = &p->stratum[stratum];
    const size_t n_left = s->n_units - s->n_drawn;
    size_t end = 0, at = 0;

    for (size_t unit = 0, k = 0, part = 0; unit < p->n_units; unit++) {
        if (p->stratum_of[unit] != stratum || p->used[unit])
            continue;
        if (k == end) {
            end = ++part * n_left / n;
            at = k + (size_t)(next_random(p) * (double)(end - k));
        }
        if (k++ != at)
            continue;
        p->drawn[unit] = true;
        s->n_drawn++;
    }
}

uint64_t exp_pieces_draw(struct exp_pieces *p, const size_t *wanted)
{
    uint64_t simulated = 0, left = UINT64_MAX, warmed = 0;

    for (size_t u = 0; u < p->n_units; u++) {
        p->used[u] |= p->drawn[u];
        p->drawn[u] = false;
    }
    for (size_t i = 0; i < p->n_strata; i++) {
        const size_t n = wanted[i] < p->stratum[i].n_units ? wanted[i] : p->stratum[i].n_units;

        if (n > p->stratum[i].n_drawn)
            draw(p, i, n - p->stratum[i].n_drawn);
    }
    for (size_t i = p->n, packs = LAST_PACKS; i-- > 0;) {
        struct exp_piece *x = &p->piece[i];
        const struct exp_piece_class *c = &p->class[p->group[x->class].class];
        const bool is_pack = c->kind != CONV_STEP_UKR && c->n_pieces == 1;

        warmed = p->drawn[x->unit] ? 0 : warmed + x->accesses;
        x->mode = p->drawn[x->unit]                                                                ? EXP_PIECE_DRAWN
                  : i + 1 < p->n && x[1].mode >= EXP_PIECE_WARMS && warmed - x->accesses < warming ? EXP_PIECE_WARMS
                  : is_pack && packs < LAST_PACKS                                                  ? EXP_PIECE_PACKS
                                                                                                   : EXP_PIECE_SKIPPED;
        left = x->mode >= EXP_PIECE_WARMS ? 0 : left < UINT64_MAX ? left + x->accesses : left;
        x->left = left;
        packs = x->mode >= EXP_PIECE_WARMS ? 0 : packs + (x->mode == EXP_PIECE_PACKS);
        simulated += x->mode != EXP_PIECE_SKIPPED ? x->accesses : 0;
    }
    return simulated;
}

void exp_sample_limit(const struct exp_pieces *p, size_t *wanted, double share)
{
    double more = 0;

    for (size_t i = 0; i < p->n_strata; i++) {
        const struct exp_stratum *s = &p->stratum[i];

        more += 2 * (double)(wanted[i] - s->n_drawn) / (double)s->n_units * (double)s->accesses / (double)p->accesses;
    }
    for (size_t i = 0; more > share && i < p->n_strata; i++)
        wanted[i] = p->stratum[i].n_drawn + (size_t)((double)(wanted[i] - p->stratum[i].n_drawn) * share / more);
}

void exp_pieces_release(struct exp_pieces *p)
{
    free(p->piece);
    free(p->class);
    free(p->pass);
    free(p->stratum_of);
    free(p->stratum);
    free(p->group);
    free(p->drawn);
    free(p->used);
}
