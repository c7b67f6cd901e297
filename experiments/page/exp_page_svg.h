/*
 * Figures inside a page: gnuplot's SVG, cut to what the page needs.
 *
 * Only elements and attributes that drawings are made of pass, with values of their kind: a file that somebody sent
 * brings no script, no style and no address along. Numbers lose digits that nobody sees, groups without content go, and
 * point symbols refer to exp_page_symbols, which stands once in a page. Black, white and the greys of axes and grids
 * become var(--ink), var(--paper) and so on; any other colour becomes a variable too, which exp_page_palette_print
 * defines for light and for dark pages.
 */
#ifndef EXPERIMENTS_EXP_PAGE_SVG_H
#define EXPERIMENTS_EXP_PAGE_SVG_H

#include <stddef.h>
#include <stdio.h>

enum { EXP_PAGE_COLOURS = 128 };

/* Colours that the figures of a page have. Starts as { 0 }. */
struct exp_page_palette {
    unsigned rgb[EXP_PAGE_COLOURS];
    size_t n;
};

/* gnuplot's point symbols, an <svg> without extent. */
extern const char exp_page_symbols[];

/*
 * Reads an SVG file and writes it as an element of an HTML page, with label as its text for people who do not see it.
 * Returns 0; -errno of opening or reading; -EINVAL if it is no SVG drawing, -EFBIG above 4 MiB; then nothing is
 * written.
 */
int exp_page_svg_embed(const char *path, const char *label, struct exp_page_palette *palette, FILE *out);

/* Does the same with text in memory, of a file called path. The text is cut up. */
int exp_page_svg_copy(char *text, const char *label, struct exp_page_palette *palette, FILE *out);

/* Prints the variables' values, as declarations of CSS: as they are, or as a dark page shows them. */
void exp_page_palette_print(const struct exp_page_palette *p, int is_dark, FILE *out);

/* Writes text as HTML does, in elements and in quoted attributes. Control characters become blanks. */
void exp_page_escape(const char *text, FILE *out);

#endif
