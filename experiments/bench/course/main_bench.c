/*
 * Every question, by its name: `bench judge MODEL=vgg16`. `bench` alone lists them, and `bench --columns` explains the
 * files of all. A link to this program that has a question's name asks that question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "sim/machine/machine_words.h"

static const struct exp_question *find(const char *name)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!strcmp((*q)->name, name) || !strcmp(exp_question_program(*q), name))
            return *q;
    }
    return NULL;
}

static void list(FILE *out)
{
    fprintf(out, "usage: bench QUESTION NAME=VALUE ...   (bench QUESTION --help lists its options,\n"
                 "bench --columns prints what the columns of all result files mean)\n\n");
    for (const struct exp_question *const *q = exp_questions; *q; q++)
        fprintf(out, "  %-12s %s\n", (*q)->name, (*q)->asks);
}

/* Prints what the columns of all questions' files mean: results/columns.md ends with it. */
static void document(FILE *out)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!exp_question_has_tables(*q))
            continue;
        fprintf(out, "\n## make %s\n", (*q)->target ? (*q)->target : (*q)->name);
        exp_question_document(*q, out);
    }
}

static int refuse(const char *name)
{
    const char *known[64], *nearest;
    size_t n = 0;

    for (const struct exp_question *const *q = exp_questions; *q && n < sizeof known / sizeof known[0]; q++)
        known[n++] = (*q)->name;
    nearest = sim_nearest_word(name, known, n);
    fprintf(stderr, "bench: there is no question '%s'%s%s%s bench lists them\n", name,
            nearest ? ", did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "");
    return EXP_EXIT_BAD_INPUT;
}

/* Asks a question. Its options follow words[0], which becomes its name: base/slurm.h starts the same again. */
static int ask(const struct exp_question *q, int n, char **words)
{
    char **argv = exp_new((size_t)n + 1, sizeof *argv), *name = exp_copy_text(q->name);
    int status;

    memcpy(argv, words, (size_t)n * sizeof *argv);
    argv[0] = name;
    status = exp_main(q, n, argv);
    free(name);
    free(argv);
    return status;
}

int main(int argc, char **argv)
{
    const struct exp_question *q = argc ? find(exp_last_part(argv[0])) : NULL;

    if (q)
        return ask(q, argc, argv);
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        list(stdout);
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--columns")) {
        document(stdout);
        return EXIT_SUCCESS;
    }
    q = find(argv[1]);
    return q ? ask(q, argc - 1, argv + 1) : refuse(argv[1]);
}
