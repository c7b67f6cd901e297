#include "experiments/run/files.h"

#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/case/published.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/choices/choice.h"
#include "experiments/run/run.h"
#include "experiments/show/layers.h"
#include "experiments/show/ways_out.h"
#include "kernels/ukr/dispatch.h"
#include "sim/cpu.h"

static struct exp_counts_source counts_of(const struct exp_run_session *s)
{
    struct exp_why ignored;
    const bool is_timed_here = s->results.is_timed && !exp_machine_why_not_here(&s->setup.machine, &ignored);

    return (struct exp_counts_source){ &s->experiment, (enum exp_cache_state)s->options.cache, s->options.commit,
                                       is_timed_here ? exp_ran_at_ghz(&s->setup) : 0 };
}

static int print_host(const void *session, FILE *out)
{
    const struct exp_run_session *s = session;
    const struct exp_counts_source counts = counts_of(s);
    struct ctr_timer timer;
    char rounds[640];
    int err = ctr_hostinfo_print(out);

    if (s->results.is_timed && s->info.core >= 0)
        fprintf(out, "timed on core: %d (pinned)\n", s->info.core);
    else if (s->results.is_timed)
        fprintf(out, "timed on core: not pinned (%s)\n", s->info.why_not_pinned);
    exp_measure_say_rounds(&s->info, rounds, sizeof rounds);
    if (s->results.is_timed)
        fprintf(out, "timed in %s\n", rounds);
    if (*s->info.counter_note)
        fprintf(out, "counters: %s\n", s->info.counter_note);
    if (*s->info.emptied)
        fprintf(out, "caches before each timed run: %s\n", s->info.emptied);
    if (!ctr_timer_measure(&timer))
        fprintf(out, "clock reading: %.0f ns\n", timer.typical_overhead_ns);
    fprintf(out, "vector instructions: %s%s\n", sim_cpu_isa_name(conv_ukr_best()->isa),
            sim_cpu_is_limited() ? " (limited by " CPU_LIMIT_VARIABLE ")" : "");
    fprintf(out, "OpenBLAS: %s\n", s->setup.blas.handle ? s->setup.blas.config : s->setup.why_no_blas);
    fprintf(out, "OpenBLAS core: %s\n", s->setup.blas.handle ? s->setup.blas.core : "missing");
    fprintf(out, "SConv micro-kernel: %s\n", s->setup.ukr->name);
    exp_counts_print_host(&counts, out);
    return err;
}

/* ---- figures ---- */

static void say_levels(const struct sim_machine *m, char *text, size_t bytes)
{
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        exp_say_more(text, bytes, "%s%s", l ? " " : "", exp_level_name(m, l));
}

static void say_figures(const struct exp_run_session *s, struct exp_figures *f)
{
    const struct exp_setup *u = &s->setup;
    char cpu[256], planned[200];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(f->machine, sizeof f->machine, "%s: %s", u->machine.name, u->machine.description);
    exp_say(f->simulator, sizeof f->simulator, "trace-driven, %s caches; SConv %s, base OpenBLAS %s",
            exp_cache_state_name((enum exp_cache_state)s->options.cache), u->ukr->name,
            u->core ? u->core->name : "unknown core");
    exp_say_planned_levels(&u->machine, planned, sizeof planned);
    if (*planned)
        exp_say_more(f->simulator, sizeof f->simulator, ". %.*s", (int)strcspn(planned, "."), planned);
    exp_say(f->host, sizeof f->host, "%s%s, one thread, %s%s%s%s; OpenBLAS core %s",
            ctr_is_emulated() ? "an emulator, whose times are its own, on " : "", cpu,
            s->results.is_timed ? "time by " : "not timed", s->results.is_timed ? exp_clock_name(s->options.clock) : "",
            *s->info.hardware.name ? ", counts by " : "", s->info.hardware.name,
            u->blas.handle ? u->blas.core : "missing");
    exp_say(f->arch, sizeof f->arch, "%s",
            exp_published_arch_of_machine(u->machine.name, s->options.cache == EXP_WARM));
    say_levels(&u->machine, f->levels, sizeof f->levels);
    exp_observe_describe(&s->observed, f->observed, sizeof f->observed);
}

int exp_run_draw(struct exp_run_session *s, const struct exp_question *question)
{
    struct exp_program_figures list = { .program = "experiment", .dir = s->results.path };
    struct exp_figures f = { .question = question, .experiments_dir = EXP_EXPERIMENTS_DIR, .dir = s->results.dir.path };

    say_figures(s, &f);
    printf("\nfigures\n");
    return exp_figures_draw(&f, exp_program_report_figure, &list, &s->why);
}

/* ---- tables ---- */

static int write_counted(struct exp_run_session *s)
{
    const struct exp_counts_source source = counts_of(s);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    return exp_counted_write(&source, cpu, &s->results.dir, stdout, &s->why);
}

int exp_run_write(struct exp_run_session *s)
{
    const struct exp_report report = exp_run_report(s);
    int err = exp_report_write(&report, &s->results.dir, &s->why);

    if (!err)
        err = exp_picks_write(&report, &s->results.dir, &s->why);
    if (!err)
        err = exp_prefetchers_write(&report, &s->results.dir, &s->why);
    if (!err)
        err = exp_trace_write(&report, &s->results.dir, &s->why);
    if (!err)
        err = exp_callgrind_write(&report, &s->results.dir, &s->why);
    if (!err)
        err = exp_observe_write(&s->observed, &report, &s->results.dir, &s->why);
    if (!err)
        err = exp_advices_write(&s->advices, &report, &s->results.dir, &s->why);
    if (!err && s->judged.n)
        err = exp_advice_judgement_write(&s->judged, &report, &s->results.dir, &s->why);
    if (!err)
        err = exp_outdir_write(&s->results.dir, "host.txt", print_host, s, &s->why);
    if (err)
        return err;
    exp_report_print(&report, stdout);
    exp_observe_print(&s->observed, &s->experiment, stdout);
    return write_counted(s);
}

void exp_run_list_tables(const struct exp_run_session *s)
{
    static const char *const files[] = {
        "verdict.txt",  "layers.csv",  "model.csv", "levels.csv",      "traffic.csv",
        "classes.csv",  "samples.csv", "picks.csv", "prefetchers.csv", "facts.csv",
        EXP_CSV_SCHEMA, "machine.cfg", "host.txt",  EXP_TRACE_FILE,    EXP_ADVICE_FILE
    };

    const struct exp_counts_source source = counts_of(s);

    printf("tables\n");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        printf("  %s/%s\n", s->results.path, files[i]);
    for (size_t i = 0; i < s->experiment.n_algos; i++) {
        if (exp_callgrind_has(&s->experiment, i))
            printf("  %s/%s%s\n", s->results.path, EXP_CALLGRIND_FILE, s->experiment.cases[i].algo->name);
    }
    for (const char *const *f = exp_counted_files(); exp_counts_exist(&s->experiment) && *f; f++)
        printf("  %s/%s\n", s->results.path, *f);
    if (exp_counts_exist(&s->experiment) || source.ran_at_ghz > 0)
        printf("  %s/%s\n", s->results.path, exp_plans_table.file.name);
    if (source.ran_at_ghz > 0)
        printf("  %s/%s\n", s->results.path, exp_times_table.file.name);
    for (const struct exp_observe_file *f = exp_observe_files(); s->observed.observation && f->table; f++)
        printf("  %s/%s\n", s->results.path, f->table->file.name);
}
