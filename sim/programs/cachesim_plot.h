/*
 * A figure of the counts, drawn by gnuplot as PNG or SVG: the misses of each level, by tag if tags are told apart; or
 * the miss-ratio curve. The file is whole or absent.
 */
#ifndef SIM_CACHESIM_PLOT_H
#define SIM_CACHESIM_PLOT_H

#include "sim/analysis/reuse.h"
#include "sim/programs/cachesim_session.h"

/* Tells whether a figure can have the name: it ends in .png or .svg. */
bool cachesim_plot_is_name(const char *path);

/*
 * Says, before a long trace is read, if gnuplot is missing. Returns as cachesim_run_passes; 0 if no figure is wanted.
 */
int cachesim_plot_check(struct cachesim_session *s);

/* Each draws the figure of the options, or nothing. Returns as cachesim_run_passes. */
int cachesim_plot_misses(struct cachesim_session *s, const struct sim_machine *m, const struct sim_stats *stats);
int cachesim_plot_curve(struct cachesim_session *s, const struct sim_reuse *r);

#endif
