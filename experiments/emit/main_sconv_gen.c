/* The program of the question gen. `sconv-gen --help` lists the options. */
#include "experiments/bench/course/course.h"

extern const struct exp_question question_gen;

int main(int argc, char **argv)
{
    return exp_main(&question_gen, argc, argv);
}
