/* Advice by the clock: the first advice of each layer is timed beside the layer's SConv, and beside constant rules. */
#include "experiments/choices/advice/advice.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/course/course.h"
#include "experiments/show/report.h"

/* The cases of a layer: before, and by each rule. */
enum { BEFORE, RULES, N_CASES = RULES + EXP_N_ADVICE_RULES };

static const char *const rule_names[EXP_N_ADVICE_RULES] = { "the first advice", "always sconv_tuned",
                                                            "always sconv_ws" };

/* ---- the table ---- */

#define ROW struct exp_advice_judged

#define WAY(rule, name, words)                                                                                         \
    { { name "_promised_percent", "%", words ": fewer simulated cycles than SConv as CSA chose", "replay" },           \
      REC_VALUE(ROW, by[rule].promised_percent) },                                                                     \
        { { name "_measured_percent", "%", words ": less time", "clock" },                                             \
          REC_VALUE(ROW, by[rule].measured_percent) },                                                                 \
        { { name "_speedup", "", words ": times as fast", "clock" },                                                   \
          REC_NAN_OR(ROW, by[rule].measured.value, by[rule].measured_percent.why) },                                   \
        { { name "_speedup_low", "", "the same ratio in random halves of the rounds: 2.5th percentile", "clock" },     \
          REC_NAN_OR(ROW, by[rule].measured.low, by[rule].why_no_interval) },                                          \
    {                                                                                                                  \
        { name "_speedup_high", "", "likewise: 97.5th percentile", "clock" },                                          \
            REC_NAN_OR(ROW, by[rule].measured.high, by[rule].why_no_interval)                                          \
    }

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { { "algo", "", "SConv as CSA chose, with which all is compared", "" }, REC_AT(ROW, algo) },
    { { "knob", "", "the first advice", "" }, REC_OR(ROW, knob, why_no_knob) },
    { { "before_ns", "ns", "time of SConv as CSA chose: mean of the fastest quarter of the rounds", "clock" },
      REC_VALUE(ROW, before_ns) },
    WAY(EXP_BY_ADVICE, "advice", "the first advice"),
    WAY(EXP_BY_TUNED, "tuned", "sconv_tuned"),
    WAY(EXP_BY_WS, "ws", "sconv_ws"),
};

const struct rec_table exp_advice_judged_table = REC_TABLE("advice_judged.csv", fields, ROW);

/* ---- cases ---- */

static struct exp_case case_of(const struct exp_case *of, const struct exp_algo *algo, const struct conv_plan *plan,
                               const char *refused, size_t index)
{
    struct exp_case c = { .layer = of->layer, .algo = algo, .same_as = index, .why_refused = refused };

    c.plan = *plan;
    c.measured.why = refused ? refused : "not timed yet";
    for (int i = 0; i < EXP_N_COUNTS; i++)
        c.measured.count[i] = value_none("not counted");
    c.simulated.why = "not replayed";
    c.observed.why = "not observed";
    return c;
}

static const struct exp_advice_list *list_of(const struct exp_advices *a, const struct exp_case *of)
{
    for (size_t i = 0; i < a->n; i++) {
        if (a->list[i].of == of)
            return &a->list[i];
    }
    return NULL;
}

/* Returns the simulated case of an algorithm in the subject's layer, of the experiment or of the tries; NULL: none. */
static const struct exp_case *simulated_of(const struct exp_advices *a, const struct exp_report *r,
                                           const struct exp_case *of, const char *algo)
{
    for (size_t i = 0; i < a->tries.n_cases; i++) {
        if (a->a_try[i].of == of && !strcmp(a->tries.cases[i].algo->name, algo))
            return &a->tries.cases[i];
    }
    return exp_case_of(r->e, of, algo);
}

static void plan_rule(struct exp_case *to, const struct exp_report *r, const struct exp_case *of, const char *algo,
                      size_t index)
{
    const struct exp_algo *x = exp_algo_find(algo);
    struct conv_plan plan = of->plan;
    const char *refused =
        x->plan(r->e->setup, &of->layer->problem, of->tiling, x, &plan) ? "the rule has no plan" : NULL;

    *to = case_of(of, x, &plan, of->algo == x ? "the layer has this algorithm" : refused, index);
}

/* Plans all cases of the distinct layers. of[] receives the subjects. Returns their number. */
static size_t plan_all(struct exp_experiment *e, const struct exp_case **of, const struct exp_advices *a,
                       const struct exp_report *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];
        const struct exp_advice_list *l = c->is_chosen && c->same_as == i ? list_of(a, c) : NULL;
        const struct exp_case *instead = l && l->n ? l->advice[0].instead : c;
        struct exp_case *to = &e->cases[n * N_CASES];

        if (!l)
            continue;
        to[BEFORE] = case_of(c, c->algo, &c->plan, NULL, n * N_CASES);
        to[RULES + EXP_BY_ADVICE] =
            case_of(c, instead->algo, &instead->plan, l->n ? NULL : l->why_none, n * N_CASES + RULES + EXP_BY_ADVICE);
        plan_rule(&to[RULES + EXP_BY_TUNED], r, c, "sconv_tuned", n * N_CASES + RULES + EXP_BY_TUNED);
        plan_rule(&to[RULES + EXP_BY_WS], r, c, "sconv_ws", n * N_CASES + RULES + EXP_BY_WS);
        of[n++] = c;
    }
    return n;
}

