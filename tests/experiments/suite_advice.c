/* Advice: causes and gains of constructed measures, knobs and commands, known errors, advice.json, and the judgement. */
#include <CUnit/CUnit.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/course.h"
#include "experiments/choices/advice/advice.h"
#include "experiments/bench/case/decisions.h"
#include "kernels/ukr/dispatch.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const double unknown = (double)NAN;

static const struct exp_gain tenth = { "toy", "a", "b", 100, { 1.1, NULL }, 1 };

/* ---- an alternative ---- */

/* 1000 cycles in equal parts, and estimates of 1000 and 2000 cycles. */
static void fill(struct value of[N_MEASURES])
{
    for (size_t m = 0; m < N_MEASURES; m++)
        of[m] = value_none("not known");
    for (size_t i = 0; i < exp_advice_n_causes(); i++)
        of[exp_advice_cause_at(i)->measure] = value_of(125);
    of[M_simulated_cycles] = of[M_issue_cycles] = value_of(1000);
    of[M_waiting_cycles] = value_of(2000);
}

static void test_causes(void)
{
    for (size_t i = 0; i < exp_advice_n_causes(); i++) {
        const struct exp_advice_cause *cause = exp_advice_cause_at(i);
        struct exp_advice x = { .error = &tenth, .measured = exp_ratio_none() };
        struct value was[N_MEASURES], becomes[N_MEASURES];
        const char *why;

        fill(was);
        fill(becomes);
        becomes[cause->measure] = value_of(25);
        becomes[M_simulated_cycles] = value_of(800);
        becomes[M_issue_cycles] = value_of(500);
        becomes[M_waiting_cycles] = value_of(1600);
        if (cause->is_alone)
            was[M_simulated_cycles] = becomes[M_simulated_cycles] = value_none("no core");
        why = exp_advice_weigh(&x, "toy", was, becomes);
        test_check(!why && x.cause == cause, "cause %s: %s", cause->name, why ? why : x.cause->name);
        CU_ASSERT(x.was == 125 && x.becomes == 25);
        CU_ASSERT_DOUBLE_EQUAL(x.ratio, 1.25, 1e-12);
        test_check(cause->is_alone == !value_is_known(x.gain_percent), "%s: gain", cause->name);
        if (!cause->is_alone) {
            CU_ASSERT_DOUBLE_EQUAL(x.gain_percent.number, 20, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(x.saved, 200, 1e-9);
        }
    }
}

/* Returns the reason against an alternative of `cycles` cycles in place of 1000. */
static const char *weigh(double cycles, struct exp_ratio measured)
{
    struct exp_advice x = { .error = &tenth, .measured = measured };
    struct value was[N_MEASURES], becomes[N_MEASURES];

    fill(was);
    fill(becomes);
    becomes[M_simulated_cycles] = isnan(cycles) ? value_none("a reason") : value_of(cycles);
    return exp_advice_weigh(&x, "toy", was, becomes);
}

static void test_gains(void)
{
    const struct exp_ratio none = exp_ratio_none(), faster = { 1.2, 1.1, 1.3, 1.2 }, open = { 0.98, 0.9, 1.1, 1 },
                           slower = { 0.9, 0.8, 0.95, 0.9 };

    CU_ASSERT_PTR_NULL(weigh(800, none));
    CU_ASSERT_PTR_NULL(weigh(800, faster));
    CU_ASSERT_PTR_NULL(weigh(800, open));
    CU_ASSERT_PTR_NOT_NULL(weigh(800, slower));
    CU_ASSERT_PTR_NULL(weigh(1000 / 1.1 - 1, none));
    CU_ASSERT_PTR_NOT_NULL(weigh(1000 / 1.1 + 1, none)); /* the simulation's error may be as large */
    CU_ASSERT_PTR_NOT_NULL(weigh(1000, none));
    CU_ASSERT_PTR_NOT_NULL(weigh(1200, faster));
    CU_ASSERT_PTR_NOT_NULL(weigh(unknown, none));
}

/* Without a core both estimates must gain. */
static void test_estimates(void)
{
    for (int is_both = 0; is_both < 2; is_both++) {
        struct exp_advice x = { .error = &tenth, .measured = exp_ratio_none() };
        struct value was[N_MEASURES], becomes[N_MEASURES];

        fill(was);
        fill(becomes);
        was[M_simulated_cycles] = becomes[M_simulated_cycles] = value_none("no core");
        becomes[M_waiting_cycles] = value_of(1000);
        becomes[M_issue_cycles] = value_of(is_both ? 800 : 1001);
        CU_ASSERT_EQUAL(!exp_advice_weigh(&x, "toy", was, becomes), is_both);
    }
}

/* ---- known errors ---- */

static void test_errors(void)
{
    static const struct exp_gain rows[] = {
        { "m", "is", "ws", 9, { 1.1, NULL }, 1 },    { "n", "is", "ws", 9, { 1.3, NULL }, 1 },
        { "m", "is", "tuned", 9, { 1.6, NULL }, 1 }, { "n", "base", "tuned", 9, { (double)NAN, "none" }, 1 },
        { "n", "ws", "is", 9, { 0.9, NULL }, 1 },
    };
    const struct rec_rows all = { .row = (void *)(uintptr_t)rows, .n = COUNT(rows) };
    const struct {
        const char *machine, *from, *to;
        size_t row;
    } cases[] = {
        { "m", "is", "ws", 0 }, { "n", "is", "ws", 1 },   { "host", "is", "ws", 1 },
        { "m", "ws", "is", 4 }, { "m", "is", "mine", 2 }, { "m", "mine.c", "ws", 3 },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        test_check(exp_gains_find(&all, cases[i].machine, cases[i].from, cases[i].to) == &rows[cases[i].row],
                   "case %zu", i);
    CU_ASSERT_PTR_NULL(exp_gains_find(&(struct rec_rows){ 0 }, "m", "is", "ws"));
}

/* The machine's own errors correct a ratio in both directions, errors of another machine only downwards. */
static void test_expected(void)
{
    const struct exp_gain low = { "m", "a", "b", 9, { 1.1, NULL }, 0.8 },
                          high = { "m", "a", "b", 9, { 1.5, NULL }, 1.25 };

    CU_ASSERT_DOUBLE_EQUAL(exp_gain_expected(&low, "m", 1.2), 1.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_gain_expected(&low, "n", 1.2), 1.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_gain_expected(&high, "m", 1.5), 1.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_gain_expected(&high, "n", 1.5), 1.2, 1e-12);
    CU_ASSERT_EQUAL(exp_gain_bound(&high), 1.5);
    CU_ASSERT(isinf(exp_gain_bound(&(struct exp_gain){ "m", "a", "b", 9, value_none("none"), 1 })));
    CU_ASSERT_EQUAL(exp_gain_bound(&(struct exp_gain){ "m", "a", "b", 9, { 0.9, NULL }, 0.7 }), EXP_CYCLES_TIE);
}

/* 100 layers of the ratios 1.00 to 1.99: all but some gain; the simulation overstates by a quarter. */
static void test_bounds(void)
{
    const struct {
        size_t wrong_below; /* layers that lose */
        double bound;       /* 0: none */
    } cases[] = { { 0, 1 }, { 50, 1.48 }, { 90, 0 }, { 5, 1 } };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct exp_gain_pair layer[100];
        struct exp_gain g = { 0 };

        for (size_t k = 0; k < COUNT(layer); k++) {
            const double simulated = 1 + (double)(k * 37 % 100) / 100;

            layer[k] = (struct exp_gain_pair){ simulated, k * 37 % 100 < cases[i].wrong_below ? 0.5 : simulated };
        }
        exp_gain_fill(&g, layer, COUNT(layer));
        CU_ASSERT_EQUAL(g.layers, COUNT(layer));
        if (cases[i].bound > 0)
            test_check(fabs(g.bound.number - cases[i].bound) < 1e-9, "case %zu: %g", i, g.bound.number);
        else
            test_check(g.bound.why, "case %zu: %g", i, g.bound.number);
        CU_ASSERT_DOUBLE_EQUAL(g.median, cases[i].bound > 0 ? 1 : g.median, 1e-9);
    }
}

static void test_committed_errors(void)
{
    struct rec_rows rows;
    struct exp_why why = { "" };

    if (!test_check(!exp_gains_read(&rows, EXP_EXPERIMENTS_DIR, &why), "%s", why.text))
        return;
    for (size_t i = 0; i < rows.n; i++) {
        const struct exp_gain *g = (const struct exp_gain *)rows.row + i;

        test_check(exp_algo_find(g->from) && exp_algo_find(g->to), "%s, %s: no algorithms", g->from, g->to);
        test_check((g->bound.why || g->bound.number > 0) && g->median > 0 && g->layers > 19, "%s to %s on %s", g->from,
                   g->to, g->machine);
    }
    CU_ASSERT(rows.n > 0);
    rec_release(&rows);
}

/* ---- knobs and commands ---- */

static size_t draw(size_t least, size_t most)
{
    return (size_t)rng_range((int64_t)least, (int64_t)most);
}

/* Every decision of a knob is a key=value of SET=. */
static void test_knobs(void)
{
    const struct conv_ukr *ukr = conv_ukr_of(CPU_ISA_AVX512);
    size_t n_taken = 0;

    for (unsigned round = 0; round < test_rounds_all(100); round++) {
        struct conv_problem p = { .n = 1, .c = draw(1, 300), .h = draw(3, 60), .w = draw(3, 60), .k = draw(1, 300) };
        struct csa_caches caches = { 29491, 943718, 30198989, 64, 14, 50, 520, 1, 1, 72 };
        struct conv_layer_plan n = { .layer = "x", .machine = "toy", .caches = caches };
        struct csa_tiling tiling;
        char why[200];

        p.r = p.s = draw(0, 1) ? 3 : 1;
        p.stride_h = p.stride_w = draw(1, 2);
        p.dilation_h = p.dilation_w = p.groups = 1;
        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = p.r / 2;
        if (!test_check(!conv_problem_finish(&p, SIM_WHY(why)), "%s", why))
            return;
        tiling = csa_analyse(&p, &caches, ukr->n_win, ukr->n_f, draw(0, 1) ? CSA_IS : CSA_WS);
        CU_ASSERT_FATAL(!conv_plan_sconv(&n.plan, &p, ukr, &tiling, false));
        for (size_t i = 0; i < exp_advice_n_knobs(); i++) {
            struct conv_layer_plan changed = n;
            struct exp_why reason = { "" };
            char set[64] = "";

            exp_advice_knob(i, &n.plan, set, sizeof set);
            if (!*set)
                continue;
            if (exp_plan_set(&changed, set, NULL, &reason))
                test_check(!strstr(reason.text, "unknown") && !strstr(reason.text, "must be") &&
                               !strstr(reason.text, "key=value"),
                           "SET=%s: %s", set, reason.text);
            else
                n_taken++;
        }
    }
    CU_ASSERT(n_taken > 0);
}

/* Each cause has a knob. */
static void test_relief(void)
{
    for (size_t i = 0; i < exp_advice_n_causes(); i++) {
        bool any = false;

        for (size_t k = 0; k < exp_advice_n_knobs(); k++)
            any |= exp_advice_relieves(k, exp_advice_cause_at(i));
        test_check(any, "no knob relieves %s", exp_advice_cause_at(i)->name);
    }
}

static void check_text(char *text, const char *want)
{
    test_check(!strcmp(text, want), "'%s', not '%s'", text, want);
    free(text);
}

static void test_words(void)
{
    check_text(exp_advice_pattern("fire2/squeeze1x1"), "fire2/squeeze1x1");
    check_text(exp_advice_pattern("a,b*c [d]'$e\"\\"), "a?b?c??d???e??");
    check_text(exp_advice_quoted("vgg16"), "vgg16");
    check_text(exp_advice_quoted("a?b"), "'a?b'");
    check_text(exp_advice_quoted("it's $5"), "'it'\\''s $$5'");
    check_text(exp_advice_quoted(""), "''");
}

/* ---- a whole experiment ---- */

struct lab {
    struct exp_setup setup;
    struct exp_model model;
    struct exp_experiment e;
    struct exp_report report;
    FILE *log; /* of the progress */
};

/* Small layers with names full of quotes and signs. */
static const char layers[] = "name,in_c,in_h,in_w,out_c,k_h,k_w,pad_top,pad_left,pad_bottom,pad_right\n"
                             "\"a\"\"b\\c,$'x y\",32,14,14,64,3,3,1,1,1,1\n"
                             "<b>\xc3\xbc&amp;%s,64,14,14,32,1,1,0,0,0,0\n";

static bool open_lab(struct lab *l, const char *machine, enum exp_cache_state cache)
{
    struct exp_progress *progress;
    struct exp_why why = { "" };
    unsigned algos = 0;
    int err = exp_machine_find(&l->setup.machine, machine, "", &why);

    err = err ? err : exp_setup_init(&l->setup, "f32_16x24__avx512", "Haswell", &why);
    err = err ? err : exp_algo_select("base,sconv", &algos, &why);
    err = err ? err : exp_model_read(&l->model, scratch_text("odd.csv", layers), &why);
    err = err ? err : exp_experiment_plan(&l->e, &l->setup, &l->model, algos, &why);
    l->log = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->log);
    progress = exp_progress_new(l->log, false, NULL, ctr_now_ns);
    err = err ? err : exp_replay_all(&l->e, cache, 1, progress, &why);
    exp_progress_free(progress);
    l->report = (struct exp_report){ .e = &l->e, .commit = "", .cache = cache };
    return test_check(!err, "%s", why.text);
}

