#include "experiments/artifact/artifact.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

static const struct rec_field fields[] = {
    { { "id", "", "number of the claim", "" }, REC_AT(struct artifact_claim, id) },
    { { "claim", "", "the claim in words", "" }, REC_AT(struct artifact_claim, says) },
    { { "source", "", "where the claim stands", "" }, REC_AT(struct artifact_claim, source) },
    { { "command", "", "the command that tries the claim", "" }, REC_AT(struct artifact_claim, command) },
    { { "expected", "", "the number expected, with the tolerance", "" }, REC_AT(struct artifact_claim, rule) },
    { { "found", "", "the number found", "command" }, REC_VALUE(struct artifact_claim, found) },
    { { "seconds", "s", "time of the command; 0 if an earlier claim has the command", "clock" },
      REC_AT(struct artifact_claim, seconds) },
    { { "reproduced", "", "1: the number found is as expected", "" }, REC_AT(struct artifact_claim, is_reproduced) },
    { { "reason", "", "why the claim is not reproduced", "" }, REC_AT(struct artifact_claim, why) },
};

const struct rec_table artifact_table = REC_TABLE("artifact.csv", fields, struct artifact_claim);

/* ---- reading ---- */

/* The ways to judge a number. */
static bool is_about(double found, const struct artifact_claim *c)
{
    return fabs(found - c->expected) <= c->tolerance_percent / 100 * fabs(c->expected);
}

static bool is_equal(double found, const struct artifact_claim *c)
{
    return found == c->expected;
}

static bool is_within(double found, const struct artifact_claim *c)
{
    return fabs(found) <= c->expected;
}

static bool is_at_least(double found, const struct artifact_claim *c)
{
    return found >= c->expected;
}

static bool is_at_most(double found, const struct artifact_claim *c)
{
    return found <= c->expected;
}

static const struct judge {
    const char *name;
    bool (*holds)(double found, const struct artifact_claim *c); /* NULL: the exit status */
    const char *format;                                          /* of expected and tolerance */
} judges[] = {
    { "about", is_about, "%.6g +- %.3g %%" },     { "equals", is_equal, "%.10g" },
    { "at_least", is_at_least, "at least %.6g" }, { "at_most", is_at_most, "at most %.6g" },
    { "within", is_within, "0 +- %.6g" },         { "passes", NULL, "exit status 0" },
};

static const struct judge *judge_of(const char *name)
{
    for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++) {
        if (!strcmp(judges[i].name, name))
            return &judges[i];
    }
    return NULL;
}

enum { ID, SAYS, SOURCE, COMMAND, TABLE, ROW, OVER, COLUMN, JUDGED, EXPECTED, TOLERANCE, SMOKE, N_COLUMNS };

static const char *const names[N_COLUMNS] = {
    "id",     "claim",  "source",   "command",           "table", "row", "over",
    "column", "judged", "expected", "tolerance_percent", "smoke"
};

/* Fails at a row of the file of claims. */
static int refuse(const struct exp_table *t, size_t row, struct exp_why *why, const char *problem, const char *value)
{
    return exp_fail(why, -EINVAL, "%s:%u: %s, '%.60s'", t->path, t->line[row], problem, value);
}

static int read_claim(struct artifact_claim *c, const struct exp_table *t, size_t row, const size_t at[],
                      struct exp_why *why)
{
    const char *text[N_COLUMNS];
    const struct judge *judge;
    int err = 0;

    for (int k = 0; k < N_COLUMNS; k++)
        text[k] = exp_table_string(t, row, at[k]);
    *c = (struct artifact_claim){ .id = text[ID],
                                  .says = text[SAYS],
                                  .source = text[SOURCE],
                                  .command = text[COMMAND],
                                  .table = text[TABLE],
                                  .row = text[ROW],
                                  .over = text[OVER],
                                  .column = text[COLUMN],
                                  .judged = text[JUDGED],
                                  .expected = (double)NAN,
                                  .is_quick = !strcmp(text[SMOKE], "1"),
                                  .found = value_none("no run") };
    judge = judge_of(c->judged);
    if (!judge)
        return refuse(t, row, why, "judged must be about, within, equals, at_least, at_most or passes", c->judged);
    if (!*c->says || !*c->command)
        return refuse(t, row, why, "a claim needs words and a command", c->id);
    if (!*c->table != !judge->holds)
        return refuse(t, row, why, "a table is named unless the exit status is judged (passes)", c->table);
    if (judge->holds)
        err = exp_table_double(t, row, at[EXPECTED], &c->expected, why);
    if (!err && judge->holds == is_about)
        err = exp_table_double(t, row, at[TOLERANCE], &c->tolerance_percent, why);
    exp_say(c->rule, sizeof c->rule, judge->format, c->expected, c->tolerance_percent);
    return err;
}

