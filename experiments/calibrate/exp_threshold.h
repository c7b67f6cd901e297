/* From which time on a line counts as far, found from times of lines that were put near and far on purpose. */
#ifndef EXPERIMENTS_EXP_THRESHOLD_H
#define EXPERIMENTS_EXP_THRESHOLD_H

#include <stddef.h>

/*
 * Finds the ticks between near[n] and far[n] times: half way between the upper quartile of the near ones and the lower
 * quartile of the far ones, so that disturbed rounds do not move it. Sorts both. Returns 0, or -ENODATA if the quartiles
 * are not apart by a quarter of the near one's time or a tick: these times do not tell near from far.
 */
int exp_threshold_find(double *near, double *far, size_t n, double *threshold);

#endif
