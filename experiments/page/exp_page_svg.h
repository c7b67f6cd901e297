/*
 * Figures inside a page: gnuplot's SVG, cut to what the page needs.
 *
 * Only elements and attributes that drawings are made of pass, with values of their kind: a file that somebody sent
 * brings no script, no style and no address along. Numbers lose digits that nobody sees, groups without content go, and
 * point symbols refer to exp_page_symbols, which stands once in a page. Colours become those of the palette.
 */
#ifndef EXPERIMENTS_EXP_PAGE_SVG_H
#define EXPERIMENTS_EXP_PAGE_SVG_H

#include <stdio.h>

#include "experiments/page/exp_page_palette.h"

/* gnuplot's point symbols, an <svg> without extent. */
extern const char exp_page_symbols[];

/*
 * Reads an SVG file and writes it as an element of an HTML page, with label as its text for people who do not see it.
 * Returns 0; -errno of opening or reading; -EINVAL if it is no SVG drawing, -EFBIG above 4 MiB: then nothing is
 * written. Returns -ENOMEM when memory runs out: what is written then lacks something.
 */
int exp_page_svg_embed(const char *path, const char *label, struct exp_page_palette *palette, FILE *out);

/* Does the same with text in memory, of a file called path. The text is cut up. */
int exp_page_svg_copy(char *text, const char *label, struct exp_page_palette *palette, FILE *out);

#endif
