/* The comparison with peers beyond the kernels: im2col by rows, the peak loops, the phases, oneDNN. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/group/ctr_cpu.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/peers/peers.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/machine.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/peak.h"
#include "tests/experiments/recorded_screen.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

static void rows_equal_elements(void)
{
    for (unsigned round = 0; round < test_rounds(300); round++) {
        struct conv_problem p = kcheck_random_problem();
        size_t n_in = conv_group_channels(&p) * p.h * p.w, n_col = conv_reduction(&p) * conv_windows(&p);
        struct conv_im2col_args a = { .p = &p };
        struct kbuffer in, want, got;

        CU_ASSERT_FATAL(kbuffer_init(&in, n_in) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&want, n_col) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&got, n_col) == 0);
        rng_floats(in.data, n_in);
        in.data[rng_below(n_in)] = NAN;
        memset(got.data, 0xff, n_col * sizeof(float));
        a.in = (uintptr_t)in.data;
        a.col = (uintptr_t)want.data;
        conv_im2col(&a);
        a.col = (uintptr_t)got.data;
        conv_im2col_rows(&a);
        test_check(!memcmp(got.data, want.data, n_col * sizeof(float)), "%s", kcheck_describe(&p));
        kbuffer_release(&in);
        kbuffer_release(&want);
        kbuffer_release(&got);
    }
}

/*
 * Checks a peak loop. Every chain adds 1, and all but the matrix engine's halve: after many steps each lane holds 2,
 * or the steps.
 */
static void check_peak(const struct conv_peak *peak)
{
    double n_sums = peak->flop_per_step / 2, sum = 0;
    struct kbuffer x;

    CU_ASSERT_EQUAL((double)peak->fma(100), n_sums * (peak->isa == CPU_ISA_MMA ? 100 : 2));
    CU_ASSERT_EQUAL((double)peak->fma(1), n_sums);
    CU_ASSERT_FATAL(kbuffer_init(&x, 1024) == 0);
    rng_small_ints(x.data, 1024, 100);
    for (size_t i = 0; i < 1024; i++)
        sum += (double)x.data[i];
    CU_ASSERT_EQUAL((double)peak->read(x.data, 1024), sum);
    kbuffer_release(&x);
}

static void peak_loops_compute(void)
{
    if (!conv_peak_best())
        test_skip("no FMA loop for this CPU");
    for (size_t i = 0; i < conv_peak_count(); i++) {
        if (conv_peak_runs(conv_peak_at(i)))
            check_peak(conv_peak_at(i));
    }
}

/* ---- phases ---- */

static uint64_t ticks; /* a clock that advances by one at each reading; test program only, one thread */

static uint64_t tick(void)
{
    return ++ticks;
}

