/*
 * Code that no emulator runs: instrumented twins and copies of the machine code agree with the replay, in every count.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "sim/hierarchy.h"
#include "tests/experiments/observed.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static bool is_equal_cell(const struct sim_cell *a, const struct sim_cell *b, size_t n_levels)
{
    bool is_equal = a->loads == b->loads && a->stores == b->stores && a->load_bytes == b->load_bytes &&
                    a->store_bytes == b->store_bytes && a->memory_read_lines == b->memory_read_lines;

    for (size_t i = 0; i < n_levels; i++) {
        const struct sim_level_counts *x = &a->level[i], *y = &b->level[i];

        is_equal &= x->reads == y->reads && x->read_misses == y->read_misses && x->writes == y->writes &&
                    x->write_misses == y->write_misses && x->load_misses == y->load_misses &&
                    x->write_backs == y->write_backs;
    }
    return is_equal;
}

/* Compares every count of every tensor, phase and level. */
static void check_cells(const struct observed_layer *l, const struct sim_stats *seen, const struct sim_stats *replayed,
                        const char *algo)
{
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            const struct sim_cell *a = &seen->cell[t][p], *b = &replayed->cell[t][p];

            test_check(is_equal_cell(a, b, l->setup.machine.n_levels),
                       "%s, %s, %s: %llu loads, %llu stores observed, %llu, %llu replayed", algo,
                       conv_tensor_name((enum conv_tensor)t), conv_phase_name((enum conv_phase)p),
                       (unsigned long long)a->loads, (unsigned long long)a->stores, (unsigned long long)b->loads,
                       (unsigned long long)b->stores);
        }
    }
}

/* Compares the sums over all tensors: a prefetch behind the end of a tensor counts for the next tensor. */
static void check_sums(const struct observed_layer *l, const struct sim_stats *seen, const struct sim_stats *replayed,
                       const char *algo)
{
    const struct sim_cell a = sim_stats_total(seen), b = sim_stats_total(replayed);

    test_check(is_equal_cell(&a, &b, l->setup.machine.n_levels), "%s: observed %llu load misses in L1, replayed %llu",
               algo, (unsigned long long)a.level[0].load_misses, (unsigned long long)b.level[0].load_misses);
}

/* Checks the number of accesses to each tensor in each phase: the widths of masked accesses are unknown. */
static void check_numbers(const struct observed_layer *l, const struct sim_stats *seen,
                          const struct sim_stats *replayed, const char *algo)
{
    for (size_t i = 0; i < (size_t)CONV_N_TENSORS * CONV_N_PHASES; i++) {
        const struct sim_cell *a = &seen->cell[i / CONV_N_PHASES][i % CONV_N_PHASES];
        const struct sim_cell *b = &replayed->cell[i / CONV_N_PHASES][i % CONV_N_PHASES];

        test_check(a->loads == b->loads && a->stores == b->stores,
                   "%s, %s: tensor %zu, phase %zu: %llu loads and %llu stores instead of %llu and %llu", algo,
                   l->e.cases[0].algo->name, i / CONV_N_PHASES, i % CONV_N_PHASES, (unsigned long long)a->loads,
                   (unsigned long long)a->stores, (unsigned long long)b->loads, (unsigned long long)b->stores);
    }
}

typedef void (*check_fn)(const struct observed_layer *l, const struct sim_stats *seen, const struct sim_stats *replayed,
                         const char *algo);

static void check_by(check_fn check, const struct observed_layer *l, const struct watch_result *r, const char *algo)
{
    struct conv_replay replay;
    struct sim_hierarchy *h;

    CU_ASSERT_FATAL(sim_hierarchy_new(&h, &l->setup.machine) == 0);
    conv_replay_init(&replay, &l->plan, sim_hierarchy_sink(h));
    replay.bind = observed_binding(&l->plan, r);
    CU_ASSERT(conv_nest_run(&l->plan, &replay.base) == 0);
    check(l, &r->stats, sim_hierarchy_stats(h), algo);
    CU_ASSERT(sim_stats_total(&r->stats).loads > 0);
    sim_hierarchy_free(h);
}

static void check_equal(const struct observed_layer *l, const struct watch_result *r, const char *algo)
{
    check_by(l->setup.machine.has_software_prefetch ? check_sums : check_cells, l, r, algo);
}

static void twins_do_what_is_replayed(void)
{
    static const char *const ukrs[] = { "f32_16x24__avx512", "f32_16x6__avx2", "f32_16x24__ref" };
    struct watch_result *r = malloc(sizeof *r);
    struct observed_place place;
    bool is_there = observed_find_twin(&place);
    struct observed_layer l;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(r != NULL);
    for (size_t k = 0; is_there && k < 2 * COUNT(observed_small) * COUNT(ukrs); k++) {
        place.ukr = ukrs[k / 2 % COUNT(ukrs)];
        if (!conv_ukr_runs(conv_ukr_find(place.ukr)))
            continue;
        observed_plan(&l, &place, observed_small[k % COUNT(observed_small)], k % 2 ? "sconv_is" : "sconv_ws", k % 3);
        if (k % 5 == 0)
            observed_take_part(&l);
        if (test_check(observed_run(&l, &place, false, r, &why) == 0, "%s", why.text))
            check_equal(&l, r, place.ukr);
        observed_release(&l);
    }
    free(r);
}

