/* The comparison with peers beyond the kernels: im2col by rows, the peak loops, the phases, oneDNN. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/peers/peers.h"
#include "experiments/bench/case/case.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/peak.h"
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

    if (conv_blas_load(&blas, CONV_REASON(why))) {
        test_skip("%s", why);
        return;
    }
    core = conv_gemm_core_find(blas.core);
    if (!core || conv_blas_parts_find(&parts, &blas, blas.core, CONV_REASON(why))) {
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
        CU_ASSERT(x.step_ns[CONV_STEP_UKR] > 0 && x.step_ns[CONV_STEP_PACK_MATRIX] > 0 &&
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
 * Times are ten times as long, so that they are whole; so is what a multiply-add may take.
 */
enum { BASE, SCONV, TUNED, NCHW };

static const struct exp_algo algos[] = { { .name = "base" },
                                         { .name = "sconv" },
                                         { .name = "sconv_tuned" },
                                         { .name = "onednn_nchw", .why_no_phases = "a plug-in" } };
static const struct exp_peers_methods methods = { 4, { &algos[0], &algos[1], &algos[2], &algos[3] }, { 0 }, 0 };

enum { N_METHODS = 4, N_CASES = 3 * N_METHODS };

struct known {
    struct exp_peers network[2];
    struct exp_layer shape[3];
    struct exp_case cases[N_CASES];
    struct exp_measured measured[EXP_N_PEERS_CACHES][N_CASES];
    uint64_t ns[N_CASES];
    struct exp_mark mark[N_CASES];
    struct exp_peers_report report;
};

static void make_layer(struct known *k, size_t i)
{
    static const struct {
        size_t channels, filter; /* half the flop */
        uint64_t ns[4];
    } known[3] = { { 25, 2, { 40, 20, 10, 0 } }, { 50, 1, { 10, 20, 5, 0 } }, { 45, 1, { 90, 10, 10, 20 } } };
    struct conv_problem *p = &k->shape[i].problem;
    char why[128];

    *p = (struct conv_problem){ .n = 1, .c = known[i].channels, .h = 1, .w = known[i].filter, .k = 1 };
    p->r = p->stride_h = p->stride_w = p->dilation_h = p->dilation_w = p->groups = 1;
    p->s = known[i].filter;
    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(p, why, sizeof why), 0);
    for (size_t m = 0, at = i * N_METHODS; m < N_METHODS; m++, at++) {
        k->cases[at] = (struct exp_case){ .layer = &k->shape[i], .algo = &algos[m] };
        k->ns[at] = known[i].ns[m];
        k->measured[EXP_PEERS_NETWORK][at] = k->measured[EXP_PEERS_WARM][at] =
            (struct exp_measured){ .why_no_time = "not there" };
        if (known[i].ns[m])
            k->measured[EXP_PEERS_NETWORK][at] =
                (struct exp_measured){ .sample_ns = &k->ns[at], .mark = &k->mark[at], .n_samples = 1 };
    }
}

static void make_known(struct known *k)
{
    static const double peak_gflops[2] = { 20, 18 };

    *k = (struct known){ .report = { &methods, EXP_PEERS_CORE_AVX2, 2, k->network } };
    for (size_t i = 0; i < 3; i++)
        make_layer(k, i);
    for (size_t i = 0, at = 0; i < 2; i++, at += 2 * N_METHODS) {
        k->network[i] = (struct exp_peers){ .methods = &methods,
                                            .n_layers = 2 - i,
                                            .experiment = { .cases = &k->cases[at], .n_algos = N_METHODS },
                                            .measured = { &k->measured[0][at], &k->measured[1][at] } };
        k->network[i].found.peak_gflops = peak_gflops[i];
    }
}