/* Every kind with steps gets time, all times add up, and the result is the convolution. */
static void phases_add_up(void)
{
    for (unsigned round = 0; round < test_rounds(50); round++) {
        struct conv_problem p = kcheck_random_problem();
        const struct csa_caches caches = { .l1_bytes = 4096, .l2_bytes = 16384, .l3_bytes = 65536, .line_bytes = 64 };
        const struct conv_ukr *u = conv_ukr_best();
        struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)rng_below(CSA_N_SCHEDULES));
        struct conv_plan plan;
        struct conv_binding bind = { { 0 } };
        struct conv_exec exec;
        struct conv_mismatch at;
        struct exp_phases x;
        struct kbuffer panel, packed, out;
        struct kcheck k;
        uint64_t sum = 0;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        CU_ASSERT_FATAL(kcheck_init(&k, &p, true) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&panel, plan.layout.bytes[CONV_PACKED_INPUT] / sizeof(float)) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&packed, plan.layout.bytes[CONV_PACKED_FILTER] / sizeof(float)) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&out, plan.layout.bytes[CONV_OUTPUT] / sizeof(float)) == 0);
        bind.addr[CONV_INPUT] = (uintptr_t)k.in;
        bind.addr[CONV_FILTER] = (uintptr_t)k.filter;
        bind.addr[CONV_PACKED_INPUT] = (uintptr_t)panel.data;
        bind.addr[CONV_PACKED_FILTER] = (uintptr_t)packed.data;
        bind.addr[CONV_OUTPUT] = (uintptr_t)out.data;
        conv_exec_init(&exec, &plan, &bind);
        CU_ASSERT_EQUAL(conv_nest_pack_filters(&plan, &exec.base), 0);
        ticks = 0;
        CU_ASSERT_EQUAL(exp_phases_run(&plan, &bind, tick, &x), 0);
        for (int i = 0; i < CONV_N_STEP_KINDS; i++)
            sum += x.step_ns[i];
        CU_ASSERT(x.step_ns[CONV_STEP_UKR] > 0);
        CU_ASSERT_EQUAL(x.step_ns[CONV_STEP_IM2COL] + x.step_ns[CONV_STEP_PACK_FILTERS], 0);
        CU_ASSERT_EQUAL(sum + 1, x.total_ns); /* one tick from the start to the first step */
        CU_ASSERT_EQUAL(x.total_ns, ticks - 1);
        CU_ASSERT_EQUAL(conv_naive_compare(&p, k.in, k.filter, out.data, true, &at), 0);
        kbuffer_release(&panel);
        kbuffer_release(&packed);
        kbuffer_release(&out);
        kcheck_release(&k);
    }
}

/* OpenBLAS's own routines, called step by step, compute the convolution; clock and kinds as above. */
static void base_in_steps_is_right(void)
{
    const struct conv_gemm_core *core;
    struct conv_blas_parts parts;
    struct conv_blas blas;
    char why[160];

    if (conv_blas_load(&blas, SIM_WHY(why))) {
        test_skip("%s", why);
        return;
    }
    core = conv_gemm_core_find(blas.core);
    if (!core || conv_blas_parts_find(&parts, &blas, blas.core, SIM_WHY(why))) {
        test_skip("%s", core ? why : "the blocking of this core is not on record");
        conv_blas_unload(&blas);
        return;
    }
    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_binding bind = { { 0 } };
        struct kbuffer buffer[CONV_N_TENSORS];
        struct conv_mismatch at = { 0 };
        struct conv_plan plan;
        struct exp_phases x;
        struct kcheck k;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
        CU_ASSERT_FATAL(kcheck_init(&k, &p, true) == 0);
        for (int t = 0; t < CONV_N_TENSORS; t++) {
            CU_ASSERT_FATAL(kbuffer_init(&buffer[t], plan.layout.bytes[t] / sizeof(float) + 1024) ==
                            0); /* kernels prefetch, and may over-read */
            bind.addr[t] = (uintptr_t)buffer[t].data;
        }
        bind.addr[CONV_INPUT] = (uintptr_t)k.in;
        bind.addr[CONV_FILTER] = (uintptr_t)k.filter;
        ticks = 0;
        CU_ASSERT_EQUAL(exp_phases_run_base(&plan, &bind, &parts, tick, &x), 0);
        CU_ASSERT(plan.gemm.is_small ? x.step_ns[CONV_STEP_PRODUCT] > 0
                                     : x.step_ns[CONV_STEP_UKR] > 0 && x.step_ns[CONV_STEP_PACK_MATRIX] > 0 &&
                                           x.step_ns[CONV_STEP_ZERO] > 0);
        test_check(!conv_naive_compare(&p, k.in, k.filter, buffer[CONV_OUTPUT].data, true, &at),
                   "%s: element %zu is %g, must be %g", kcheck_describe(&p), at.index, at.got, at.want);
        for (int t = 0; t < CONV_N_TENSORS; t++)
            kbuffer_release(&buffer[t]);
        kcheck_release(&k);
    }
    conv_blas_unload(&blas);
}

/* ---- tensors ---- */

/*
 * Returns the greatest value of a filled tensor, all of whose values are integers; another seed makes another
 * sequence.
 */
