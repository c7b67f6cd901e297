/* Lines of wisdom, and their files. Internal to kernels/wisdom; not for several threads. */
#ifndef KERNELS_WISDOM_LINES_H
#define KERNELS_WISDOM_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/csa/csa.h"
#include "kernels/shape/reason.h"
#include "sim/cpu.h"

enum {
    WISDOM_KEY_WORDS = 5,   /* CPU, version, instruction set, caches, shape */
    WISDOM_VALUE_WORDS = 6, /* micro-kernel, windows, schedule, Nc, K2, K3 */
    WISDOM_KEY_BYTES = 384,
    WISDOM_VALUE_BYTES = 128,
};

struct wisdom_line {
    char key[WISDOM_KEY_BYTES], value[WISDOM_VALUE_BYTES]; /* words with a blank between them */
};

struct wisdom_lines {
    size_t n, room;
    struct wisdom_line *line;
};

void wisdom_lines_release(struct wisdom_lines *l);

/* Returns the value of a key, or NULL. */
const char *wisdom_lines_find(const struct wisdom_lines *l, const char *key);

/* Puts a value under a key; replaces says whether an earlier value gives way. Returns 0 or -ENOMEM. */
int wisdom_lines_put(struct wisdom_lines *l, const char *key, const char *value, bool replaces);

/* Read a file into empty lines, and write a file, as conv_wisdom_import and conv_wisdom_export do. */
int wisdom_lines_read(struct wisdom_lines *l, const char *path, struct conv_reason why);
int wisdom_lines_write(const struct wisdom_lines *l, const char *path, struct conv_reason why);

/* Reads the words of a value: numbers are at least 1. Returns false for another text. */
bool wisdom_value_read(const char *value, char *ukr, size_t ukr_bytes, bool *in_place, bool *is_ws, size_t number[3]);

/* ---- keys (wisdom_key.c) ---- */

/* Writes CPU, version of the kernels, instruction set, caches and shape. */
void wisdom_key(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa, char *key,
                size_t bytes);

#endif
