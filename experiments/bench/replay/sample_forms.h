/*
 * The lines and accesses of micro-kernel steps, without emission. Two calls of a micro-kernel with equal
 * arguments, places aside, have equal accesses, places aside: one form. So the accesses of a form are emitted once.
 * Internal to this room (sample.h).
 */
#ifndef EXPERIMENTS_BENCH_REPLAY_SAMPLE_FORMS_H
#define EXPERIMENTS_BENCH_REPLAY_SAMPLE_FORMS_H

#include "experiments/bench/replay/sample_choice.h"
#include "experiments/bench/replay/sample_lines.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/ukr.h"

/* Ahead: prefetched for later steps. */
enum {
    EXP_FORM_INPUT,
    EXP_FORM_FILTERS,
    EXP_FORM_OUTPUTS,
    EXP_FORM_INPUT_AHEAD,
    EXP_FORM_FILTERS_AHEAD,
    EXP_FORM_PARTS
};

/* Everything about a call but places of whole lines: decides all accesses. */
struct exp_form_key {
    struct conv_ukr_args args; /* addresses within a line; without pointers */
    struct conv_taps taps;     /* 0 without taps */
    size_t n_ahead[CONV_N_AHEAD];
    uint8_t ahead_tag[CONV_N_AHEAD];
    int64_t ahead_at[CONV_N_AHEAD];   /* input and filters prefetched for later steps: bytes from the part's place */
    int64_t ahead_step[CONV_N_AHEAD]; /* bytes */
    bool goes_on, has_input_ahead, has_filter_ahead;
};

struct exp_form_box {
    int64_t first; /* line, counted from the part's place */
    uint32_t n;
    uint8_t kind, tag, phase;
};

/* The boxes of the panel of windows, of the filters, of the outputs, or of prefetched lines of later steps. */
struct exp_form_part {
    struct exp_form_box *box;
    size_t n;
    uint64_t n_lines;
};

struct exp_form {
    struct exp_form_key key;
    bool is_plain; /* known by boxes; else accesses pass the caches */
    struct exp_form_part part[EXP_FORM_PARTS];
    struct exp_sample_accesses *accesses;
    size_t n_kinds; /* of accesses */
    uint64_t n_accesses;
    double work[CONV_N_WORKS];
};

/* The lines of a part at a place. */
struct exp_form_region {
    uint64_t key;
    uint32_t used;    /* the clock after the last use, while pieces are listed */
    uint32_t touched; /* 1 + lines touched by a run until then; 0: never */
};

/* What a piece uses. */
struct exp_form_use {
    uint32_t region[EXP_FORM_PARTS]; /* 1 + index; 0: none */
    uint32_t clock;                  /* lines used by earlier pieces after a long time */
    uint8_t missed;                  /* bits: parts lost by the first level */
    bool is_near;                    /* soon followed by a simulated piece */
};

struct exp_forms {
    struct exp_form **slot; /* owned */
    size_t n;
    bool takes_prefetches;
    struct exp_form_region *region;
    size_t n_regions;
    uint32_t *region_at; /* [mask + 1]: 1 + index */
    size_t mask;
    struct exp_form_use *use; /* of all pieces, in order */
    size_t n_uses;
    uint32_t recent, older;   /* used so many lines ago: lost by the first level; perhaps lost by the second level */
    uint32_t clock, returned; /* lines used until now; of these, lines used after a long time */
};

/* The numbers of lines of the first two levels; whether the machine takes prefetch instructions. */
void exp_forms_init(struct exp_forms *f, uint64_t first_lines, uint64_t second_lines, bool takes_prefetches);
void exp_forms_release(struct exp_forms *f);

/*
 * Returns the form of a micro-kernel step and the places of its parts, as line numbers; NULL if the step has to be emitted.
 * Between pieces, lines take the emission of a new form.
 */
const struct exp_form *exp_forms_find(struct exp_forms *f, const struct conv_plan *plan,
                                      const struct conv_binding *bind, const struct conv_step *s,
                                      struct exp_sample_lines *lines, uint64_t place[EXP_FORM_PARTS]);

/* Lists the next piece: of a form, or without (NULL). */
void exp_forms_list(struct exp_forms *f, const struct exp_form *form, const uint64_t place[EXP_FORM_PARTS]);

/*
 * Chooses the pieces whose parts go to the caches at each use missed by the first level: enough pieces before simulated
 * pieces to make the second level forget all earlier pieces.
 */
void exp_forms_choose(struct exp_forms *f, const struct exp_piece *piece);

/* Tells whether a piece has no form, or is not soon followed by a simulated piece. */
bool exp_forms_is_far(const struct exp_forms *f, size_t piece);

/* No part has been touched. */
void exp_forms_clear(struct exp_forms *f);

/* Touches a near piece's parts lost by the first level, and parts perhaps absent from all caches. */
void exp_forms_touch(struct exp_forms *f, size_t piece, const struct exp_form *form,
                     const uint64_t place[EXP_FORM_PARTS], struct exp_sample_lines *l);

#endif