static void close_lab(struct lab *l)
{
    exp_experiment_release(&l->e);
    exp_model_release(&l->model);
    exp_setup_release(&l->setup);
    fclose(l->log);
}

/* Writes a folder of known errors with a single bound. */
static char *errors_of(const char *bound)
{
    char *text = exp_format("machine,from,to,layers,bound,overstated_median\nm,a,b,100,%s,1\n", bound);
    char *folder;
    const char *path = scratch_path("estimates");

    folder = exp_format("%.*s", (int)(strlen(path) - strlen("/estimates")), path);
    mkdir(path, 0777);
    scratch_text("estimates/gains.csv", text);
    free(text);
    return folder;
}

static json_t *written(const struct exp_advices *a, const struct lab *l)
{
    struct exp_outdir dir;
    struct exp_why why = { "" };
    char *file;
    json_error_t error;
    json_t *root;

    CU_ASSERT_FATAL(!exp_outdir_open(&dir, scratch_path("out"), EXP_ADVICE_FILE, &why));
    test_check(!exp_advices_write(a, &l->report, &dir, &why), "%s", why.text);
    file = exp_outdir_file(&dir, EXP_ADVICE_FILE);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("out/" EXP_ADVICE_FILE), F_OK), 0); /* not there before the whole folder */
    root = json_load_file(file, 0, &error);
    test_check(root != NULL, "line %d: %s", error.line, error.text);
    free(file);
    exp_outdir_abort(&dir);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("out"), F_OK), 0);
    return root;
}

