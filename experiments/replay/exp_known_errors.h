/*
 * What is known of the estimates' error on machines where they were held against the clock: experiments/estimates/
 * errors.csv (see the README there), rows of `make judge` kept from those machines.
 */
#ifndef EXPERIMENTS_EXP_KNOWN_ERRORS_H
#define EXPERIMENTS_EXP_KNOWN_ERRORS_H

#include <stdio.h>

/*
 * Prints one sentence for each machine, "On zen3 (timed at commit 7c6337b, ...): ...", all on one line; that nothing
 * is known where the file is missing or broken.
 */
void exp_known_errors_say(const char *experiments_dir, FILE *out);

#endif
