/* The program of the question plan. `sconv-plan --help` lists the options. */
#include "experiments/bench/course/course.h"

extern const struct exp_question question_plan;

int main(int argc, char **argv)
{
    return exp_main(&question_plan, argc, argv);
}