/* Checks a piece of advice of advice.json. */
static void check_advice(json_t *x)
{
    static const char *const options[] = { "ALGO", "SET", "UKR" };
    json_t *knob = json_object_get(x, "knob");
    const char *option = json_string_value(json_object_get(knob, "option"));
    const char *value = json_string_value(json_object_get(knob, "value"));
    const json_t *gain = json_object_get(x, "simulated_gain_percent");
    char *word;
    size_t i = 0;

    CU_ASSERT_FATAL(option && value);
    while (i < COUNT(options) && strcmp(option, options[i]) != 0)
        i++;
    test_check(i < COUNT(options), "option %s", option);
    CU_ASSERT(i != 0 || exp_algo_find(value) != NULL);
    CU_ASSERT(i != 2 || conv_ukr_find(value) != NULL);
    word = exp_format("%s=%s", option, value);
    test_check(i == 0 || strstr(json_string_value(json_object_get(knob, "command")), word), "%s: not in the command",
               word);
    free(word);
    CU_ASSERT_PTR_NOT_NULL(json_string_value(json_object_get(x, "cause")));
    CU_ASSERT(json_is_real(json_object_get(json_object_get(x, "evidence"), "value")));
    CU_ASSERT(json_is_real(gain) != json_is_string(json_object_get(x, "why_no_gain")));
    CU_ASSERT(json_is_real(gain) == json_is_real(json_object_get(x, "gain_percent")));
    CU_ASSERT(!json_is_real(gain) ||
              json_real_value(gain) > json_real_value(json_object_get(json_object_get(x, "threshold"), "percent")));
}

