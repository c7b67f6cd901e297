/*
 * The Vyasa paper's convolutions on the AI Engine's simulated core: compiled, tuned, run, checked, compared. `vyasa
 * --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/show/page.h"
#include "experiments/papers/vyasa/vyasa.h"

struct options {
    const char *workload, *params, *results, *commit;
    unsigned code, no_vary, more;
};

struct session {
    struct options options;
    struct vyasa_work work;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* Reads PARAMS: "recurrence=2,load_latency=7". */
static int read_params(struct session *s)
{
    char *copy = exp_copy_text(s->options.params), *rest = copy;
    int err = 0;

    for (char *name = strtok_r(copy, ",", &rest); name && !err; name = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(name, '='), *end = NULL;
        const unsigned long x = value ? strtoul(value + 1, &end, 10) : 0;
        size_t i = 0;

        if (value)
            *value = '\0';
        while (i < AIE_N_PARAMETERS && strcmp(aie_parameters[i].name, name) != 0)
            i++;
        if (i == AIE_N_PARAMETERS)
            err = exp_fail(&s->why, -EINVAL, "PARAMS: the core has no parameter '%s'", name);
        else if (!value || end == value + 1 || *end || x < aie_parameters[i].least || x > aie_parameters[i].most)
            err = exp_fail(&s->why, -EINVAL, "PARAMS: %s must be a number from %u to %u", name, aie_parameters[i].least,
                           aie_parameters[i].most);
        else
            *(unsigned *)(void *)((char *)&s->work.params + aie_parameters[i].offset) = (unsigned)x;
    }
    free(copy);
    return err;
}

static int prepare(void *session)
{
    struct session *s = session;
    int err;

    s->work.params = aie_default_params;
    err = read_params(s);
    if (!err && s->work.params.recurrence > s->work.params.mac_latency)
        err = exp_fail(&s->why, -EINVAL, "PARAMS: recurrence must be at most mac_latency");
    err = err ? err : vyasa_read(&s->work, EXP_EXPERIMENTS_DIR, s->options.workload, &s->why);
    exp_say(s->what, sizeof s->what, "The AI Engine's core, simulated: all cycles are the model's; commit %s",
            *s->options.commit ? s->options.commit : "unknown");
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    int err = vyasa_fit(&s->work, EXP_EXPERIMENTS_DIR, &s->why);

    for (size_t i = 0; i < s->work.n && !err; i++)
        err = vyasa_run(&s->work, i, &s->why);
    err = err ? err : vyasa_read_otherwise(&s->work, EXP_EXPERIMENTS_DIR, &s->why);
    err = err ? err : vyasa_order(&s->work, &s->why);
    if (!err && !s->options.no_vary)
        err = vyasa_vary(&s->work, &s->why);
    return err ? err : vyasa_compare(&s->work, EXP_EXPERIMENTS_DIR, &s->why);
}

/* ---- the results ---- */

static int print_c(const void *code, FILE *out)
{
    vyasa_print_c(code, out);
    return 0;
}

static int print_bundles(const void *code, FILE *out)
{
    aie_print_program(&((const struct vyasa_code *)code)->program, out);
    return 0;
}

/* Writes a workload's program as C and as bundles. */
static int write_code(struct session *s, size_t i)
{
    struct vyasa_code code;
    char *c = exp_format("%s-%u.c", s->work.workload[i].name, s->work.row[i].bits);
    char *bundles = exp_format("%s-%u.txt", s->work.workload[i].name, s->work.row[i].bits);
    int err = vyasa_compile(&code, &s->work.workload[i].problem, &s->work.found[i].schedule, &s->work.params, &s->why);

    err = err ? err : exp_outdir_write(&s->results.dir, c, print_c, &code, &s->why);
    err = err ? err : exp_outdir_write(&s->results.dir, bundles, print_bundles, &code, &s->why);
    vyasa_code_release(&code);
    free(c);
    free(bundles);
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct vyasa_work *w = &s->work;
    const struct exp_outdir *dir = &s->results.dir;
    int err = rec_write(&vyasa_rows_table, w->row, w->n, dir, s->what, &s->why);

    err = err ? err : rec_write(&vyasa_numbers_table, w->claims.claim, w->claims.n, dir, s->what, &s->why);
    err = err ? err : rec_write(&vyasa_readings_table, w->reading, w->n_readings, dir, s->what, &s->why);
    err = err ? err : rec_write(&vyasa_exact_table, w->exact, w->n_exact, dir, s->what, &s->why);
    if (!err && w->n_sensitivity)
        err = rec_write(&vyasa_sensitivity_table, w->sensitivity, w->n_sensitivity, dir, s->what, &s->why);
    err = err ? err : exp_outdir_write(dir, "schedules.md", vyasa_page_print, w, &s->why);
    for (size_t i = 0; i < w->n && s->options.code && !err; i++)
        err = write_code(s, i);
    return err;
}

static int print_verdict(const void *session, FILE *out)
{
    return vyasa_verdict_print(&((const struct session *)session)->work, out);
}

static int answer(void *session)
{
    struct session *s = session;
    const struct vyasa_work *w = &s->work;

    printf(
        "%zu workloads: compiled and tuned in %.1f s (the slowest in %.1f s), checked at %.0f million simulated cycles "
        "a second\nschedules: %s/schedules.md\n\n",
        w->n, w->tune_seconds, w->slowest_seconds, (double)w->simulated_cycles / w->simulated_seconds / 1e6,
        s->results.path);
    return vyasa_verdict_print(w, stdout);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    vyasa_screen(&s->work, screen);
    exp_screen_open(screen, "%s/report.html", s->results.path);
    if (!s->options.code)
        exp_screen_next(screen, "make vyasa WORKLOAD='cv-3x3' CODE=1", "programs, bundle by bundle");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    vyasa_work_release(&((struct session *)session)->work);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_TEXT("WORKLOAD", "workloads whose names match this pattern, such as 'cv-3x3' or 'C3D*' (default: all 42)",
             workload, ""),
    EXP_TEXT("PARAMS",
             "parameters of the core, comma-separated: PARAMS=recurrence=2,load_latency=7; schedules.md lists them",
             params, ""),
    EXP_WORD(
        "CODE",
        "1: also write each program as C with intrinsics (experiments/papers/vyasa/intrinsics.h) and as bundles; 0 "
        "(default): not",
        code, 0, "0", "1"),
    EXP_WORD("VARY", "1 (default): what each uncertain parameter is worth; 0: not", no_vary, 0, "1", "0"),
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS", "folder for results (default results); this goes to RESULTS/host/vyasa/", results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_vyasa = {
    .name = "vyasa",
    .asks = "The Vyasa paper's convolutions on a simulated AI Engine",
    .wants = { "papers: see convolutions on an AI Engine, cycle by cycle|make vyasa" },
    .takes =
        "A minute. Cycles are those of a model, which is fitted to one of the paper's tables and predicts the others.",
    .examples = { "make vyasa WORKLOAD='cv-3x3' CODE=1" },
    .figures = { "vyasa_macs", "vyasa_roofline", "vyasa_sensitivity" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/vyasa", false, "vyasa.csv", NULL },
    .chapter = { "vyasa.csv", "convolutions on an AI Engine", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .tables = { &vyasa_rows_table, &vyasa_numbers_table, &vyasa_sensitivity_table, &vyasa_exact_table,
                &vyasa_readings_table },
    .about_tables = "All cycles are those of a model of the core (sim/aie/aie.h), which no measurement has judged.",
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .add_page = exp_page_add,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