int artifact_read(struct artifact *c, const char *path, bool of_smoke, struct exp_why *why)
{
    size_t at[N_COLUMNS];
    int err;

    assert(c && path && why);
    *c = (struct artifact){ 0 };
    err = exp_table_read(&c->table, path, why);
    for (int k = 0; k < N_COLUMNS && !err; k++)
        err = exp_table_column(&c->table, names[k], &at[k], why);
    if (!err)
        c->claim = exp_new(c->table.n_rows + 1, sizeof *c->claim);
    for (size_t row = 0; !err && row < c->table.n_rows; row++) {
        err = read_claim(&c->claim[c->n], &c->table, row, at, why);
        c->n += !of_smoke || c->claim[c->n].is_quick;
    }
    if (!err && !c->n)
        err = exp_fail(why, -EINVAL, "%s: no claim%s", path, of_smoke ? " with smoke 1" : "");
    if (err)
        artifact_release(c);
    return err;
}

void artifact_release(struct artifact *c)
{
    free(c->claim);
    exp_table_release(&c->table);
    *c = (struct artifact){ 0 };
}

/* ---- judging ---- */

/* Tells whether a row has all texts of "column=text;column=text". Returns 1, 0, or -errno with a line in why. */
static int has_texts(const struct exp_table *t, size_t row, const char *wanted, struct exp_why *why)
{
    while (*wanted) {
        const size_t length = strcspn(wanted, ";"), name = strcspn(wanted, "=");
        char *column = exp_format("%.*s", (int)(name < length ? name : length), wanted);
        const char *text = wanted + (name < length ? name + 1 : length);
        const size_t bytes = (size_t)(wanted + length - text);
        size_t at;
        int err = exp_table_column(t, column, &at, why);

        free(column);
        if (err)
            return err;
        if (strlen(exp_table_string(t, row, at)) != bytes || strncmp(exp_table_string(t, row, at), text, bytes) != 0)
            return 0;
        wanted += length + (wanted[length] == ';');
    }
    return 1;
}

/* Sums a column over the rows with the wanted texts. */
static int sum_of(const struct exp_table *t, const char *wanted, const char *column, double *sum, struct exp_why *why)
{
    size_t at, n = 0;
    int err = exp_table_column(t, column, &at, why);

    *sum = 0;
    for (size_t row = 0; row < t->n_rows && !err; row++) {
        double x = 0;
        const int has = has_texts(t, row, wanted, why);

        err = has < 0 ? has : has ? exp_table_double(t, row, at, &x, why) : 0;
        *sum += x;
        n += has > 0;
    }
    return err || n ? err : exp_fail(why, -ENOENT, "%s: no row with %s", t->path, wanted);
}

static int find_number(struct artifact_claim *c, const char *results, struct exp_why *why)
{
    char *path = exp_format("%s/%s", results, c->table);
    struct exp_table t;
    double sum = 0, divisor = 1;
    int err = exp_table_read(&t, path, why);

    if (!err)
        err = sum_of(&t, c->row, c->column, &sum, why);
    if (!err && *c->over)
        err = sum_of(&t, c->over, c->column, &divisor, why);
    if (!err)
        c->found = value_of(sum / divisor);
    exp_table_release(&t);
    free(path);
    return err;
}

void artifact_judge(struct artifact_claim *c, const char *results, const char *status_why)
{
    const struct judge *judge = judge_of(c->judged);
    struct exp_why why = { "" };

    assert(c && results && judge);
    c->found = value_none(judge->holds ? "the command failed" : "the exit status is judged");
    if (status_why)
        exp_say(c->why, sizeof c->why, "%s", status_why);
    else if (judge->holds && find_number(c, results, &why))
        exp_say(c->why, sizeof c->why, "%s", why.text);
    else if (judge->holds && !judge->holds(c->found.number, c))
        exp_say(c->why, sizeof c->why, "%.6g is not %s", c->found.number, c->rule);
    c->is_reproduced = !*c->why;
}