/* Checks advice.json: each subject is there, under its name, and the advice is in the order of the gains. */
static size_t check_json(json_t *root, const struct lab *l)
{
    json_t *list = json_object_get(root, "layers");
    size_t n = 0;

    CU_ASSERT_EQUAL(json_array_size(list), l->model.n_layers);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *one = json_array_get(list, i), *advice = json_object_get(one, "advice");
        const size_t index = (size_t)json_integer_value(json_object_get(one, "layer_index"));
        double last = (double)INFINITY;

        CU_ASSERT_FATAL(index >= 1 && index <= l->model.n_layers);
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(one, "layer")), l->model.layer[index - 1].name);
        CU_ASSERT((json_array_size(advice) == 0) == json_is_string(json_object_get(one, "why_none")));
        for (size_t k = 0; k < json_array_size(advice); k++, n++) {
            const json_t *gain = json_object_get(json_array_get(advice, k), "gain_percent");

            check_advice(json_array_get(advice, k));
            CU_ASSERT(!json_is_real(gain) || json_real_value(gain) <= last);
            last = json_is_real(gain) ? json_real_value(gain) : last;
        }
    }
    return n;
}

/* Finds advice with a bound, and returns the number of pieces, as advice.json has them. */
static size_t advise(struct lab *l, const char *bound, enum exp_advice_depth depth)
{
    const struct exp_advice_asked asked = { .model = "odd.csv",
                                            .machine = "zen3",
                                            .kind = "zen3",
                                            .ukr = " UKR=f32_16x24__avx512",
                                            .more = "",
                                            .plugins = "",
                                            .depth = depth,
                                            .replay = { l->report.cache, 1, "", "", "" } };
    struct exp_advices a = { 0 };
    struct exp_why why = { "" };
    char *folder = errors_of(bound);
    json_t *root;
    size_t n = 0;

    if (test_check(!exp_advise(&a, &l->report, folder, &asked, &why), "%s", why.text)) {
        root = written(&a, l);
        if (a.why_none) {
            CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "layers")), 0);
        } else {
            n = check_json(root, l);
        }
        CU_ASSERT_EQUAL(exp_advices_first(&a) != NULL, n > 0);
        json_decref(root);
    }
    exp_advices_release(&a);
    free(folder);
    return n;
}

