/* Lines of wisdom, and their files. Internal to kernels/wisdom; not for several threads. */
#ifndef KERNELS_WISDOM_LINES_H
#define KERNELS_WISDOM_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/csa/csa.h"
#include "sim/base/why.h"
#include "sim/cpu.h"

enum { WISDOM_KEY_BYTES = 384, WISDOM_NAME_BYTES = 64 };

/* A remembered choice, also of a micro-kernel that this build lacks. */
struct wisdom_value {
    char ukr[WISDOM_NAME_BYTES];
    bool in_place, is_ws;
    size_t n_c, k2, k3;
};

struct wisdom_line {
    char key[WISDOM_KEY_BYTES]; /* CPU, version, instruction set, caches, shape: words with a blank between them */
    struct wisdom_value value;
};

struct wisdom_lines {
    size_t n, room;
    struct wisdom_line *line;
};

void wisdom_lines_release(struct wisdom_lines *l);

/* Returns the value of a key, or NULL. */
const struct wisdom_value *wisdom_lines_find(const struct wisdom_lines *l, const char *key);

/* Puts a value under a key, in place of an earlier value. Returns 0 or -ENOMEM. */
int wisdom_lines_put(struct wisdom_lines *l, const char *key, const struct wisdom_value *value);

/* Read a file into empty lines, and write a file, as conv_wisdom_import and conv_wisdom_export do. */
int wisdom_lines_read(struct wisdom_lines *l, const char *path, struct sim_why why);
int wisdom_lines_write(const struct wisdom_lines *l, const char *path, struct sim_why why);

/* ---- keys (wisdom_key.c) ---- */

/* Writes CPU, version of the kernels, instruction set, caches and shape. */
void wisdom_key(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa, char *key,
                size_t bytes);

#endif
