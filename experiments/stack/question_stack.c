/*
 * Finds what compiled code does on its stack: layers run observed, all accesses outside the tensors counted, and costs
 * of units of work fitted to them. Writes a table of recorded stacks (exp_stack.h). `stack --help` lists the options;
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
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/stack/exp_stack_observe.h"

enum { THREADS = 2 };

struct options {
    const char *shapes, *machine, *observer, *guest, *out, *commit;
    bool asks_guest;
};

struct session {
    struct options options;
    struct exp_stack_study study;
    struct exp_why why;
};

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
    fprintf(out, "# commit: %s; compiler: %s\n", *s->options.commit ? s->options.commit : "unknown", __VERSION__);
    fprintf(out, "# observed: %zu layers of %s, %s, planned for %s\n", study->model.n_layers, s->options.shapes,
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
    char *path = *s->options.out ? exp_format("%s", s->options.out) : exp_stacks_path(s->study.setup.ukr->isa);
    int err = path ? exp_file_write(path, print_table, s, &s->why) : exp_fail(&s->why, -ENOMEM, "out of memory");

    if (!err)
        printf("table: %s\n", path);
    free(path);
    return err;
}

static int run(void *session)
{
    struct session *s = session;
    struct exp_stack_study *study = &s->study;
    int err = exp_machine_find(&study->machine, s->options.machine, "results", &s->why);

    if (!err && s->options.asks_guest) {
        puts(exp_stack_emulator(&study->machine, s->options.guest)->arch);
        return 0;
    }
    if (!err && (!*s->options.guest || !*s->options.observer))
        err = exp_fail(&s->why, -EINVAL,
                       "GUEST and OBSERVER are wanted; make stack builds them, in the project's folder");
    if (!err)
        err = exp_model_read(&study->model, s->options.shapes, &s->why);
    study->observer = s->options.observer;
    study->guest = s->options.guest;
    if (!err)
        err = exp_stack_study(study, THREADS, &s->why);
    for (size_t i = 0; i < study->n_results && !err; i++)
        print_errors(&study->result[i], stdout, "");
    return err ? err : write_table(s);
}

static void release(void *session)
{
    exp_stack_study_release(&((struct session *)session)->study);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MACHINE", "whose kernels are observed, and planned for (default zen3; spr: AVX-512; power10)", machine,
              "zen3"),
    EXP_PATH("SHAPES", "table of the layers that are run (default experiments/stack/shapes.csv)", shapes,
             "experiments/stack/shapes.csv"),
    EXP_PATH("GUEST", "the program that is observed, of another commit (default: today's)", guest, ""),
    EXP_PATH("OUT", "the table that is written (default experiments/stack/<CPU family>-<compiler>.csv)", out, ""),
    EXP_MADE_PATH("OBSERVER", "path of the emulator's plugin (the Makefile knows)", observer),
    EXP_COMMIT_OPTION,
    EXP_QUERY("--guest", "print the CPU family of the program that is to be observed, and stop", asks_guest),
    EXP_OPTIONS_END,
};

const struct exp_question question_stack = {
    .name = "stack",
    .is_for_developers = true,
    .asks = "Observe what compiled code does on its stack",
    .takes = "Replays of machines as they are need it. 15 seconds; 3 minutes for power10.",
    .examples = { "make stack MACHINE=spr" },
    .watches = "stack",
    .options = options,
    EXP_SESSION(struct session),
    .run = run,
    .release = release,
};
