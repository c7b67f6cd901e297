/*
 * Colours of a page's figures, which follow the screen: light or dark.
 *
 * Black, white and the greys of axes and grids become var(--ink), var(--card) and so on, which page.css defines; any other
 * colour becomes a variable too, which exp_page_palette_print defines for light and for dark pages.
 */
#ifndef EXPERIMENTS_EXP_PAGE_PALETTE_H
#define EXPERIMENTS_EXP_PAGE_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXP_PAGE_COLOURS = 128 };

/* Colours that the figures of a page have. Starts as { 0 }. */
struct exp_page_palette {
    unsigned rgb[EXP_PAGE_COLOURS];
    size_t n;
};

/* Reads "black", "white", "#rrggbb" or "rgb(r, g, b)". Returns whether it is one of them. */
bool exp_page_palette_read(const char *value, unsigned *rgb);

/* Writes the variable that stands for a colour. */
void exp_page_palette_put(struct exp_page_palette *p, unsigned rgb, FILE *out);

/* Prints the variables' values, as declarations of CSS: as they are, or as a dark page shows them. */
void exp_page_palette_print(const struct exp_page_palette *p, int is_dark, FILE *out);

#endif
