/* Hashes of bytes and files: to tell apart what differs by accident. */
#ifndef EXPERIMENTS_EXP_HASH_H
#define EXPERIMENTS_EXP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Adds bytes to a hash, which starts from 0. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n);

/* Adds a file to a hash, which starts from 0. Returns 0 or -errno of reading it. */
int exp_hash_file(uint64_t *hash, const char *path);

#endif
