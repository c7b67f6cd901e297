#include "experiments/replay/exp_known_errors.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/replay/exp_accuracy.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"

enum {
    MACHINE,
    COMMIT,
    ROUNDS,
    TIME,
    LAYERS,
    SIDED,
    HIT_P10,
    HIT_MEDIAN,
    HIT_P90,
    HIT_RIGHT,
    WAIT_P10,
    WAIT_MEDIAN,
    WAIT_P90,
    WAIT_RIGHT,
    N
};

static const char *const names[N] = {
    "machine",
    "timed_at_commit",
    "rounds",
    "time",
    "measured_layers",
    "sided_layers",
    "issue_to_measured_p10",
    "issue_to_measured_median",
    "issue_to_measured_p90",
    "issue_right_layers",
    "estimated_to_measured_p10",
    "estimated_to_measured_median",
    "estimated_to_measured_p90",
    "estimated_right_layers",
};

static int find_columns(const struct exp_table *t, size_t column[N], struct exp_why *why)
{
    int err = 0;

    for (int i = 0; i < N && !err; i++)
        err = exp_table_column(t, names[i], &column[i], why);
    return err;
}

static double number(const struct exp_table *t, size_t row, size_t column)
{
    double value = (double)NAN;
    struct exp_why ignored;

    exp_table_double(t, row, column, &value, &ignored);
    return value;
}

static struct exp_accuracy accuracy_of(const struct exp_table *t, size_t row, const size_t *column, int first)
{
    return (struct exp_accuracy){
        .n = (size_t)number(t, row, column[LAYERS]),
        .p10 = number(t, row, column[first]),
        .median = number(t, row, column[first + 1]),
        .p90 = number(t, row, column[first + 2]),
        .n_sided = (size_t)number(t, row, column[SIDED]),
        .n_right = (size_t)number(t, row, column[first + 3]),
    };
}

static void say_machine(const struct exp_table *t, size_t row, const size_t column[N], FILE *out)
{
    const struct exp_accuracy hit = accuracy_of(t, row, column, HIT_P10), wait = accuracy_of(t, row, column, WAIT_P10);

    fprintf(out, "%sOn %s (timed at commit %s, the %s of %s rounds): ", row ? " " : "",
            exp_table_string(t, row, column[MACHINE]), exp_table_string(t, row, column[COMMIT]),
            exp_table_string(t, row, column[TIME]), exp_table_string(t, row, column[ROUNDS]));
    exp_accuracy_print(&hit, out);
    fprintf(out, ", %s; ", EXP_IF_ALL_HIT);
    exp_accuracy_print(&wait, out);
    fprintf(out, ", %s.", EXP_IF_ALL_WAIT);
}

void exp_known_errors_say(const char *experiments_dir, FILE *out)
{
    char *path = exp_format("%s/estimates/errors.csv", experiments_dir);
    struct exp_why why = { "out of memory" };
    struct exp_table t = { 0 };
    size_t column[N];
    int err = path ? exp_table_read(&t, path, &why) : -1;

    if (!err)
        err = find_columns(&t, column, &why);
    if (err)
        fprintf(out, "Nothing is known of its error: %s.", why.text);
    for (size_t row = 0; row < t.n_rows && !err; row++)
        say_machine(&t, row, column, out);
    exp_table_release(&t);
    free(path);
}
