#include "experiments/judge/exp_judge_yardsticks.h"

#include <assert.h>
#include <stdio.h>

#include "experiments/replay/exp_totals.h"

#define RECORD(number, name_, label_, colour_, ...) [number] = { name_, label_, colour_ },

static const struct {
    const char *name, *label, *colour;
} yardsticks[EXP_N_YARDSTICKS] = { EXP_EACH_YARDSTICK(RECORD) };

const char *exp_yardstick_name(enum exp_yardstick y)
{
    assert(y < EXP_N_YARDSTICKS);
    return yardsticks[y].name;
}

const char *exp_yardstick_colour(enum exp_yardstick y)
{
    assert(y < EXP_N_YARDSTICKS);
    return yardsticks[y].colour;
}

void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes)
{
    char border[40];

    assert(y < EXP_N_YARDSTICKS);
    if (yardsticks[y].label) {
        snprintf(text, bytes, "%s", yardsticks[y].label);
        return;
    }
    exp_border_name(m, (size_t)y - EXP_L1_L2_LINES, border, sizeof border);
    snprintf(text, bytes, "lines %s", border);
}