/*
 * A column of 24 filters is done in halves; windows and filters have panels of every width; several blocks of the
 * reduction, whose last steps are no multiple of any loop's body.
 */
static void openblas_streams_equal_their_replay(void)
{
    static const struct {
        const char *core, *ukr;
    } cores[] = {
        { "SkylakeX", "f32_16x24__avx512" },
        { "Cooperlake", "f32_16x24__avx512" },
        { "Haswell", "f32_16x6__avx2" },
        { "Zen", "f32_16x6__avx2" },
    };
    static const struct conv_problem problems[] = {
        { IMAGES(1, 52, 1, 943), FILTERS(55, 1, 1), UNIT_STEPS, .groups = 1 },
        { IMAGES(1, 51, 13, 14), FILTERS(39, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 },
    };
    struct observed_place place;
    bool is_there = observed_find_twin(&place);

    for (size_t i = 0; is_there && i < COUNT(cores); i++) {
        place.core = cores[i].core;
        place.ukr = cores[i].ukr;
        for (size_t k = 0; k < COUNT(problems) && conv_ukr_runs(conv_ukr_find(place.ukr)); k++) {
            observed_check_stream(&place, problems[k], "base", false, false);
            observed_check_stream(&place, problems[k], "sconv_openblas", false, true);
        }
    }
}

/* Watches a layer that fills the ring of recorded accesses many times, and a part of the layer. */
static void twins_watch_openblas(void)
{
    static const struct conv_problem problem = { IMAGES(1, 64, 24, 24), FILTERS(72, 3, 3), PADDING(1, 1, 1, 1),
                                                 UNIT_STEPS, .groups = 1 };
    static const char *const algos[] = { "base", "sconv_openblas" };
    struct watch_result *r = malloc(sizeof *r);
    struct observed_place place;
    struct observed_layer l;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(r != NULL);
    if (observed_find_twin(&place) && conv_ukr_runs(conv_ukr_find("f32_16x24__avx512"))) {
        place.ukr = "f32_16x24__avx512";
        place.core = "SkylakeX";
        for (size_t k = 0; k < 2 * COUNT(algos); k++)
            observed_check_totals(&place, problem, algos[k % 2], k > 1, r);
        place.machine = "sim/machines/spr.cfg"; /* prefetchers notice another order; prefetches are heeded */
        for (size_t k = 0; k < COUNT(algos); k++) {
            observed_plan(&l, &place, problem, algos[k], false);
            if (test_check(observed_run(&l, &place, false, r, &why) == 0, "%s", why.text))
                check_equal(&l, r, algos[k]);
            observed_release(&l);
        }
        observed_plan(&l, &place, observed_small[1], "base", false);
        CU_ASSERT(observed_run(&l, &place, false, r, &why) == -EIO);
        test_check(strstr(why.text, "sgemm_small_kernel_b0_") != NULL, "%s", why.text);
        observed_release(&l);
    }
    free(r);
}

/* AVX-512 code, which no emulator runs, is seen whole: the copies touch the tensors as often as the replay. */
static void copies_touch_what_is_replayed(void)
{
    static const char *const algos[] = { "base", "sconv_is", "sconv_ws", "sconv_openblas", "sconv_tuned" };
    struct watch_result *r = malloc(sizeof *r);
    struct observed_place p;
    bool is_there = observed_find_copied(&p, "f32_16x24__avx512", "sim/machines/clx4208.cfg");
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(r != NULL);
    for (size_t i = 0; is_there && i < COUNT(algos) * COUNT(observed_unfitted); i++) {
        struct observed_layer l;

        observed_plan(&l, &p, observed_unfitted[i % COUNT(observed_unfitted)], algos[i / COUNT(observed_unfitted)],
                      false);
        if (test_check(observed_run(&l, &p, false, r, &why) == 0, "%s", why.text))
            check_by(check_numbers, &l, r, p.ukr);
        observed_release(&l);
    }
    free(r);
}

static const struct test_case cases[] = {
    { "instrumented twins touch what is replayed, in every count", twins_do_what_is_replayed },
    { "OpenBLAS's streams equal their replay, access for access, prefetches too", openblas_streams_equal_their_replay },
    { "OpenBLAS's machine code is watched in a twin", twins_watch_openblas },
    { "copies of AVX-512 code touch the tensors as often as is replayed", copies_touch_what_is_replayed },
    { NULL, NULL },
};

const struct test_suite suite_observe_twins = { "observe_twins", cases };
