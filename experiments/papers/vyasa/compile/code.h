/* A compiled convolution: the program, the steps of its compilation, and the places of the tensors in memory. */
#ifndef EXPERIMENTS_PAPERS_VYASA_COMPILE_CODE_H
#define EXPERIMENTS_PAPERS_VYASA_COMPILE_CODE_H

#include "experiments/papers/vyasa/compile/body.h"

/* A piece of the program. */
struct vyasa_section {
    const char *name;
    size_t first, n; /* bundles */
    unsigned passes; /* of the pipelined loop, each of `interval` bundles; 0: none */
};

enum { VYASA_MOST_SECTIONS = 16 };

struct vyasa_code {
    struct vyasa_problem problem;
    struct vyasa_schedule schedule;
    struct aie_params params;
    struct vyasa_shape shape;
    struct vyasa_body body;
    struct aie_program program;
    struct vyasa_section section[VYASA_MOST_SECTIONS];
    unsigned n_sections;
    uint64_t cycles; /* of the program */
    bool is_seamless;
};

/*
 * Compiles. *code must stay where it is. Returns 0, or with a line in why: the errors of vyasa_shape; -E2BIG if
 * vectors or the program are too large; -ENOBUFS if there are not enough registers or accumulators; -ERANGE if the
 * network cannot select operands or there is no schedule. On failure *code is empty.
 */
int vyasa_compile(struct vyasa_code *code, const struct vyasa_problem *p, const struct vyasa_schedule *s,
                  const struct aie_params *params, struct exp_why *why);
void vyasa_code_release(struct vyasa_code *code);

/* Puts bundles together from the scheduled body. Returns 0, or -E2BIG with a line in why. */
int vyasa_emit(struct vyasa_code *code, struct exp_why *why);

/* Brings plain tensors into the layouts of the schedule, and the output back. memory as large as params say. */
void vyasa_pack(const struct vyasa_code *code, const struct vyasa_tensors *t, uint8_t *memory);
void vyasa_unpack(const struct vyasa_code *code, const uint8_t *memory, struct vyasa_tensors *t);

/*
 * Runs the program in the simulator on these tensors. Returns 0, or an error of aie_core_run with a line in why; counts
 * are there in any case.
 */
int vyasa_simulate(const struct vyasa_code *code, struct vyasa_tensors *t, struct aie_counts *counts,
                   struct exp_why *why);

/* Prints the program as C with intrinsics: a function `convolve`, for intrinsics.h. */
void vyasa_print_c(const struct vyasa_code *code, FILE *out);

#endif
