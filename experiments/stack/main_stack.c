/*
 * What compiled code does on its stack: layers run observed, all accesses outside the tensors counted, and costs of
 * units of work fitted to them. Writes a table of recorded stacks (exp_stack.h). `stack --help` lists the options;
 * `make stack` passes them on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/stack/exp_stack_observe.h"

enum { THREADS = 2 };

struct options {
    const char *shapes, *machine, *observer, *guest, *out, *commit;
};

struct session {
    struct options o;
    bool asks_guest; /* print the CPU family of the program that is to be observed, and stop */
    struct exp_stack_study study;
    struct exp_why why;
};

static const struct {
    const char *name;
    size_t offset;
    const char *usual, *text;
} known[] = {
    { "SHAPES", offsetof(struct options, shapes), "experiments/stack/shapes.csv", "table of the layers that are run" },
    { "MACHINE", offsetof(struct options, machine), "zen3", "whose caches the plans are for, and whose kernels run" },
    { "OUT", offsetof(struct options, out), "", "the table that is written; if empty, that of this build's code" },
    { "GUEST", offsetof(struct options, guest), "", "the program that is observed; of another commit, too" },
    { "OBSERVER", offsetof(struct options, observer), "", "the emulator's plugin (the Makefile knows)" },
    { "COMMIT", offsetof(struct options, commit), "unknown", "of the program that is observed" },
};

enum { N_KNOWN = sizeof known / sizeof known[0] };

static const char **option(struct options *o, size_t i)
{
    return (const char **)(void *)((char *)o + known[i].offset);
}

static void print_help(void)
{
    puts("stack [NAME=VALUE...]: observes what compiled code does on its stack");
    for (size_t i = 0; i < N_KNOWN; i++)
        printf("  %-13s %s (%s)\n", known[i].name, known[i].text, known[i].usual);
}

static int read_option(struct session *s, const char *word)
{
    size_t length = strcspn(word, "=");

    if (!strcmp(word, "--guest")) {
        s->asks_guest = true;
        return 0;
    }
    for (size_t i = 0; i < N_KNOWN; i++) {
        if (word[length] && strlen(known[i].name) == length && !strncmp(known[i].name, word, length)) {
            if (word[length + 1])
                *option(&s->o, i) = word + length + 1;
            return 0;
        }
    }
    return exp_fail(&s->why, -EINVAL, "'%s' is no option; --help lists them", word);
}

/* ---- the table ---- */

static void print_errors(const struct exp_stack_result *r, FILE *out, const char *before)
{
    fprintf(out, "%s%-15s %-18s %2zu layers; of all loads the stack is %2.0f to %2.0f %%, off by %.1f %% at most; ",
            before, r->record.algo, r->record.ukr, r->n, 100 * r->load_share[0], 100 * r->load_share[1],
            100 * r->load_error);
    fprintf(out, "of stores %2.0f to %2.0f %%, off by %.1f %%; all layers: %.1f %% beside the tensors' accesses\n",
            100 * r->store_share[0], 100 * r->store_share[1], 100 * r->store_error, 100 * r->beside / r->tensors);
}

static int print_table(void *session, FILE *out)
{
    const struct session *s = session;
    const struct exp_stack_study *study = &s->study;

    fprintf(out, "# What compiled code does on its stack (kernels/backend/stack.h), observed by make stack.\n");
    fprintf(out, "# commit: %s; compiler: %s\n", s->o.commit, __VERSION__);
    fprintf(out, "# observed: %zu layers of %s, %s, planned for %s\n", study->model.n_layers, s->o.shapes,
            study->emulator->source, study->machine.name);
    for (size_t i = 0; i < study->n_results; i++)
        print_errors(&study->result[i], out, "# ");
    exp_stack_print_header(out);
    for (size_t i = 0; i < study->n_results; i++)
        exp_stack_print(&study->result[i].record, out);
    return 0;
}

static int write_table(struct session *s)
{
    char *path = *s->o.out ? exp_format("%s", s->o.out) : exp_stacks_path(s->study.setup.ukr->isa);
    int err = path ? exp_file_write(path, print_table, s, &s->why) : exp_fail(&s->why, -ENOMEM, "out of memory");

    if (!err)
        printf("table: %s\n", path);
    free(path);
    return err;
}

static int run(struct session *s)
{
    struct exp_stack_study *study = &s->study;
    int err = exp_machine_find(&study->machine, s->o.machine, "results", &s->why);

    if (!err && s->asks_guest) {
        puts(exp_stack_emulator(&study->machine, s->o.guest)->arch);
        return 0;
    }
    if (!err && (!*s->o.guest || !*s->o.observer))
        err = exp_fail(&s->why, -EINVAL, "GUEST and OBSERVER are wanted; make stack knows them");
    if (!err)
        err = exp_model_read(&study->model, s->o.shapes, &s->why);
    study->observer = s->o.observer;
    study->guest = s->o.guest;
    if (!err)
        err = exp_stack_study(study, THREADS, &s->why);
    for (size_t i = 0; i < study->n_results && !err; i++)
        print_errors(&study->result[i], stdout, "");
    return err ? err : write_table(s);
}

int main(int argc, char **argv)
{
    static struct session s;
    int err = exp_signal_install("stack");

    for (size_t i = 0; i < N_KNOWN; i++)
        *option(&s.o, i) = known[i].usual;
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        print_help();
        return EXIT_SUCCESS;
    }
    for (int i = 1; !err && i < argc; i++)
        err = read_option(&s, argv[i]);
    if (!err)
        err = run(&s);
    exp_stack_study_release(&s.study);
    return exp_program_end("stack", err, &s.why);
}
