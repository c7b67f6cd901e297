/*
 * Every question, by name: `bench judge MODEL=vgg16`. `bench` alone lists the questions, and `bench --columns` explains
 * the files of all questions. A link to this program with a question's name asks this question.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/unsupported.h"
#include "experiments/bench/course/course.h"

#define PAPERS "bench-papers"

static const struct exp_question *find(const char *name)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!strcmp((*q)->name, name) || !strcmp(exp_question_program(*q), name))
            return *q;
    }
    return NULL;
}

static const struct exp_question *find_target(const char *target)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!strcmp(exp_question_target(*q), target))
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

/* Prints the meaning of the columns of all questions' files, the end of results/columns.md. */
static void document(FILE *out)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!exp_question_has_tables(*q))
            continue;
        fprintf(out, "\n## make %s\n", exp_question_target(*q));
        exp_question_document(*q, out);
    }
}

/*
 * Continues as bench-papers, beside this program, which knows the questions of the finished papers, too. Returns
 * without a program bench-papers, or in bench-papers.
 */
static void hand_over(char **argv)
{
    char folder[PATH_MAX], *path;
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);

    if (length < 0 || !*exp_elsewhere)
        return;
    folder[length] = '\0';
    path = exp_format("%.*s%s", (int)(exp_last_part(folder) - folder), folder, PAPERS);
    execv(path, argv);
    free(path);
}

static void tell_all(const char *fact, const char *of, const char *const *texts, FILE *out)
{
    for (; *texts; texts++)
        fprintf(out, "%s\t%s\t%s\n", fact, of, *texts);
}

static void tell_duty(const char *name, const char *duty, const char *what, FILE *out)
{
    if (what)
        fprintf(out, "does\t%s\t%s:%s\n", name, duty, what);
}

/* Prints the wish, the command and the folder to read: parts of a text with '|' between. */
static void tell_wants(const struct exp_question *q, FILE *out)
{
    for (const char *const *want = q->wants; *want; want++) {
        const char *rest = *want;

        fprintf(out, "wants\t%s", q->name);
        for (int part = 0; part < 3; part++) {
            const size_t length = strcspn(rest, "|");

            fprintf(out, "\t%.*s", (int)length, rest);
            rest += length + (rest[length] == '|');
        }
        fprintf(out, "\n");
    }
}

/* Prints a record: facts explained in .ci/facts. */
static void tell(const struct exp_question *q, FILE *out)
{
    const char *target = exp_question_target(q);
    const struct exp_options_of of = { exp_question_program(q), q->options, q->needs, exp_question_has_tables(q) };

    fprintf(out, "question\t%s\t%s\n", target, q->name);
    fprintf(out, "target\t%s\t%s\t%s\n", target, q->is_for_developers ? "developer" : "user", q->asks);
    tell_all("example", target, q->examples, out);
    tell_wants(q, out);
    if (q->takes)
        fprintf(out, "detail\t%s\t%s\n", target, q->takes);
    tell_all("needs", target, q->needs, out);
    tell_duty(q->name, "program", q->program, out);
    tell_duty(q->name, "installs", q->installs, out);
    tell_duty(q->name, "watches", q->watches, out);
    if (q->reads_all)
        fprintf(out, "does\t%s\treads_all\n", q->name);
    if (q->keeps)
        fprintf(out, "does\t%s\tkeeps\n", q->name);
    tell_all("figure", q->name, q->figures, out);
    fprintf(out, "knows\t%s\t%s%s%s\n", target, q->name, q->libraries ? " " : "", q->libraries ? q->libraries : "");
    exp_options_facts(&of, q->name, out);
}

/* Prints all facts about questions and algorithms for make, help, manuals and tab completion (.ci/facts). */
static void tell_facts(FILE *out)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++)
        tell(*q, out);
    exp_algo_tell(out);
    exp_unsupported_tell(out);
}

/* Prints the errors of `make TARGET NAME=VALUE ...`, with TARGET in words[0]; nothing without an error. */
static int check(const struct exp_question *q, int n, char **words)
{
    struct exp_why why;

    if (!q || !exp_check(q, n, words, &why))
        return EXIT_SUCCESS;
    printf("make %s: %s\n", words[0], why.text);
    return EXP_EXIT_BAD_INPUT;
}

static bool is_elsewhere(const char *name)
{
    for (const char *const *other = exp_elsewhere; *other; other++) {
        if (!strcmp(*other, name))
            return true;
    }
    return false;
}

static int refuse(const char *name)
{
    struct exp_why meant = { "" };
    const char *known[64];
    size_t n = 0;

    for (const struct exp_question *const *q = exp_questions; *q && n < sizeof known / sizeof known[0]; q++)
        known[n++] = (*q)->name;
    if (is_elsewhere(name)) {
        fprintf(stderr, "bench: '%s' is a question of " PAPERS ", which is not built: make %s builds it\n", name, name);
        return EXP_EXIT_BAD_INPUT;
    }
    exp_say_meant(&meant, name, known, n);
    fprintf(stderr, "bench: there is no question '%s'%s bench lists them\n", name, meant.text);
    return EXP_EXIT_BAD_INPUT;
}

/*
 * Asks a question. The options follow words[0], which becomes the question's name: base/slurm.h starts the command line
 * again.
 */
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
    const bool checks = argc > 2 && !strcmp(argv[1], "--check");
    const struct exp_question *named = argc ? find(exp_last_part(argv[0])) : NULL;
    const struct exp_question *q = named ? named : checks ? find_target(argv[2]) : argc > 1 ? find(argv[1]) : NULL;

    if (!q || (q->reads_all && !checks))
        hand_over(argv);
    if (named)
        return ask(named, argc, argv);
    if (checks)
        return check(q, argc - 2, argv + 2);
    if (argc && is_elsewhere(exp_last_part(argv[0])))
        return refuse(exp_last_part(argv[0]));
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        list(stdout);
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--columns")) {
        document(stdout);
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--facts")) {
        tell_facts(stdout);
        return EXIT_SUCCESS;
    }
    return q ? ask(q, argc - 1, argv + 1) : refuse(argv[1]);
}
