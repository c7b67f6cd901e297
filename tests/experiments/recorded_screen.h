/* Screens of recorded results, beside the screens in tests/golden/screens. UPDATE=1 in the environment writes the screens anew. */
#ifndef TESTS_RECORDED_SCREEN_H
#define TESTS_RECORDED_SCREEN_H

#include "experiments/base/screen.h"
#include "experiments/show/page.h"

/* Reads a recorded table: the rows of a file of results/reference. Ends the test without rows. */
void recorded_rows(struct exp_page_csv *csv, const char *folder, const struct rec_table *t);

/* Checks that a screen of 100 columns equals the golden screen of a name, and releases the screen. */
void recorded_screen_is(struct exp_screen *s, const char *name);

#endif