static void totals_are_as_defined(void)
{
    struct exp_peers_total a, all;
    struct known k;

    make_known(&k);
    a = exp_peers_total(&k.report, 0, EXP_PEERS_NETWORK, SCONV);
    all = exp_peers_total(&k.report, 2, EXP_PEERS_NETWORK, SCONV);
    CU_ASSERT_EQUAL(a.n_layers, 2);
    CU_ASSERT_EQUAL(a.n_pointwise, 1);
    CU_ASSERT_DOUBLE_EQUAL(a.network_ratio, 1.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.geomean_ratio, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.won_percent, 50, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.pointwise_won_percent, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.peak_percent, 25, 1e-12);
    CU_ASSERT_EQUAL(all.n_layers, 3);
    CU_ASSERT_DOUBLE_EQUAL(all.network_ratio, sqrt(1.25 * 9), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(all.geomean_ratio, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(all.won_percent, 200.0 / 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(all.peak_percent, sqrt(25 * 50), 1e-9);
    CU_ASSERT(isnan(exp_peers_total(&k.report, 0, EXP_PEERS_NETWORK, NCHW).network_ratio));
    CU_ASSERT(isnan(exp_peers_total(&k.report, 2, EXP_PEERS_WARM, SCONV).network_ratio));
}

/*
 * As above, and tuned: 1 + 0.5 ns in network 0, 1 ns in network 1, where NCHW takes 2: speed-ups 5 / 1.5 and 9; all
 * layers won. Peak: base reaches 100 flop / 5 ns of 200 = 20 %, 90 / 9 of 180 = 5.56 %: geometric mean 10.54 %. Packing
 * takes 10 and 30 % of tuned's time. NCHW is missing in network 0: nothing is said about NCHW.
 */
static void targets_are_as_defined(void)
{
    struct exp_peers_target t[EXP_N_PEERS_TARGETS];
    struct known k;

    make_known(&k);
    for (size_t i = 0; i < 2; i++) {
        struct exp_phases *x = &k.network[i].measured[EXP_PEERS_NETWORK][TUNED].phases;

        x->total_ns = 10;
        x->step_ns[CONV_STEP_PACK_WINDOWS] = 1 + 2 * i;
    }
    exp_peers_targets(&k.report, t);
    CU_ASSERT_DOUBLE_EQUAL(t[0].tuned, sqrt(5 / 1.5 * 9), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[0].sconv, sqrt(1.25 * 9), 1e-9);
    CU_ASSERT(t[0].at_least == 1.22 && t[0].aim == 1.3 && !t[0].is_papers);
    CU_ASSERT(t[1].at_least == 1.05 && t[1].aim == 1.12 && t[1].is_papers && t[1].sconv == t[0].sconv);
    CU_ASSERT_DOUBLE_EQUAL(t[2].tuned, sqrt(5 * 18), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[3].tuned, 100 * log(sqrt(30)) / log(sqrt(90)), 1e-9);
    CU_ASSERT(isnan(t[4].tuned) && isnan(t[4].at_least) && isnan(t[4].paper));
    CU_ASSERT(isnan(t[5].tuned)); /* nobody timed oneDNN with reorders */
    CU_ASSERT_DOUBLE_EQUAL(t[6].tuned, 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[6].sconv, 200. / 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[7].tuned, 100, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[7].sconv, 50, 1e-9);
    CU_ASSERT(t[8].at_least == 4 && t[8].less_is_better);
    CU_ASSERT_DOUBLE_EQUAL(t[8].tuned, 20, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t[10].tuned, 100, 1e-9); /* 100 flop in 0.5 ns of 200 a ns */
}

/* Kept results of a network are read back, and are not taken for a network with a different number of layers. */
static void kept_networks_are_read_back(void)
{
    struct exp_measured back[EXP_N_PEERS_CACHES][N_CASES] = { 0 };
    struct exp_result kept = { 0 };
    struct known k;
    struct exp_peers to;
    uint64_t ns[] = { 40, 0, 1ull << 62 };
    struct exp_mark mark[] = { { 1, 2, 3, 4, 5 }, { 0 }, { 6, 7, 8, 9, UINT32_MAX } };

    make_known(&k);
    k.measured[EXP_PEERS_WARM][N_METHODS + TUNED] =
        (struct exp_measured){ .sample_ns = ns, .mark = mark, .n_samples = 3, .phases.total_ns = 17 };
    k.measured[EXP_PEERS_NETWORK][N_METHODS + NCHW].why_no_time = "it is closed today";
    k.network[0].found.info[EXP_PEERS_NETWORK].ruler = (struct exp_ruler_report){ 80, 70, 60, 20, 15, true };
    k.network[0].found.read_gbytes = (double)-NAN;
    exp_peers_keep(&kept, &k.network[0]);
    CU_ASSERT_EQUAL(kept.err, 0);
    to = (struct exp_peers){ .methods = &methods, .n_layers = 2, .measured = { back[0], back[1] } };
    CU_ASSERT_EQUAL(exp_peers_recall(&kept, &to), 0);
    CU_ASSERT(!memcmp(&to.found, &k.network[0].found, sizeof to.found));
    CU_ASSERT_STRING_EQUAL(exp_peers_why_not(&to, EXP_PEERS_NETWORK, NCHW), "not there");
    CU_ASSERT_STRING_EQUAL(back[EXP_PEERS_NETWORK][N_METHODS + NCHW].why_no_time, "it is closed today");
    CU_ASSERT_EQUAL(exp_peers_times(&to, EXP_PEERS_NETWORK, 0, SCONV).fastest, 20);
    CU_ASSERT(!back[EXP_PEERS_WARM][N_METHODS + TUNED].why_no_time);
    CU_ASSERT_EQUAL(back[EXP_PEERS_WARM][N_METHODS + TUNED].phases.total_ns, 17);
    CU_ASSERT_EQUAL_FATAL(back[EXP_PEERS_WARM][N_METHODS + TUNED].n_samples, 3);
    CU_ASSERT(!memcmp(back[EXP_PEERS_WARM][N_METHODS + TUNED].sample_ns, ns, sizeof ns));
    CU_ASSERT(!memcmp(back[EXP_PEERS_WARM][N_METHODS + TUNED].mark, mark, sizeof mark));
    for (size_t i = 0; i < EXP_N_PEERS_CACHES * N_CASES; i++) {
        free(back[i / N_CASES][i % N_CASES].sample_ns);
        free(back[i / N_CASES][i % N_CASES].mark);
    }
    free(to.why);
    memset(back, 0, sizeof back);
    to = (struct exp_peers){ .methods = &methods, .n_layers = 1, .measured = { back[0], back[1] } };
    CU_ASSERT_EQUAL(exp_peers_recall(&kept, &to), -EINVAL);
    for (size_t i = 0; i < EXP_N_PEERS_CACHES * N_CASES; i++) {
        free(back[i / N_CASES][i % N_CASES].sample_ns);
        free(back[i / N_CASES][i % N_CASES].mark);
    }
    free(to.why);
    exp_result_release(&kept);
}

/* A disturbed network has no numbers, and the reason stands in their place; an undisturbed network has numbers. */
static void disturbed_networks_have_no_numbers(void)
{
    char text[640];
    struct known k;
    struct exp_measure_info *info;

    make_known(&k);
    info = &k.network[0].found.info[EXP_PEERS_NETWORK];
    info->ruler = (struct exp_ruler_report){ 80, 70, 60, 20, 15, true };
    strcpy(info->why_disturbed, "disturbed: by a test");
    for (size_t i = 0; i < 2 * N_METHODS; i++)
        k.measured[EXP_PEERS_NETWORK][i].why_no_time = info->why_disturbed;
    exp_peers_describe_rounds(&k.network[0], text, sizeof text);
    test_check(!strncmp(text,
                        "not measured: disturbed: 0 rounds: they were not ended; 70 of 80 timings were taken again; ",
                        90),
               "%s", text);
    CU_ASSERT_STRING_EQUAL(exp_peers_why_not(&k.network[0], EXP_PEERS_NETWORK, SCONV), "disturbed: by a test");
    CU_ASSERT_STRING_EQUAL(exp_peers_why_not(&k.network[1], EXP_PEERS_NETWORK, SCONV), "");
    CU_ASSERT(isnan(exp_peers_total(&k.report, 0, EXP_PEERS_NETWORK, SCONV).network_ratio));
    CU_ASSERT(isnan(exp_peers_speedup(&k.network[0], EXP_PEERS_NETWORK, SCONV).value));
    CU_ASSERT_EQUAL(exp_peers_total(&k.report, 1, EXP_PEERS_NETWORK, SCONV).network_ratio, 9);
    CU_ASSERT_EQUAL(exp_peers_speedup(&k.network[1], EXP_PEERS_NETWORK, SCONV).value, 9);
    CU_ASSERT(isnan(exp_peers_total(&k.report, 2, EXP_PEERS_NETWORK, SCONV).network_ratio));
}

/* Cores with one and with two multiply-add ports have different targets; a core without such ports has no target. */
static void targets_are_the_cores_own(void)
{
    struct exp_peers_target t[EXP_N_PEERS_CORES][EXP_N_PEERS_TARGETS];
    struct known k;

    make_known(&k);
    for (int core = 0; core < EXP_N_PEERS_CORES; core++) {
        k.report.core = (enum exp_peers_core)core;
        exp_peers_targets(&k.report, t[core]);
    }
    CU_ASSERT(isnan(t[EXP_PEERS_CORE_OTHER][0].at_least) && t[EXP_PEERS_CORE_AVX512_2][0].at_least == 1.66);
    CU_ASSERT(t[EXP_PEERS_CORE_AVX512_1][6].at_least == 99.5 && t[EXP_PEERS_CORE_AVX512_2][6].at_least == 97);
    CU_ASSERT(exp_peers_core_of(CPU_ISA_AVX2) == EXP_PEERS_CORE_AVX2);
    CU_ASSERT(exp_peers_core_of(CPU_ISA_NONE) == EXP_PEERS_CORE_OTHER);
}

/* ---- the list of methods ---- */

static void methods_come_as_they_are_named(void)
{
    const struct exp_plugin_options none = { "", "", 1, 1, "", true };
    struct exp_peers_methods m;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_peers_methods_read(&m, "base,sconv_tuned,base_rows,sconv,sconv_tuned", &none, &why), 0);
    CU_ASSERT_EQUAL_FATAL(m.n, 4);
    CU_ASSERT_STRING_EQUAL(m.algo[1]->name, "sconv_tuned");
    CU_ASSERT_STRING_EQUAL(m.algo[2]->name, "base_rows");
    CU_ASSERT(m.algo[3]->members != NULL);
    CU_ASSERT_EQUAL(exp_peers_method(&m, "base_rows"), 2);
    CU_ASSERT_EQUAL(exp_peers_method(&m, "goto"), m.n);
    CU_ASSERT(exp_peers_has_phases(&m, 0) && exp_peers_has_phases(&m, 3) && !exp_peers_has_phases(&m, 2));
    CU_ASSERT_EQUAL(exp_peers_methods_read(&m, "sconv,base", &none, &why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why.text, "ALGO: base must come first: all are compared with it");
    CU_ASSERT_EQUAL(exp_peers_methods_read(&m, "base,moon", &none, &why), -EINVAL);
}

static const struct test_case cases[] = {
    { "im2col by rows writes what im2col by elements writes", rows_equal_elements },
    { "the peak loops do the arithmetic they are counted for", peak_loops_compute },
    { "phases add up to the total, and the timed nest computes", phases_add_up },
    { "base in steps, with OpenBLAS's routines, equals the naive convolution", base_in_steps_is_right },
    { "exactness is judged of the values that tensors are filled with", exactness_is_of_what_fills },
    { "totals over layers and models are as defined", totals_are_as_defined },
    { "targets are as defined", targets_are_as_defined },
    { "what was kept of a network is read back", kept_networks_are_read_back },
    { "disturbed networks have no numbers", disturbed_networks_have_no_numbers },
    { "targets are the core's own", targets_are_the_cores_own },
    { "methods come in the order in which they are named", methods_come_as_they_are_named },
    { NULL, NULL },
};

const struct test_suite suite_peers = { "peers", cases };
