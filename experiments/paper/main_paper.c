/*
 * The paper, regenerated: one page with its tables and figures, every number next to the printed one. `paper --help`
 * lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/page/exp_page.h"
#include "experiments/paper/exp_paper_answer.h"
#include "experiments/paper/exp_paper_page.h"
#include "experiments/paper/exp_paper_work.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_results.h"

#define PAGE "paper.md"

struct session {
    struct exp_options options;
    struct exp_models models;
    struct exp_paper_work work;
    struct exp_paper_findings findings;
    struct exp_paper_others others;
    struct sim_machine x86, p10; /* of the paper's Table 1 */
    struct exp_results results;
    char what[768];
    struct exp_why why;
};

static void describe(struct session *s)
{
    const struct exp_options *o = &s->options;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what, "Made on %s at commit %s; %s", cpu, *o->commit ? o->commit : "unknown",
            o->timing ? "timed with one thread, caches " : "nothing timed");
    if (o->timing)
        exp_say_more(s->what, sizeof s->what, "%s, by %s", exp_cache_state_name((enum exp_cache_state)o->cache),
                     exp_options_clock_name(o));
}

static int prepare(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err = exp_main_models(&s->models, o, &s->why);

    if (!err)
        err = exp_machine_find(&s->x86, "clx4208", o->results, &s->why);
    if (!err)
        err = exp_machine_find(&s->p10, "power10", o->results, &s->why);
    if (!err)
        err = exp_paper_others_read(&s->others, EXP_EXPERIMENTS_DIR, &s->why);
    exp_results_time(&s->results, o->timing ? NULL : EXP_UNTIMED);
    if (!err)
        err = exp_results_find(&s->results, EXP_PAPER, o, NULL, s->models.model, s->models.n, &s->why);
    return err ? err : exp_results_open(&s->results, &s->why);
}

static int print_host(const void *session, FILE *out)
{
    (void)session;
    return ctr_hostinfo_print(out);
}

static int write_all(struct session *s)
{
    const struct exp_paper_page page = { &s->findings, &s->others, EXP_EXPERIMENTS_DIR };
    const struct exp_outdir *dir = &s->results.dir;
    int err = exp_paper_report_write(&s->findings, dir, &s->why);

    if (!err)
        err = exp_outdir_write(dir, PAGE, exp_paper_page_print, &page, &s->why);
    if (!err)
        err = exp_outdir_write(dir, "verdict.txt", exp_paper_verdict_print, &s->findings, &s->why);
    return err ? err : exp_outdir_write(dir, "host.txt", print_host, s, &s->why);
}

/* Draws the figures from the tables of a result folder. */
static int draw(struct session *s)
{
    static const struct exp_plot_variable variable[] = { { "paper_algo", EXP_PAPER_ALGO } };
    const struct exp_main_figures figures = {
        .program = EXP_PAPER,
        .results = &s->results,
        .figure = exp_paper_figures,
        .n_figures = exp_paper_n_figures,
        .what = s->what,
        .variable = variable,
        .n_variables = sizeof variable / sizeof variable[0],
    };

    return exp_main_draw(&figures, &s->why);
}

static int finish(struct session *s)
{
    int drawn, paged, err = write_all(s);

    if (err)
        return err;
    drawn = draw(s);
    paged = exp_page_add(&s->results, exp_options_program(EXP_PAPER));
    err = exp_results_commit(&s->results, &s->why);
    if (err)
        return err;
    printf("\n");
    exp_paper_page_numbers(&s->findings, stdout);
    printf("page: %s/" PAGE "\n\n", s->results.path);
    err = exp_paper_verdict_print(&s->findings, stdout);
    if (err)
        return exp_fail(&s->why, err, "out of memory");
    return exp_program_drawn(drawn ? drawn : paged, &s->why);
}

static int make_page(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err;

    s->work.options = o;
    s->work.models = &s->models;
    describe(s);
    err = exp_paper_work(&s->work, &s->why);
    if (err)
        return err;
    printf("%zu parts made, %zu kept from earlier runs\n", s->work.n_made, s->work.n_kept);
    s->findings.models = &s->models;
    s->findings.part = s->work.part;
    s->findings.what = s->what;
    err = exp_paper_findings_of(&s->findings, EXP_EXPERIMENTS_DIR, !*o->layers, !*o->layers && !strcmp(o->model, "all"),
                                &s->x86, &s->p10, &s->why);
    return err ? err : finish(s);
}

static int run(void *session)
{
    struct session *s = session;
    int err;

    if (s->options.asks_guest)
        return exp_paper_print_guests(&s->options, stdout, &s->why);
    err = prepare(s);
    return err ? err : make_page(s);
}

static void release(void *session)
{
    struct session *s = session;

    exp_paper_findings_release(&s->findings);
    exp_paper_others_release(&s->others);
    exp_paper_work_release(&s->work);
    exp_results_release(&s->results);
    exp_models_release(&s->models);
}

int main(int argc, char **argv)
{
    static const struct exp_main course = {
        .program = EXP_PAPER, .document = exp_paper_report_document, .run = run, .release = release
    };
    static struct session s; /* several machines and setups */

    return exp_main(&course, &s, &s.options, &s.why, argc, argv);
}
