/*
 * What the figures of an experiment say in their titles: a line each in titles.txt, beside the tables, so that the
 * figures can be drawn again from the folder alone.
 */
#ifndef EXPERIMENTS_EXP_TITLES_H
#define EXPERIMENTS_EXP_TITLES_H

#include "experiments/base/exp_outdir.h"

struct exp_titles {
    char machine[512];   /* the simulated one, and its description */
    char simulator[256]; /* how it was simulated */
    char host[512];      /* where and by what was timed */
    char arch[16];       /* whose published numbers to show: exp_figures.h */
    char levels[64];     /* names of the levels: exp_figures.h */
    char observed[256];  /* by what streams were observed */
};

/* Writes titles.txt. Returns as exp_outdir_write. */
int exp_titles_write(const struct exp_titles *t, const struct exp_outdir *dir, char *why, size_t why_bytes);

/* Reads the titles.txt of a folder; what it does not say is "". Returns 0, or -errno with one line in why. */
int exp_titles_read(struct exp_titles *t, const char *folder, char *why, size_t why_bytes);

#endif
