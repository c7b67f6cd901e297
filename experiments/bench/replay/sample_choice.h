/* The pieces of a stream, and the simulated pieces of a sample. Internal to this room: sample.h explains the words. */
#ifndef EXPERIMENTS_BENCH_REPLAY_SAMPLE_CHOICE_H
#define EXPERIMENTS_BENCH_REPLAY_SAMPLE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/nest/nest.h"

enum exp_piece_mode {
    EXP_PIECE_SKIPPED,
    EXP_PIECE_PACKS, /* before a drawn unit, simulated: prefetchers run ahead of packing, for later units */
    EXP_PIECE_WARMS, /* simulated, and not counted */
    EXP_PIECE_DRAWN
};

/* Everything about a step that decides its accesses, but places. */
struct exp_piece_class {
    enum conv_step_kind kind;
    uint32_t n_win, n_f, n_k;
    struct conv_dead_rows dead;
    bool accumulates;
    bool is_first; /* in the first pass over its packed set */
    bool has_input_ahead, has_filter_ahead;
    bool reads_new;    /* a piece of a long step reads elements that no piece has read before */
    uint32_t n_pieces; /* of the pass of micro-kernels, or of the step */
    uint32_t step;     /* the class that stands for all pieces of a long step: equal but for reads_new */
};

struct exp_piece {
    uint32_t unit;
    uint32_t class; /* until exp_pieces_end(); then group */
    uint8_t mode;   /* enum exp_piece_mode */
    uint64_t left;  /* accesses between a skipped piece and the next drawn unit with its warm-up */
    uint64_t accesses;
};

/* Units with equal sets of classes. */
struct exp_stratum {
    uint64_t hash; /* of the set */
    size_t n_units, n_drawn;
    uint64_t accesses;
    bool packs;     /* a unit has packing steps */
    bool reads_new; /* a unit has a piece that reads new elements: see struct exp_piece_class */
};

struct exp_pieces {
    struct exp_piece *piece;
    size_t n;
    uint64_t accesses;
    struct exp_piece_class *class;
    size_t n_classes;
    /* After exp_pieces_end(). */
    uint32_t *stratum_of; /* [n_units] */
    size_t n_units;
    struct exp_stratum *stratum;
    size_t n_strata;
    struct exp_group { /* the pieces of a class in a stratum */
        uint32_t class;
        uint64_t accesses;
    } * group;
    size_t n_groups;
    bool *drawn, *used; /* [n_units] in this run; in an earlier run */
    uint64_t random;
    /* While pieces are added. */
    uint64_t unit_accesses; /* wanted of a unit; set before the first piece */
    struct conv_step last, first_of_pass;
    bool has_pass, is_first;
    struct exp_piece_class *pass; /* [n_pass] of the last pieces, still without class */
    size_t n_pass;
    uint64_t in_unit;
};

/* Adds a piece of a step. goes_on: an earlier piece of the step was added before. reads_new: as in a class. */
void exp_pieces_add(struct exp_pieces *p, const struct conv_plan *plan, const struct conv_step *s, uint64_t accesses,
                    bool goes_on, bool reads_new);

/* Ends the list, and makes strata and groups. */
void exp_pieces_end(struct exp_pieces *p, uint64_t seed);

/*
 * Draws units for a run, besides all units of earlier runs: of each stratum up to wanted[stratum] in all runs, a random
 * unit of each equal part of the stratum; and sets the modes of all pieces. Returns the accesses that will be simulated.
 */
uint64_t exp_pieces_draw(struct exp_pieces *p, const size_t *wanted);

/* Lowers the numbers of wanted units until the new units have at most this share of the accesses, with warm-ups. */
void exp_sample_limit(const struct exp_pieces *p, size_t *wanted, double share);

void exp_pieces_release(struct exp_pieces *p);

/* Tells whether a class's steps have several pieces. */
static inline bool exp_piece_is_long(const struct exp_piece_class *c)
{
    return c->kind != CONV_STEP_UKR && c->n_pieces > 1;
}

#endif
