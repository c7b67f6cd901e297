/* Cells that several files of a judgement have: part of exp_judge_files.h. */
#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"

void exp_judge_put(struct exp_csv *csv, const char *column, double value, const char *why_not)
{
    exp_csv_number(csv, column, why_not ? (double)NAN : value, why_not ? why_not : "the better schedule moves nothing");
}

void exp_judge_put_by(struct exp_csv *csv, const char *before, enum exp_yardstick y, const char *after, double value,
                      const char *why_not)
{
    char column[64];

    exp_say(column, sizeof column, "%s%s%s", before, exp_yardstick_name(y), after);
    exp_judge_put(csv, column, value, why_not);
}

void exp_judge_put_variants(struct exp_csv *csv, enum exp_yardstick y, const double value[EXP_N_VARIANTS],
                            const char *why_not)
{
    char before[32];

    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        exp_say(before, sizeof before, "%s_", exp_variant_at(i)->name);
        exp_judge_put_by(csv, before, y, "", value[i], why_not);
    }
}

void exp_judge_put_ms(struct exp_csv *csv, const char *column, double cycles, const struct sim_machine *m,
                      const char *why_not)
{
    if (!why_not && !(m->issue.clock_ghz > 0))
        why_not = "the machine's file does not state clock_ghz";
    exp_judge_put(csv, column, cycles / (m->issue.clock_ghz * 1e6), why_not);
}
