/*
 * The paper, regenerated: a page with tables and figures, every number next to the published number. `paper --help`
 * lists the options; the Makefile passes them on.
 */
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/papers/paper/paper.h"
#include "experiments/show/page.h"

struct session {
    struct exp_paper_options options;
    struct exp_models models;
    struct exp_paper_work work;
    struct exp_paper_findings findings;
    struct sim_machine x86, p10; /* of the paper's Table 1 */
    struct exp_results results;
    char what[768];
    struct exp_why why;
};

static void describe(struct session *s)
{
    const struct exp_paper_options *o = &s->options;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what, "Made on %s at commit %s; %s", cpu, *o->commit ? o->commit : "unknown",
            o->timing ? "timed with one thread, caches " : "nothing timed");
    if (o->timing)
        exp_say_more(s->what, sizeof s->what, "%s, by %s", exp_cache_state_name((enum exp_cache_state)o->cache),
                     exp_clock_name(o->clock));
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_paper_options *o = &s->options;
    int err = exp_main_models(&s->models, o->model, EXP_MODEL_ASK(o), &s->why);

    if (!err)
        err = exp_machine_find(&s->x86, "clx4208", o->results, &s->why);
    if (!err)
        err = exp_machine_find(&s->p10, "power10", o->results, &s->why);
    if (!err)
        err = exp_paper_findings_read(&s->findings, EXP_EXPERIMENTS_DIR, &s->why);
    exp_results_time(&s->results, o->timing ? NULL : EXP_UNTIMED);
    return err;
}

static int print_host(const void *session, FILE *out)
{
    (void)session;
    return ctr_hostinfo_print(out);
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct exp_outdir *dir = &s->results.dir;
    int err = exp_paper_report_write(&s->findings, dir, &s->why);

    if (!err)
        err = exp_outdir_write(dir, "paper.md", exp_paper_page_print, &s->findings, &s->why);
    return err ? err : exp_outdir_write(dir, "host.txt", print_host, s, &s->why);
}

static int print_verdict(const void *session, FILE *out)
{
    return exp_paper_verdict_print(&((const struct session *)session)->findings, out);
}

static bool set_variables(const void *session, struct exp_variables *v)
{
    (void)session;
    exp_variables_set(v, "paper_algo", EXP_PAPER_ALGO);
    return true;
}

static int answer(void *session)
{
    struct session *s = session;

    printf("\n");
    exp_paper_page_numbers(&s->findings, stdout);
    printf("page: %s/paper.md\n\n", s->results.path);
    return exp_paper_verdict_print(&s->findings, stdout);
}

static int work(void *session)
{
    struct session *s = session;
    const struct exp_paper_options *o = &s->options;
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
    s->findings.x86 = &s->x86;
    s->findings.p10 = &s->p10;
    s->findings.has_whole_models = !*o->layers;
    s->findings.has_whole_set = !*o->layers && !strcmp(o->model, "all");
    exp_paper_findings_of(&s->findings);
    return 0;
}

static int print_guests(void *session)
{
    struct session *s = session;

    return exp_paper_print_guests(&s->options, stdout, &s->why);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    exp_paper_screen(&s->findings, screen);
    exp_screen_open(screen, "%s/report.html", s->results.path);
    if (!s->options.timing)
        exp_screen_next(screen, "make paper", "this computer timed, all models");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    exp_paper_findings_release(&s->findings);
    exp_paper_work_release(&s->work);
}

#define OPTIONS struct exp_paper_options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_TIMING_OPTION,
    EXP_WORD("CACHE",
             "caches at the start of each layer that is timed: network (default): emptied, then its input written, as "
             "in whole inference; cold; warm",
             cache, 2, "cold", "warm", "network"),
    EXP_NUMBER(
        "REPS",
        "timed rounds of each layer (default: 5 to 100, until all speed-ups stand; REPS=100 is what the paper did)",
        reps, 0, 1, 1000000),
    EXP_NUMBER("LIMIT", "the same for each network (default 45)", limit, 45, 1, 1000000),
    EXP_CLOCK_OPTION,
    EXP_RULER_OPTION,
    EXP_WORD(
        "OBSERVE",
        "run the POWER10 binaries under emulation, every access observed: auto (default): each shape, or as much of it "
        "as OBSERVE_LIMIT allows; sample: each shape, all of it; 0: what earlier experiments observed is looked up",
        observe, EXP_OBSERVE_AUTO, "0", "sample", "all", "auto"),
    EXP_NUMBER("OBSERVE_LIMIT", "seconds for each model after which OBSERVE=auto observes no more (default 60)",
               observe_limit, 60, 1, 1000000),
    EXP_PATH("COUNTS", "folder of recorded counts of a real computer (default results/reference/zen3/counts)", counts,
             "results/reference/zen3/counts"),
    EXP_RUN_JOBS_OPTION,
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); the page goes to RESULTS/host/paper/<models>/ (a name, names "
               "joined by +, or all; then ,<LAYERS>), its parts to RESULTS/<machine>/paper/parts/",
               results, "results"),
    EXP_GUEST_OPTIONS,
    EXP_TWIN_OPTIONS,
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_paper = {
    .name = "paper",
    .asks = "The SConv paper's tables and figures, each number beside the printed one",
    .wants = { "papers: see every table and figure of the paper beside ours|make paper" },
    .takes = "20 minutes, 3 with TIMING=0 OBSERVE=0; installs and fetches what builds POWER10's programs.",
    .examples = { "make paper TIMING=0 OBSERVE=0" },
    .libraries = "blas",
    .watches = "guest",
    .figures = { "paper_figure8", "paper_figure9", "paper_figure10", "paper_figure11" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/paper", true, "numbers.csv", NULL },
    .chapter = { "paper.md", "the paper's numbers beside ours", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .tables = { &exp_paper_numbers_table, &exp_paper_models_table, &exp_paper_speedups_table, &exp_paper_cases_table },
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .variables = set_variables,
    .add_page = exp_page_add,
    .answer = answer,
    .screen = fill_screen,
    .query = print_guests,
    .release = release,
};
