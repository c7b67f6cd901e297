/* The result of a task: named counts, in the order in which they were put. */
#ifndef EXPERIMENTS_EXP_RESULT_H
#define EXPERIMENTS_EXP_RESULT_H

#include <stddef.h>
#include <stdint.h>

struct exp_result {
    char **name;
    uint64_t *value; /* below 2^63, as the database's whole numbers are */
    size_t n, room;
    int err; /* the first error of putting: -ENOMEM; -ERANGE for a value that is too large. It sticks */
};

/* Adds a count. The name is copied. Starts from { 0 }. */
void exp_result_put(struct exp_result *r, const char *name, uint64_t value);

/* Finds a count by its name. Returns 0, or -ENOENT with *value 0. */
int exp_result_get(const struct exp_result *r, const char *name, uint64_t *value);

void exp_result_release(struct exp_result *r); /* leaves { 0 } */

#endif
