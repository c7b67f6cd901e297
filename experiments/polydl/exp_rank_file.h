/*
 * A trained net in a file, to the last bit of its weights:
 *
 *     # comments
 *     format polydl-rank-net 1
 *     statistics 4
 *     layers 64 32 16 8 2
 *     seed 1
 *     weights 3442
 *     0x1.8p-3              one on each line
 *     sum 89abcdef01234567  of all before this line: a file that was cut or edited is found out
 */
#ifndef EXPERIMENTS_EXP_RANK_FILE_H
#define EXPERIMENTS_EXP_RANK_FILE_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_rank_net.h"

/*
 * Writes a net; note, one line, says what it was trained on. The file is complete or not there. Returns 0, or -errno
 * with one line in why.
 */
int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, struct exp_why *why);

#endif
