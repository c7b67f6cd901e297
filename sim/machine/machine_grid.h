/*
 * Many machines, or any things with keys and values, as a text:
 *
 *     L1.size=16K,32K L2.ways=4,8,16       every combination: 6 points
 *     L1.size=16K L2.ways=4; L1.size=32K   two grids: 2 points, the second with L2 unchanged
 *     L1.ways=1..16  nc=8..512*2           ranges: 1, 2, ... 16; 8, 16, ... 512; 4..64+4 is 4, 8, ... 64
 *     L2.prefetch={none},{stream degree=2 distance=8}   values with commas or blanks
 *
 * Keys and values are any texts here.
 */
#ifndef SIM_MACHINE_GRID_H
#define SIM_MACHINE_GRID_H

#include <stddef.h>

struct sim_axis {
    char *key;
    char **value; /* [n_values] */
    size_t n_values;
};

struct sim_grid {
    struct sim_axis *axis; /* [n_axes]; the last changes fastest */
    size_t n_axes;
    size_t first; /* number of the grid's first point */
};

struct sim_grids {
    struct sim_grid *grid;
    size_t n_grids, n_points;
    char **key; /* [n_keys] all keys, each once, in the order of the text; owned by the axes */
    size_t n_keys;
};

/*
 * Reads the text. Returns 0, or with a line in why: -EINVAL for malformed text, for a key twice in a grid, and for more
 * than `most` points; -ENOMEM. On failure *g is empty.
 */
int sim_grids_read(struct sim_grids *g, const char *text, size_t most, char *why, size_t why_bytes);
void sim_grids_release(struct sim_grids *g);

/* Returns the value of a key at a point; NULL: the point leaves the key unchanged. */
const char *sim_grids_value(const struct sim_grids *g, size_t point, size_t key);

#endif