static float greatest_filled(void)
{
    enum { N = 10000 };
    static float x[N], y[N];
    float most = 0;

    exp_tensors_fill(x, sizeof x, 1);
    exp_tensors_fill(y, sizeof y, 2);
    CU_ASSERT(memcmp(x, y, sizeof x) != 0);
    for (size_t i = 0; i < N; i++) {
        CU_ASSERT(x[i] == truncf(x[i]));
        most = fmaxf(most, fabsf(x[i]));
    }
    return most;
}

/* Sums are exact up to the very length at which products of the tensors' numbers could reach 2^24. */
static void exactness_is_of_what_fills(void)
{
    const double most = (double)greatest_filled();
    const size_t longest = (size_t)(ceil((1 << 24) / (most * most)) - 1);
    struct conv_problem p = { .c = longest, .k = 1, .r = 1, .s = 1, .groups = 1 };

    CU_ASSERT(exp_tensors_exact(&p));
    p.c++;
    CU_ASSERT(!exp_tensors_exact(&p));
}

/* ---- totals, worked by hand ----
 * network 0: base 4 + 1 ns, sconv 2 + 2 ns: network 5/4, layers sqrt(2 * 0.5) = 1, won 1 of 2, the pointwise one lost
 * network 1: base 9, sconv 1: 9 and 9; over both: network sqrt(1.25 * 9), layers sqrt(1 * 9) = 3, won 2 of 3
 * Times are ten times as long, so that they are whole; so is what a multiply-add may take. The last method has times in
 * network 1 alone.
 */
enum { BASE, SCONV, TUNED, GENERATED, N_METHODS };

struct known {
    struct exp_layer shape[3];
    struct exp_models models;
    struct exp_setup setup;
    struct exp_peers peers;
};

static void make_case(struct exp_case *c, const struct exp_layer *layer, const struct exp_algo *algo, uint64_t ns,
                      const char *why_not)
{
    *c = (struct exp_case){ .layer = layer, .algo = algo };
    CU_ASSERT_EQUAL(conv_plan_plugin(&c->plan, &layer->problem, "of a test", NULL), 0);
    c->simulated.why = c->observed.why = "not asked for";
    for (int i = 0; i < EXP_N_COUNTS; i++)
        c->measured.count[i] = value_none("not asked for");
    c->measured.why = why_not ? why_not : ns ? NULL : "not there";
    c->measured.sample_ns = exp_new(1, sizeof *c->measured.sample_ns);
    c->measured.mark = exp_new(1, sizeof *c->measured.mark);
    c->measured.n_samples = ns > 0;
    c->measured.sample_ns[0] = ns;
    c->measured.phases.total_ns = 10;
    c->measured.phases.step_ns[CONV_STEP_PACK_WINDOWS] = layer->problem.c == 45 ? 3 : 1;
}

static void make_shape(struct conv_problem *p, size_t channels, size_t filter)
{
    char why[128];

    *p = (struct conv_problem){ .n = 1, .c = channels, .h = 1, .w = filter, .k = 1 };
    p->r = p->stride_h = p->stride_w = p->dilation_h = p->dilation_w = p->groups = 1;
    p->s = filter;
    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(p, SIM_WHY(why)), 0);
}

/* Adds a network of n layers in both states of the caches; in warm caches nothing was timed. */
static void add_network(struct known *k, size_t first, size_t n, double peak_gflops, const char *why_not)
{
    static const uint64_t ns[3][N_METHODS] = { { 40, 20, 10, 0 }, { 10, 20, 5, 0 }, { 90, 10, 10, 20 } };
    struct exp_experiment e = { .setup = &k->setup, .n_algos = N_METHODS, .n_cases = n * N_METHODS };
    const size_t first_row = k->peers.n_rows;

    e.model = &k->models.model[k->peers.n_networks];
    e.cases = exp_new(e.n_cases, sizeof *e.cases);
    for (size_t i = 0; i < e.n_cases; i++)
        make_case(&e.cases[i], &k->shape[first + i / N_METHODS], k->peers.method[i % N_METHODS],
                  ns[first + i / N_METHODS][i % N_METHODS], why_not);
    exp_peers_add_rows(&k->peers, &e, EXP_PEERS_NETWORK);
    exp_peers_add_rows(&k->peers, &e, EXP_PEERS_WARM);
    exp_experiment_release(&e);
    exp_peers_sum_up(&k->peers, first_row, peak_gflops, 1);
    k->peers.n_networks++;
}

