/* Coordinates in attributes of SVG: numbers, and the letters of paths and transformations. */
#ifndef EXPERIMENTS_EXP_PAGE_COORDINATES_H
#define EXPERIMENTS_EXP_PAGE_COORDINATES_H

#include <stdbool.h>
#include <stdio.h>

/* Tells whether a value has nothing else. */
bool exp_page_is_drawn(const char *value);

/* Writes such a value with at most one digit after the point, two below 10, and no blank that is not needed. */
void exp_page_put_numbers(const char *value, FILE *out);

#endif