static void test_experiment(void)
{
    struct lab l = { 0 };

    if (open_lab(&l, "zen3", EXP_COLD)) {
        const size_t known = advise(&l, "0.01", EXP_ADVICE_KNOWN), deep = advise(&l, "0.01", EXP_ADVICE_DEEP);

        if (*l.setup.why_no_cycles)
            test_skip("%s", l.setup.why_no_cycles);
        else
            test_check(deep > known, "deep advice: %zu; among the algorithms: %zu", deep, known);
        CU_ASSERT_EQUAL(advise(&l, "1000", EXP_ADVICE_DEEP), 0);
        CU_ASSERT_EQUAL(advise(&l, "0.01", EXP_ADVICE_NONE), 0);
    }
    close_lab(&l);
}

static void test_others(void)
{
    const struct exp_advice_asked asked = { .model = "odd.csv",
                                            .machine = "zen3",
                                            .kind = "zen3",
                                            .ukr = "",
                                            .more = "",
                                            .plugins = "",
                                            .depth = EXP_ADVICE_KNOWN };
    struct exp_advices a = { 0 };
    struct exp_why why = { "" };
    struct lab l = { 0 };

    if (open_lab(&l, "clx4208", EXP_COLD)) {
        advise(&l, "0.01", EXP_ADVICE_DEEP);
        CU_ASSERT_EQUAL(advise(&l, "1000", EXP_ADVICE_KNOWN), 0);
        CU_ASSERT_EQUAL(exp_advise(&a, &l.report, "no such folder", &asked, &why), 0);
        test_check(a.why_none && strstr(a.why_none, "no such folder"), "no known errors: %s",
                   a.why_none ? a.why_none : "advice");
        exp_advices_release(&a);
    }
    close_lab(&l);
    l = (struct lab){ 0 };
    if (open_lab(&l, "clx4208", EXP_NETWORK))
        CU_ASSERT_EQUAL(advise(&l, "0.01", EXP_ADVICE_DEEP), 0);
    close_lab(&l);
}

