/*
 * Claims: statements of papers and of this project, each with a command, the number that the command leaves in a table,
 * and the expected number. Internal to this room; README.md explains the file of claims.
 */
#ifndef EXPERIMENTS_ARTIFACT_ARTIFACT_H
#define EXPERIMENTS_ARTIFACT_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/csv.h"
#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/base/value.h"

enum { ARTIFACT_RULE_BYTES = 64, ARTIFACT_WHY_BYTES = 400 };

/* One claim; texts belong to the table of struct artifact. */
struct artifact_claim {
    const char *id, *says, *source;
    const char *command;      /* as a user types the command in the project's folder */
    const char *table;        /* below RESULTS; "": the exit status of the command is judged */
    const char *row, *over;   /* "column=text;column=text"; over "": no divisor */
    const char *column;       /* the number */
    const char *judged;       /* about, within, equals, at_least, at_most, passes */
    double expected;          /* NaN: passes */
    double tolerance_percent; /* of about */
    bool is_quick;            /* a part of SMOKE=1 */

    /* Found by a run. */
    struct value found;
    double seconds; /* of the command; 0 if an earlier claim has the command */
    bool is_reproduced;
    char rule[ARTIFACT_RULE_BYTES]; /* "1.8 +- 5 %" */
    char why[ARTIFACT_WHY_BYTES];   /* of a claim that is not reproduced; "" */
};

struct artifact {
    struct exp_table table;
    struct artifact_claim *claim;
    size_t n;
};

extern const struct rec_table artifact_table; /* artifact.csv: rows are struct artifact_claim */

/*
 * Reads a file of claims; of_smoke: the quick claims alone. Returns 0, or -errno with one line "path:line: problem, value"
 * in why; then *c is empty.
 */
int artifact_read(struct artifact *c, const char *path, bool of_smoke, struct exp_why *why);

/*
 * Judges a claim after a run of its command, whose tables lie below results. status_why is NULL, or the reason why the
 * command failed. Sets found, is_reproduced and why.
 */
void artifact_judge(struct artifact_claim *c, const char *results, const char *status_why);

void artifact_release(struct artifact *c);

#endif