/* ---- rows ---- */

static struct value percent_of(double ratio, const char *why)
{
    return value_or(100 * (1 - 1 / ratio), why);
}

static struct value promise_of(const struct exp_report *r, const struct exp_case *of, const struct exp_case *instead)
{
    const struct exp_cycles was = exp_cycles(r->e->setup, of);
    const struct exp_cycles becomes =
        instead ? exp_cycles(r->e->setup, instead) : (struct exp_cycles){ .why = "not simulated" };

    return percent_of(was.sum / becomes.sum, was.why ? was.why : becomes.why);
}

static struct exp_advice_way way_of(const struct exp_case *before, const struct exp_case *after, struct value promised)
{
    const struct exp_pair pair = exp_cases_pair(before, after);
    const char *why = before->measured.why ? before->measured.why : after->measured.why;
    struct exp_advice_way x = { .promised_percent = promised, .measured = exp_ratio_none() };

    if (!why)
        x.measured = exp_ratio_of(&pair, 1);
    x.measured_percent = percent_of(x.measured.value, why);
    x.why_no_interval = why ? why : EXP_RATIO_NO_INTERVAL;
    return x;
}

static void add_row(struct exp_advice_judgement *j, const struct exp_advices *a, const struct exp_report *r,
                    const struct exp_case *of, const struct exp_case *timed)
{
    const struct exp_advice_list *l = list_of(a, of);
    const struct exp_advice *first = l->n ? &l->advice[0] : NULL;
    const struct value promised[EXP_N_ADVICE_RULES] = {
        [EXP_BY_ADVICE] = first ? first->gain_percent : value_none("no advice"),
        [EXP_BY_TUNED] = promise_of(r, of, simulated_of(a, r, of, "sconv_tuned")),
        [EXP_BY_WS] = promise_of(r, of, simulated_of(a, r, of, "sconv_ws")),
    };
    ROW *row;

    if (timed[BEFORE].measured.why)
        return;
    row = exp_append(&j->row, &j->n, sizeof *row);
    *row = (ROW){ .model = exp_copy_text(r->e->model->name),
                  .layer = exp_copy_text(of->layer->name),
                  .algo = exp_copy_text(of->algo->name),
                  .knob = first ? exp_copy_text(first->knob) : NULL,
                  .why_no_knob = l->why_none,
                  .layer_index = of->layer->index,
                  .before_ns = value_of(exp_case_times(&timed[BEFORE]).low_mean) };
    for (size_t k = 0; k < EXP_N_ADVICE_RULES; k++)
        row->by[k] = way_of(&timed[BEFORE], &timed[RULES + k], promised[k]);
}

/* ---- timing ---- */

static int time_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_measure_info info = { 0 };
    struct exp_measure_options all = *o;
    struct exp_progress *progress;
    int err;

    for (size_t l = 0; l < e->model->n_layers; l++) {
        seconds[EXP_WORK_VERIFY] += exp_verify_seconds(&e->cases[l * N_CASES], N_CASES, o->n_threads);
        seconds[EXP_WORK_ROUNDS] += exp_measure_seconds(&e->cases[l * N_CASES], N_CASES, o->rounds.most);
    }
    all.plugins_only = false;
    all.passed = NULL;
    progress = exp_main_progress(seconds);
    if (o->rounds.limit_ns)
        exp_progress_limit(progress, EXP_WORK_ROUNDS, (double)o->rounds.limit_ns * 1e-9,
                           seconds[EXP_WORK_ROUNDS] * exp_rounds_least_share(&o->rounds));
    err = exp_verify_all(e, &all, progress, why);
    if (!err)
        err = exp_measure_all(e, &all, &info, progress, why);
    exp_progress_free(progress);
    if (!err && *info.why_disturbed)
        return exp_fail(why, -EAGAIN, "the advice was not timed: %s (RULER=0 takes times as they come)",
                        info.why_disturbed);
    return err;
}

