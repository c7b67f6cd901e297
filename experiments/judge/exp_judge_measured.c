#include "experiments/judge/exp_judge_measured.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { INDEX, LAYER, MACS, ALGO, UKR, CACHES, IS_MACHINE, TIME, SPEEDUP, LOW, HIGH };

static const char *const names[EXP_JUDGE_TIME_COLUMNS] = {
    [INDEX] = "layer_index",
    [LAYER] = "layer",
    [MACS] = "macs",
    [ALGO] = "algo",
    [UKR] = "ukr",
    [CACHES] = "caches",
    [IS_MACHINE] = "measured_is_machine",
    [TIME] = "measured_time_ns",
    [SPEEDUP] = "measured_speedup_vs_base",
    [LOW] = "measured_speedup_low",
    [HIGH] = "measured_speedup_high",
};

int exp_judge_measured_read(struct exp_judge_measured *m, const char *path, char *why, size_t why_bytes)
{
    int err = exp_table_read(&m->table, path, why, why_bytes);

    if (err == -ENOENT)
        return exp_fail(why, why_bytes, err, "there is no '%s'; make experiment writes one", path);
    for (size_t i = 0; i < EXP_JUDGE_TIME_COLUMNS && !err; i++)
        err = exp_table_column(&m->table, names[i], &m->column[i], why, why_bytes);
    if (err)
        exp_judge_measured_release(m);
    return err;
}

void exp_judge_measured_release(struct exp_judge_measured *m)
{
    exp_table_release(&m->table);
    *m = (struct exp_judge_measured){ 0 };
}

static bool is_text(const struct exp_judge_measured *m, size_t row, int column, const char *text)
{
    return !strcmp(exp_table_string(&m->table, row, m->column[column]), text);
}

/* Returns the number in a cell; NaN if it has none. */
static double number(const struct exp_judge_measured *m, size_t row, int column)
{
    double value = (double)NAN;
    char ignored[256];

    exp_table_double(&m->table, row, m->column[column], &value, ignored, sizeof ignored);
    return value;
}

static bool is_of(const struct exp_judge_measured *m, size_t row, const struct exp_case *c, enum exp_cache_state caches)
{
    return number(m, row, INDEX) == c->layer->index && is_text(m, row, LAYER, c->layer->name) &&
           number(m, row, MACS) == conv_macs(&c->layer->problem) && is_text(m, row, ALGO, c->algo->name) &&
           is_text(m, row, UKR, c->plan.ukr->name) && is_text(m, row, CACHES, exp_cache_state_name(caches)) &&
           number(m, row, IS_MACHINE) == 1;
}

struct exp_judge_time exp_judge_measured_find(const struct exp_judge_measured *m, const struct exp_case *c,
                                              enum exp_cache_state caches)
{
    struct exp_judge_time t = { (double)NAN, exp_ratio_none() };

    for (size_t row = 0; row < m->table.n_rows; row++) {
        if (!is_of(m, row, c, caches))
            continue;
        t.ns = number(m, row, TIME);
        t.speedup.value = number(m, row, SPEEDUP);
        t.speedup.low = number(m, row, LOW);
        t.speedup.high = number(m, row, HIGH);
        break;
    }
    return t;
}