/* Makes both networks; the first was not timed if there is a reason. */
static void make_known(struct known *k, const char *why_not)
{
    static const char *const names[N_METHODS] = { "base", "sconv_ahead", "sconv_tuned", "sconv_gen" };
    struct exp_why why;
    unsigned algos;

    memset(k, 0, sizeof *k);
    k->models.n = 2;
    CU_ASSERT_EQUAL_FATAL(exp_algo_select("base", &algos, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_peers_init(&k->peers, &k->setup, &k->models, algos, &why), 0);
    k->peers.n_methods = N_METHODS;
    for (size_t m = 0; m < N_METHODS; m++)
        k->peers.method[m] = exp_algo_find(names[m]);
    make_shape(&k->shape[0].problem, 25, 2);
    make_shape(&k->shape[1].problem, 50, 1);
    make_shape(&k->shape[2].problem, 45, 1);
    add_network(k, 0, 2, 20, why_not);
    add_network(k, 2, 1, 18, NULL);
    exp_peers_sum_up(&k->peers, 0, 0, 0);
}

static const struct exp_peers_total *total(const struct known *k, size_t network, size_t m)
{
    return exp_peers_total(&k->peers, network, EXP_PEERS_NETWORK, m);
}

static double speedup(const struct known *k, size_t network, size_t m)
{
    return total(k, network, m)->of[M_measured_speedup_vs_base].number;
}

static void totals_are_as_defined(void)
{
    const struct exp_peers_total *a, *all;
    struct known k;

    make_known(&k, NULL);
    a = total(&k, 0, SCONV);
    all = total(&k, 2, SCONV);
    CU_ASSERT_EQUAL(a->n_layers, 2);
    CU_ASSERT_EQUAL(a->n_pointwise, 1);
    CU_ASSERT_EQUAL(a->of[M_measured_time_ns].number, 40);
    CU_ASSERT_DOUBLE_EQUAL(speedup(&k, 0, SCONV), 1.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->layers_speedup.number, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->won_percent.number, 50, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->pointwise_won_percent.number, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a->peak_percent.number, 25, 1e-12);
    CU_ASSERT_EQUAL(all->n_layers, 3);
    CU_ASSERT_DOUBLE_EQUAL(speedup(&k, 2, SCONV), sqrt(1.25 * 9), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(all->layers_speedup.number, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(all->won_percent.number, 200.0 / 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(all->peak_percent.number, sqrt(25 * 50), 1e-9);
    CU_ASSERT_STRING_EQUAL(total(&k, 2, BASE)->won_percent.why, "this is base");
    CU_ASSERT_STRING_EQUAL(total(&k, 0, GENERATED)->of[M_measured_time_ns].why, "not there");
    CU_ASSERT_STRING_EQUAL(total(&k, 2, GENERATED)->of[M_measured_speedup_vs_base].why, "not there");
    CU_ASSERT_STRING_EQUAL(exp_peers_total(&k.peers, 2, EXP_PEERS_WARM, SCONV)->why_not_all, "not asked for (HOT=0)");
    exp_peers_release(&k.peers);
}

/* Packing takes 10 and 30 % of the time in steps, and steps take 20 / 50 and 10 / 90 of Base's call. */
static void phases_are_shares(void)
{
    struct known k;

    make_known(&k, NULL);
    CU_ASSERT(total(&k, 0, TUNED)->has_phases && !total(&k, 0, GENERATED)->has_phases &&
              !total(&k, 2, TUNED)->has_phases);
    CU_ASSERT_DOUBLE_EQUAL(total(&k, 0, TUNED)->part_percent[1].number, 10, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(total(&k, 1, TUNED)->part_percent[1].number, 30, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(total(&k, 0, TUNED)->steps_to_call.number, 0.4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(total(&k, 1, TUNED)->steps_to_call.number, 1. / 9, 1e-12);
    exp_peers_release(&k.peers);
}

/* A disturbed network has no numbers, and the reason stands in their place; an undisturbed network has numbers. */
static void disturbed_networks_have_no_numbers(void)
{
    const char *reason = "disturbed: by a test";
    struct known k;

    make_known(&k, reason);
    CU_ASSERT_PTR_EQUAL(total(&k, 0, SCONV)->of[M_measured_speedup_vs_base].why, reason);
    CU_ASSERT_PTR_EQUAL(total(&k, 0, SCONV)->part_percent[1].why, reason);
    CU_ASSERT_PTR_EQUAL(total(&k, 2, SCONV)->of[M_measured_speedup_vs_base].why, reason);
    CU_ASSERT_EQUAL(speedup(&k, 1, SCONV), 9);
    exp_peers_release(&k.peers);
}

/* On a busy computer, the headline has its interval, and the note on trust tells why. */
static void busy_networks_have_an_interval(void)
{
    struct exp_screen s = { NULL };
    struct known k;

    make_known(&k, NULL);
    exp_say(k.peers.info[1][EXP_PEERS_NETWORK].busy, sizeof k.peers.info[1][EXP_PEERS_NETWORK].busy,
            "on a busy computer: 9 of 10 timings were disturbed");
    for (size_t i = 0; i < k.peers.n_totals; i++) {
        k.peers.total[i].of[M_measured_speedup_low] = value_of(0.9);
        k.peers.total[i].of[M_measured_speedup_high] = value_of(9.5);
    }
    exp_peers_screen(&k.peers, &s);
    test_check(strstr(s.line[0].text, " [0.90, 9.50] times as fast as ") != NULL, "%s", s.line[0].text);
    test_check(!strncmp(s.line[1].text, "on a busy computer: 9 of 10 timings were disturbed; ", 52), "%s",
               s.line[1].text);
    exp_screen_release(&s);
    exp_peers_release(&k.peers);
}

/* ---- the methods ---- */

/* Tells whether the algorithms of a list make the methods, whose names are joined by blanks. */
static bool makes(const char *list, const char *methods)
{
    const struct exp_setup setup = { 0 };
    const struct exp_models models = { 0 };
    char text[256] = "";
    struct exp_peers p;
    struct exp_why why;
    unsigned algos;

    CU_ASSERT_EQUAL_FATAL(exp_algo_select(list, &algos, &why), 0);
    CU_ASSERT_EQUAL(exp_peers_init(&p, &setup, &models, algos, &why), *methods ? 0 : -EINVAL);
    for (size_t i = 0; i < p.n_methods && *methods; i++)
        exp_say_more(text, sizeof text, "%s%s", i ? " " : "", p.method[i]->name);
    exp_peers_release(&p);
    return !strcmp(text, methods);
}

static void schedules_are_one_method(void)
{
    CU_ASSERT(makes("base,sconv_tuned,goto,sconv,sconv_tuned", "base sconv sconv_tuned goto"));
    CU_ASSERT(makes("sconv_ws,base", "base sconv_ws"));
    CU_ASSERT(makes("sconv,goto", ""));
}

/* ---- an interruption ---- */

/* A clock that ends the program at its first reading, as Ctrl-C does before any round is complete. */
static uint64_t ending_clock(void)
{
    static const struct timespec tick = { .tv_nsec = 1000000 };

    if (!exp_interrupted())
        kill(getpid(), SIGTERM);
    while (!exp_interrupted())
        nanosleep(&tick, NULL);
    return ctr_now_ns();
}

/* Measures Base and an SConv on three layers until the clock ends the process. Returns the error of the measurement. */
static int measure_to_the_end(void)
{
    static const double seconds[EXP_N_WORKS];
    const struct exp_peers_options o = {
        .times = { .rounds = { 2, 2, 0 }, .n_threads = 1, .now_ns = ending_clock, .groups_dir = CTR_GROUPS_DIR }
    };
    struct exp_setup setup = { 0 };
    struct exp_models models;
    struct exp_peers p;
    struct exp_why why;
    unsigned algos;
    FILE *shown = tmpfile();

    signal(SIGTERM, SIG_DFL);
    if (!shown || exp_signal_install("suite") || exp_machine_find(&setup.machine, "clx4208", "results", &why) ||
        exp_setup_init(&setup, "", "", &why) ||
        exp_models_read(&models, "experiments", "tests/data/three.csv", "", &why) ||
        exp_algo_select("base,sconv_ws", &algos, &why) || exp_peers_init(&p, &setup, &models, algos, &why))
        return 0;
    return exp_peers_measure(&p, &o, exp_progress_new(shown, false, seconds, ctr_now_ns), &why);
}

static void an_interruption_leaves_no_rows(void)
{
    struct conv_blas blas;
    char why[160];
    int status = 0;
    pid_t child;

    if (conv_blas_load(&blas, SIM_WHY(why))) {
        test_skip("%s", why);
        return;
    }
    conv_blas_unload(&blas);
    child = fork();
    if (!child)
        _exit(measure_to_the_end() == -EINTR ? 7 : 8);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) {
        test_skip("half a second after the signal the process had not reached its rows: this computer is slow");
        return;
    }
    test_check(WIFEXITED(status), "the measurement ends with status %x", (unsigned)status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 8)
        test_skip("Base cannot be timed on this CPU");
}

/*
 * The sums over all networks of results/reference/zen4/peers. The tables have no times in warm caches, and nothing on
 * the state of the computer.
 */
static void the_screen_of_recorded_totals(void)
{
    struct exp_peers p = { .n_networks = 0 };
    struct exp_screen s = { .title = NULL };
    const struct exp_peers_total *row;
    struct exp_page_csv csv;

    recorded_rows(&csv, "results/reference/zen4/peers/all", &exp_peers_model_table);
    row = csv.row;
    p.total = calloc(2 * csv.table.n_rows, sizeof *p.total);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p.total);
    for (size_t i = 0; i < csv.table.n_rows; i++) {
        if (strcmp(row[i].model, "all") != 0)
            continue;
        exp_algo_meet(row[i].method);
        p.method[p.n_methods] = exp_algo_find(row[i].method);
        p.total[p.n_methods++] = row[i];
    }
    CU_ASSERT_FATAL(p.n_methods > 1);
    p.n_totals = 2 * p.n_methods;
    for (size_t i = p.n_methods; i < p.n_totals; i++)
        p.total[i].of[M_measured_speedup_vs_base] = value_none("no times in warm caches");
    exp_peers_screen(&p, &s);
    recorded_screen_is(&s, "peers");
    free(p.total);
    exp_page_csv_release(&csv);
}

static const struct test_case cases[] = {
    { "im2col by rows writes what im2col by elements writes", rows_equal_elements },
    { "the peak loops do the arithmetic they are counted for", peak_loops_compute },
    { "phases add up to the total, and the timed nest computes", phases_add_up },
    { "base in steps, with OpenBLAS's routines, equals the naive convolution", base_in_steps_is_right },
    { "exactness is judged of the values that tensors are filled with", exactness_is_of_what_fills },
    { "totals over layers and models are as defined", totals_are_as_defined },
    { "phases are shares of a run in steps", phases_are_shares },
    { "disturbed networks have no numbers", disturbed_networks_have_no_numbers },
    { "busy networks have an interval", busy_networks_have_an_interval },
    { "both schedules are one method", schedules_are_one_method },
    { "an interruption before the first round ends the measurement", an_interruption_leaves_no_rows },
    { "the screen of recorded totals", the_screen_of_recorded_totals },
    { NULL, NULL },
};

const struct test_suite suite_peers = { "peers", cases };