int exp_advices_judge(struct exp_advice_judgement *j, const struct exp_advices *a, const struct exp_report *r,
                      const struct exp_measure_options *o, struct exp_why *why)
{
    struct exp_model model = { .name = r->e->model->name, .path = r->e->model->path };
    struct exp_experiment e = { .setup = r->e->setup, .model = &model, .n_algos = N_CASES };
    const struct exp_case **of = exp_new(r->e->n_cases, sizeof *of);
    int err = 0;

    e.cases = exp_new(r->e->n_cases * N_CASES, sizeof *e.cases);
    model.n_layers = plan_all(&e, of, a, r);
    e.n_cases = model.n_layers * N_CASES;
    model.layer = exp_new(model.n_layers + 1, sizeof *model.layer);
    for (size_t l = 0; l < model.n_layers; l++)
        model.layer[l] = *of[l]->layer;
    if (model.n_layers)
        err = time_all(&e, o, why);
    for (size_t l = 0; l < model.n_layers && !err; l++)
        add_row(j, a, r, of[l], &e.cases[l * N_CASES]);
    exp_experiment_release(&e);
    free(model.layer);
    free(of);
    return err;
}

/* ---- judgements ---- */

void exp_advice_judgement_add(struct exp_advice_judgement *to, const struct exp_advice_judgement *from)
{
    for (size_t i = 0; i < from->n; i++) {
        ROW *row = exp_append(&to->row, &to->n, sizeof *row);

        *row = from->row[i];
        row->model = exp_copy_text(row->model);
        row->layer = exp_copy_text(row->layer);
        row->algo = exp_copy_text(row->algo);
        row->knob = row->knob ? exp_copy_text(row->knob) : NULL;
        row->why_no_knob = row->knob ? NULL : "no advice"; /* reasons may end with their experiment */
        for (size_t k = 0; k < EXP_N_ADVICE_RULES; k++) {
            struct exp_advice_way *x = &row->by[k];

            x->promised_percent.why = x->promised_percent.why ? "not known" : NULL;
            x->measured_percent.why = x->measured_percent.why ? "not timed" : NULL;
            x->why_no_interval = "not timed";
        }
    }
}

void exp_advice_judgement_release(struct exp_advice_judgement *j)
{
    for (size_t i = 0; i < j->n; i++) {
        free((char *)(uintptr_t)j->row[i].model);
        free((char *)(uintptr_t)j->row[i].layer);
        free((char *)(uintptr_t)j->row[i].algo);
        free((char *)(uintptr_t)j->row[i].knob);
    }
    free(j->row);
    *j = (struct exp_advice_judgement){ 0 };
}

int exp_advice_judgement_write(const struct exp_advice_judgement *j, const struct exp_report *r,
                               const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv = exp_report_open(r, dir, &exp_advice_judged_table.file, "one distinct layer");

    for (size_t i = 0; i < j->n; i++)
        rec_put(csv, &exp_advice_judged_table, &j->row[i]);
    return exp_csv_close(csv, why);
}

struct exp_advice_score exp_advice_score(const struct exp_advice_judgement *j, enum exp_advice_rule rule)
{
    struct exp_advice_score s = { 0 };
    double *kept = exp_new(j->n + 1, sizeof *kept), before = 0, after = 0;

    for (size_t i = 0; i < j->n; i++) {
        const ROW *row = &j->row[i];
        const struct exp_advice_way *x = &row->by[rule];
        const bool changes = !x->measured_percent.why;

        before += row->before_ns.number;
        after += row->before_ns.number / (changes ? x->measured.value : 1);
        s.n += changes;
        s.n_never_slower += changes && exp_ratio_side(&x->measured) >= 0;
        kept[i] = changes && !x->promised_percent.why && x->promised_percent.number > 0
                      ? x->measured_percent.number / x->promised_percent.number
                      : (double)NAN;
    }
    s.total = before / after;
    s.kept = exp_spread_of(kept, j->n).median;
    free(kept);
    return s;
}

void exp_advice_judgement_print(const struct exp_advice_judgement *j, const char *how, FILE *out)
{
    if (!j->n)
        return;
    fprintf(out, "\nAdvice in place of SConv as CSA chose, %s: %zu layers\n", how, j->n);
    fprintf(out, "%-20s %8s %14s %22s %12s\n", "what is taken", "changes", "never slower", "measured/promised gain",
            "all layers");
    for (size_t k = 0; k < EXP_N_ADVICE_RULES; k++) {
        const struct exp_advice_score s = exp_advice_score(j, (enum exp_advice_rule)k);
        char kept[32] = "-";

        if (isfinite(s.kept))
            exp_say(kept, sizeof kept, "%.2f", s.kept);
        fprintf(out, "%-20s %8zu %7zu (%3.0f %%) %22s %11.2fx\n", rule_names[k], s.n, s.n_never_slower,
                s.n ? 100.0 * (double)s.n_never_slower / (double)s.n : 100.0, kept, s.total);
    }
    fprintf(out,
            "never slower: the speed-up, or its 95 %% interval, is not wholly below 1; gains: median of the layers "
            "that were promised any; targets: 95 %% and 0.80\n");
}