/* ---- the judgement ---- */

static void test_judgement(void)
{
    struct exp_advice_judged rows[4] = { { .model = "m" } };
    const struct exp_advice_judgement j = { rows, COUNT(rows) };
    static const struct exp_ratio ratios[COUNT(rows)] = {
        { 1.25, 1.2, 1.3, 1.25 }, { 0.8, 0.7, 0.9, 0.8 }, { 1, 0.9, 1.1, 1 }, { 0, 0, 0, 0 }
    };
    struct exp_advice_score s;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct exp_advice_way *x = &rows[i].by[EXP_BY_ADVICE];

        rows[i].before_ns = value_of(100);
        x->measured = ratios[i];
        x->measured_percent = i == 3 ? value_none("no advice") : value_of(100 * (1 - 1 / ratios[i].value));
        x->promised_percent = i == 3 ? value_none("no advice") : value_of(40);
    }
    s = exp_advice_score(&j, EXP_BY_ADVICE);
    CU_ASSERT(s.n == 3 && s.n_never_slower == 2);
    CU_ASSERT_DOUBLE_EQUAL(s.kept, 0, 1e-9); /* 0.5, -0.625, 0 */
    CU_ASSERT_DOUBLE_EQUAL(s.total, 400.0 / (80 + 125 + 100 + 100), 1e-9);
    s = exp_advice_score(&(struct exp_advice_judgement){ 0 }, EXP_BY_ADVICE);
    CU_ASSERT(s.n == 0 && isnan(s.kept));
}

static const struct test_case cases[] = {
    { "each cause follows from its measure", test_causes },
    { "no advice where nothing gains, and where the simulation may be wrong", test_gains },
    { "without cycles both estimates must gain", test_estimates },
    { "the bound is of the machine, the pair, or the worst", test_errors },
    { "known errors correct what is expected", test_expected },
    { "of the layers above a bound, 95 % gain", test_bounds },
    { "the committed errors are of known algorithms", test_committed_errors },
    { "SET= takes what the knobs write", test_knobs },
    { "each cause has a knob", test_relief },
    { "names in commands mean nothing to a shell", test_words },
    { "advice.json is valid for odd names, and deep advice finds more", test_experiment },
    { "machines without a core, networks, no known errors", test_others },
    { "the judgement counts and takes medians", test_judgement },
    { NULL, NULL },
};

const struct test_suite suite_advice = { "advice", cases };
