/* Hashes of files: to tell programs apart. */
#ifndef EXPERIMENTS_EXP_HASH_H
#define EXPERIMENTS_EXP_HASH_H

#include <stdint.h>

/* Adds a file to a hash, which starts from 0. Returns 0 or -errno of reading it. */
int exp_hash_file(uint64_t *hash, const char *path);

#endif
