/*
 * A chart of bars on a page: groups (layers of a model, steps of a network) with a bar for each algorithm. A bar's text
 * is HTML and a bar's shapes are SVG in percent of the card's width: the chart fits any screen without JavaScript.
 * Each bar carries all numbers once, and page.js makes from the numbers the switch of views, the values under the
 * pointer, the choice of algorithms and the order of groups.
 */
#ifndef EXPERIMENTS_SHOW_PAGE_BARS_H
#define EXPERIMENTS_SHOW_PAGE_BARS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/stats.h"
#include "experiments/show/page_writer.h"

enum { EXP_PAGE_BARS_MOST = 120, EXP_PAGE_BARS_MAIN = 20, EXP_PAGE_BARS_OVER = 3, EXP_PAGE_BAR_PARTS = 8 };

/* NaN: not known. */
struct exp_page_bar {
    const char *algo;
    const char *run; /* of several runs, the bar's run; NULL: there is one run */
    bool is_pale;
    double value, low, high; /* in the chart's unit */
    double rate;             /* work in a unit of time */
    struct exp_ratio speedup;
    double simulated;                /* by simulation, in the chart's unit; NaN where the value is the simulation's */
    double part[EXP_PAGE_BAR_PARTS]; /* shares of the time, in any unit; all 0: not known */
    const char *why;                 /* why there is no value; NULL: there is a value, or no reason is known */
    double *at;                      /* [n_views][n_points] of exp_page_points; NULL: no points */
};

/*
 * Points of a chart: combinations of a few settings. A slider for each setting chooses the point, and a switch chooses
 * one of several numbers, in place of times, rates and speed-ups. Without JavaScript the chart shows point 0 of view 0.
 */
struct exp_page_points {
    const char *const *key;   /* [n_keys] names of the settings */
    const char *const *value; /* [n_points][n_keys] */
    const char *const *view;  /* [n_views] names of the numbers */
    const char *const *unit;  /* [n_views] */
    size_t n_keys, n_points, n_views;
};

struct exp_page_bar_group {
    const char *name;
    char note[160];
    const char *target;       /* id of the section about the group; NULL: there is no section */
    double saves;             /* in the chart's unit: the possible saving */
    bool is_total;            /* the sum of the groups, drawn on a separate scale */
    struct exp_page_bar *bar; /* [n_bars] */
    size_t n_bars;
};

struct exp_page_bars {
    const char *title, *caption;
    const char *unit, *rate_unit;
    const char *saves_title; /* of the order by `saves` */
    double roof;             /* the highest possible rate; NaN: not known */
    const char *roof_title;
    const char *over, *means; /* of speed-ups: over what, and in words; NULL: "Base", "as fast as Base" */
    const char *part_title[EXP_PAGE_BAR_PARTS]; /* NULL: there is no part */
    const struct exp_page_points *points;       /* NULL: none */
    struct exp_page_bar_group *group;           /* [n_groups] */
    size_t n_groups;
};

/* Adds a group, and a bar to a group, with all numbers NaN and all parts 0. The pointers live until the next addition. */
struct exp_page_bar_group *exp_page_bars_group(struct exp_page_bars *c, const char *name);
struct exp_page_bar *exp_page_bars_bar(struct exp_page_bar_group *g, const char *algo);

/* Returns the group's bar of an algorithm; NULL: there is none. */
const struct exp_page_bar *exp_page_bars_find(const struct exp_page_bar_group *g, const char *algo);

/* Writes the chart, with the EXP_PAGE_BARS_MOST groups of the largest bars; writes nothing without a value. */
void exp_page_bars_write(struct exp_page_writer *w, const struct exp_page_bars *c);
void exp_page_bars_release(struct exp_page_bars *c);

#endif
