/* The judge measures a layer's variants by these: always a cost, of which less is better. */
#ifndef EXPERIMENTS_EXP_JUDGE_YARDSTICKS_H
#define EXPERIMENTS_EXP_JUDGE_YARDSTICKS_H

#include <stddef.h>

#include "sim/machine/machine.h"

/*
 * The yardsticks, each once: columns, tables and figures are made of these lines. One record each:
 *
 *     YARDSTICK(number, name in columns, label for people, colour in figures, unit, what it counts)
 *
 * The first three count lines that cross a border, both ways: fetched, written back. Their levels are the machine's
 * first, second and last, as CSA takes them; they have no label, as the machine's file names the levels.
 */
/* clang-format off */
#define EXP_EACH_YARDSTICK(YARDSTICK)                                                                                  \
    YARDSTICK(EXP_L1_L2_LINES, "l1_l2_lines", NULL, "#e69f00",                                                         \
              "lines", "lines that cross between L1 and L2, both ways")                                                \
    YARDSTICK(EXP_L2_L3_LINES, "l2_l3_lines", NULL, "#56b4e9",                                                         \
              "lines", "lines that cross between L2 and L3, both ways")                                                \
    YARDSTICK(EXP_L3_MEMORY_LINES, "l3_memory_lines", NULL, "#0072b2",                                                 \
              "lines", "lines that cross between L3 and memory, both ways")                                            \
    YARDSTICK(EXP_EQ6_CYCLES, "eq6_cycles", "Eq. 6, simulated", "#009e73",                                             \
              "cycles", "SConv Eq. 6 with simulated loads")                                                            \
    YARDSTICK(EXP_ESTIMATED_CYCLES, "estimated_cycles", "estimated cycles", "#d55e00",                                 \
              "cycles", "estimate: cycles to issue all instructions, plus Eq. 6")
/* clang-format on */

#define EXP_YARDSTICK_NUMBER(number, ...) number,
enum exp_yardstick { EXP_EACH_YARDSTICK(EXP_YARDSTICK_NUMBER) EXP_N_YARDSTICKS };
#undef EXP_YARDSTICK_NUMBER

const char *exp_yardstick_name(enum exp_yardstick y);
const char *exp_yardstick_colour(enum exp_yardstick y);

/* Writes the label, with the names of the machine's levels: "lines L2-SLC". */
void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes);

#endif
