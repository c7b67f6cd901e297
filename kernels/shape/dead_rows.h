/*
 * Rows of a filter's taps that meet nothing but padding above or below the image, for all windows of a tile: what they
 * would add is zero. Columns have none: a tile's windows differ in theirs.
 */
#ifndef KERNELS_DEAD_ROWS_H
#define KERNELS_DEAD_ROWS_H

#include "kernels/shape/problem.h"

/* The first rows of taps, which lie above the image, and the last ones, which lie below; above + below < r. */
struct conv_dead_rows {
    size_t above, below;
};

/*
 * Returns the dead rows of the n_win >= 1 windows from win0 on. Where every row is dead, one is left all the same:
 * outputs need a value.
 */
struct conv_dead_rows conv_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win);

/* Tiles that end after `first` and start before `end` have no dead rows: a test that costs no division. */
struct conv_live_windows {
    size_t first, end;
};

struct conv_live_windows conv_live_windows(const struct conv_problem *p);

#endif
