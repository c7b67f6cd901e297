/* Decisions of tuned SConv: micro-kernel, depth, windows in place. */
#include <CUnit/CUnit.h>
#include <string.h>

#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/slots.h"
#include "kernels/ukr/ports.h"
#include "kernels/plan/tune.h"
#include "tests/suites.h"

static struct conv_problem layer(size_t c, size_t side, size_t k, size_t filter, size_t pad)
{
    struct conv_problem p = { .n = 1, .c = c, .h = side, .w = side, .k = k, .r = filter, .s = filter };
    char why[128];

    p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

/* 1 MiB of L2, 32 KiB of L1. */
static const struct csa_caches caches = {
    .l1_bytes = 32768,
    .l2_bytes = 1 << 20,
    .l3_bytes = 1 << 24,
    .line_bytes = 64,
    .l2_cycles = 14,
    .l3_cycles = 50,
    .dram_cycles = 200,
};

/*
 * 7x7 outputs, 512 filters: 3 tiles of 16 windows and one of 1; 21 tiles of 24 filters and one of 8. One step: 16x24
 * takes 4 * (21 * 24 + 8) = 2048 FMAs. With few windows apart, the last window takes 2 FMAs with 24 filters and 1 with
 * 8: 3 * 512 + 21 * 2 + 1 = 1579.
 *
 * AVX2's 16x6 takes two FMAs per filter, and one for the last window: 7 * 512 = 3584. AVX2's 16x24 takes one per six
 * filters there, and two for the last two of 8 filters: 6 * 512 + 21 * 4 + 1 + 2 = 3159.
 */
static void multiply_adds_are_those_worked_out_by_hand(void)
{
    struct conv_problem p = layer(512, 7, 512, 3, 1), q = layer(3, 32, 24, 1, 0);

    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x24__avx512"), &p) == 2048. * 9 * 512);
    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x24_few__avx512"), &p) == 1579. * 9 * 512);
    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x6__avx2"), &p) == 3584. * 9 * 512);
    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x24__avx2"), &p) == 3159. * 9 * 512);
    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x24__ref"), &p) == 49. * 512 * 9 * 512);
    CU_ASSERT(conv_ukr_fmas(conv_ukr_find("f32_16x24__avx512"), &q) == 64. * 24 * 3);
}

/*
 * 32x32 outputs, 8 filters, 3 channels: 64 tiles of 16x24 at 8 FMAs and 9 loads, or 32 of 32x12 at 16 and 10, or 21 of
 * 48x8 at 24 and 11 and a tile of 16 windows at 8 and 9. 24 filters: 24 FMAs, 25 loads; 2 * 24 FMAs; 3 * 24. AVX2: two
 * FMAs per filter. One output, 10 filters and AVX2's 16x24: 6 filters take 1 FMA and 2 loads, 4 filters as many.
 */
static void issue_slots_are_those_worked_out_by_hand(void)
{
    struct conv_problem narrow = layer(3, 32, 8, 1, 0), wide = layer(3, 32, 24, 1, 0), edge = layer(3, 1, 10, 1, 0);
    const struct conv_ukr *u16 = conv_ukr_find("f32_16x24__avx512"), *u32 = conv_ukr_find("f32_32x12__avx512"),
                          *u48 = conv_ukr_find("f32_48x8__avx512"), *u6 = conv_ukr_find("f32_16x6__avx2"),
                          *u24 = conv_ukr_find("f32_16x24__avx2");

    CU_ASSERT(conv_ukr_slots(u16, &narrow) == 64. * 9 * 3);
    CU_ASSERT(conv_ukr_slots(u32, &narrow) == 32. * 16 * 3);
    CU_ASSERT(conv_ukr_slots(u48, &narrow) == (21. * 24 + 9) * 3);
    CU_ASSERT(conv_ukr_slots(u16, &wide) == 64. * 25 * 3);
    CU_ASSERT(conv_ukr_slots(u32, &wide) == 32. * 48 * 3);
    CU_ASSERT(conv_ukr_slots(u48, &wide) == (21. * 72 + 27) * 3);
    CU_ASSERT(conv_ukr_fmas(u48, &wide) == 64. * 24 * 3);
    CU_ASSERT(conv_ukr_slots(u6, &narrow) == 64. * (12 + 4) * 3);
    CU_ASSERT(conv_ukr_slots(u24, &narrow) == 64. * (12 + 4) * 3);
    CU_ASSERT(conv_ukr_slots(u24, &edge) == (2. + 2) * 3);
}

/* Returns a grouped convolution, strided as said. */
static struct conv_problem grouped(size_t per_group, size_t groups, size_t side, size_t filter, size_t stride)
{
    struct conv_problem p = layer(per_group * groups, side, per_group * groups, filter, filter / 2);
    char why[128];

    p.groups = groups;
    p.stride_h = p.stride_w = stride;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

/*
 * 56x56, depthwise 3x3: 7 tiles of 8 rows, 4 vectors of 16 columns or 7 of 8. A column of taps is 3 * 8 multiply-adds
 * and 3 + 10 loads; 100 slots a tile. Stride 2 makes 28 rows, 4 tiles of 7: 3 * 7 multiply-adds, but 3 + 15 * 2 loads,
 * on 2 or 4 vectors. 7x7 outputs are one vector of either width. Dilated taps are taken singly: 8, and 1 + 8 loads.
 */
static void direct_slots_are_those_worked_out_by_hand(void)
{
    struct conv_problem p = grouped(1, 32, 56, 3, 1), strided = grouped(1, 32, 56, 3, 2),
                        few = grouped(4, 32, 56, 3, 1);
    const struct conv_direct *ref = conv_direct_at(0), *avx512 = conv_direct_for(&p, CPU_ISA_AVX512),
                             *avx2 = conv_direct_for(&p, CPU_ISA_AVX2);

    CU_ASSERT_STRING_EQUAL(avx512->name, "f32_direct_8x16__avx512");
    CU_ASSERT_STRING_EQUAL(avx2->name, "f32_direct_8x8__avx2");
    CU_ASSERT(conv_direct_slots(avx512, &p) == 28. * (3 * 24 + 100));
    CU_ASSERT(conv_direct_slots(avx2, &p) == 49. * (3 * 24 + 100));
    CU_ASSERT(conv_direct_slots(ref, &p) == 7 * 56. * (3 * 24 + 100));
    CU_ASSERT(conv_direct_slots(avx512, &strided) == 8. * (3 * 33 + 100));
    CU_ASSERT(conv_direct_slots(avx512, &few) == 4 * 28. * (4 * 3 * 24 + 100));
    CU_ASSERT((double)conv_direct_fmas(avx512, &strided, 9, 2) == 2. * 2 * 3 * 3 * 9);
    p.dilation_h = p.dilation_w = 2;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 2;
    CU_ASSERT(conv_direct_slots(avx512, &p) == 28. * (9 * 9 + 100));
}

/* The chosen micro-kernel of an instruction set; the micro-kernel need not run here. */
static const char *chosen(const struct conv_problem *p, enum cpu_isa isa)
{
    struct conv_plan plan;

    CU_ASSERT(conv_plan_tuned(&plan, p, &caches, &(struct conv_tune_options){ .ukr = conv_ukr_of(isa) }) == 0);
    return conv_plan_kernel_name(&plan);
}

/* The choice for a core with given multiply-adds and loads a cycle, and the tiling. */
static const char *chosen_for(const struct conv_problem *p, double macs, double loads, struct csa_tiling *tiling)
{
    struct csa_caches core = caches;
    struct conv_plan plan;

    core.macs_per_cycle = macs;
    core.loads_per_cycle = loads;
    CU_ASSERT(conv_plan_tuned(&plan, p, &core, &(struct conv_tune_options){ .ukr = conv_ukr_of(CPU_ISA_AVX512) }) == 0);
    *tiling = plan.sconv.tiling;
    return conv_plan_kernel_name(&plan);
}

/*
 * 16x24 makes 25 loads for 24 multiply-adds, 48x8 makes 11. The windows of 48x8 stay in L1: a channel takes (48 + 8) *
 * 4 bytes, the outputs 1536, and 32 KiB hold 139: 512 / 4. The outputs lie on 8 * 4 lines: 31 channels are too few, as
 * 15 filters are. Strided windows are packed.
 */
static void wider_tiles_where_loads_bind(void)
{
    struct conv_problem deep = layer(64, 56, 256, 1, 0), shallow = layer(31, 56, 64, 1, 0),
                        few = layer(256, 56, 15, 1, 0), reduction = layer(512, 28, 128, 1, 0),
                        strided = layer(512, 56, 128, 1, 0);
    struct csa_tiling t;

    strided.stride_h = strided.stride_w = 2;
    strided.p = strided.q = 28;

    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 2, 2, &t), "f32_48x8__avx512");
    CU_ASSERT(t.schedule == CSA_IS);
    CU_ASSERT_STRING_EQUAL(chosen_for(&reduction, 2, 2, &t), "f32_48x8__avx512");
    CU_ASSERT(t.n_c == 128);
    CU_ASSERT_STRING_EQUAL(chosen_for(&strided, 2, 2, &t), "f32_48x8__avx512");
    CU_ASSERT(t.n_c == 128);
    CU_ASSERT_STRING_EQUAL(chosen_for(&strided, 1, 1, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&shallow, 2, 2, &t), "f32_16x24__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&few, 2, 2, &t), "f32_16x24__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 2, 3, &t), "f32_16x24__avx512");
    CU_ASSERT(t.schedule == CSA_WS);
    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 1, 1, &t), "f32_16x24__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 0, 0, &t), "f32_16x24__avx512");
}

/*
 * 7x7 outputs are a tile of 48 windows and one window: 24 + 9 slots of 48x8 for 8 filters. 16x24_few makes 25 loads for
 * most of 24 multiply-adds, 14x32 makes 16 for 28. Sums of 14x32 take 4 steps more, to transpose, and 1568 multiply-adds
 * a step beside 1579: from 58 channels on, the steps are less than a sixteenth more.
 */
static void windows_one_by_one_where_loads_bind(void)
{
    struct conv_problem deep = layer(512, 7, 512, 1, 0), enough = layer(58, 7, 512, 1, 0),
                        few = layer(57, 7, 512, 1, 0);
    struct csa_tiling t;

    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 2, 2, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&enough, 2, 2, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_NOT_EQUAL(chosen_for(&few, 2, 2, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 2, 3, &t), "f32_16x24_few__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&deep, 1, 1, &t), "f32_16x24_few__avx512");
}

/*
 * 56x56 outputs are 65 tiles of 48 windows and one of 16, or 224 tiles of 14: 65 * 24 + 9 slots for 8 filters, 224 * 28
 * for 32. 128 filters are 16 tiles. 14x14 outputs are 4 tiles of 48 and one of 4, over a thirty-second more slots.
 */
static void overlapping_windows_are_packed_for_many_filters(void)
{
    struct conv_problem many = layer(64, 56, 128, 3, 1), fewer = layer(64, 56, 127, 3, 1),
                        small = layer(64, 14, 128, 3, 1);
    struct csa_tiling t;

    CU_ASSERT_STRING_EQUAL(chosen_for(&many, 2, 2, &t), "f32_48x8__avx512");
    CU_ASSERT(t.schedule == CSA_IS);
    CU_ASSERT_STRING_EQUAL(chosen_for(&fewer, 2, 2, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&small, 2, 2, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&many, 2, 3, &t), "f32_14x32__avx512");
    CU_ASSERT_STRING_EQUAL(chosen_for(&many, 1, 1, &t), "f32_14x32__avx512");
}

/* The schedule of 48x8 with given caches, for a core whose loads bind 16x24. */
static enum csa_schedule schedule_in(const struct conv_problem *p, double l1_bytes, double l2_bytes, size_t *n_c)
{
    struct csa_caches core = caches;
    struct conv_plan plan;

    core.macs_per_cycle = core.loads_per_cycle = 2;
    core.l1_bytes = l1_bytes;
    core.l2_bytes = l2_bytes;
    CU_ASSERT(conv_plan_tuned(&plan, p, &core, &(struct conv_tune_options){ .ukr = conv_ukr_of(CPU_ISA_AVX512) }) == 0);
    CU_ASSERT_STRING_EQUAL(conv_plan_kernel_name(&plan), "f32_48x8__avx512");
    *n_c = plan.sconv.tiling.n_c;
    return plan.sconv.tiling.schedule;
}

/*
 * Rows in place stream, in one pass, where half of L2 holds them, half of L1 holds 8 filters of all channels, and 16
 * tiles of filters read the rows: 64 * 56 * 56 * 4 bytes; 512 * 8 * 4 bytes; 128 filters. Elsewhere windows stay in L1.
 */
static void rows_stream_where_l2_holds_them(void)
{
    struct conv_problem wide = layer(64, 56, 128, 1, 0), more = layer(64, 56, 129, 1, 0),
                        deep = layer(512, 28, 128, 1, 0), strided = wide;
    const double wide_bytes = 64 * 56 * 56 * 4, l1_bytes = 2 * 512 * 8 * 4;
    size_t n_c;

    strided.stride_h = strided.stride_w = 2;
    strided.p = strided.q = 28;
    CU_ASSERT(schedule_in(&wide, l1_bytes, 2 * wide_bytes, &n_c) == CSA_WS && n_c == 64);
    CU_ASSERT(schedule_in(&wide, l1_bytes, 2 * wide_bytes - 1, &n_c) == CSA_IS);
    CU_ASSERT(schedule_in(&more, l1_bytes, 2 * wide_bytes, &n_c) == CSA_IS);
    CU_ASSERT(schedule_in(&strided, l1_bytes, 2 * wide_bytes, &n_c) == CSA_IS);
    CU_ASSERT(schedule_in(&deep, l1_bytes, 1 << 22, &n_c) == CSA_WS && n_c == 512);
    CU_ASSERT(schedule_in(&deep, l1_bytes - 1, 1 << 22, &n_c) == CSA_IS && n_c < 512);
}

/*
 * Cores start one or two 512-bit multiply-adds a cycle, and no more than three loads. A second search finds equal
 * numbers, unless another process had the core meanwhile.
 */
static void ports_are_found_by_timing(void)
{
    enum { MOST_ROUNDS = 10 };
    struct conv_ports first, again;

#ifdef TEST_IS_SLOWED
    test_skip("sanitized loops are slower, some more than others");
    return;
#endif
    if (!conv_ports_measure(&first)) {
        CU_ASSERT(!sim_cpu_has(CPU_ISA_AVX512));
        test_skip("no AVX-512 here");
        return;
    }
    CU_ASSERT(sim_cpu_has(CPU_ISA_AVX512) && conv_ports_measure(&again));
    for (int i = 0; i < MOST_ROUNDS && first.macs_per_cycle != again.macs_per_cycle; i++) {
        first = again;
        CU_ASSERT(conv_ports_measure(&again));
    }
    test_check(first.macs_per_cycle == 1 || first.macs_per_cycle == 2, "%g multiply-adds a cycle",
               first.macs_per_cycle);
    test_check(first.loads_per_cycle > 0.2 && first.loads_per_cycle < 3.5, "%g loads a cycle", first.loads_per_cycle);
    test_check(first.macs_per_cycle == again.macs_per_cycle, "%g, then %g multiply-adds a cycle", first.macs_per_cycle,
               again.macs_per_cycle);
}

/* Nothing is gained where all tiles are full; 7x7 outputs gain, and loads where filters are few. */
static void the_micro_kernel_follows_the_edges(void)
{
    struct conv_problem full = layer(64, 56, 64, 1, 0), edges = layer(512, 7, 512, 1, 0),
                        narrow = layer(64, 32, 8, 1, 0);

    CU_ASSERT_STRING_EQUAL(chosen(&full, CPU_ISA_AVX512), "f32_16x24__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&edges, CPU_ISA_AVX512), "f32_16x24_few__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&narrow, CPU_ISA_AVX512), "f32_48x8__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&full, CPU_ISA_AVX2), "f32_16x24__avx2"); /* no slot less, but more to a call */
    CU_ASSERT_STRING_EQUAL(chosen(&edges, CPU_ISA_AVX2), "f32_16x6_few__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&edges, CPU_ISA_MMA), "f32_16x8__mma");
}

/*
 * Depthwise layers are direct, and layers with four channels and filters per group as well; layers with 32 and ordinary
 * layers are not. The narrower of two kernels with equal slots: 7 columns are one vector of 8. Strides that no vector
 * takes apart: the portable kernel, if even the portable kernel is better.
 */
static void few_channels_per_group_are_convolved_directly(void)
{
    struct conv_problem depthwise = grouped(1, 32, 112, 3, 1), strided = grouped(1, 96, 112, 3, 2),
                        large = grouped(1, 480, 14, 5, 1), small = grouped(1, 576, 14, 3, 2),
                        few = grouped(4, 32, 56, 3, 1), many = grouped(32, 32, 7, 3, 1), wide = grouped(1, 8, 56, 3, 3),
                        ordinary = layer(3, 224, 64, 3, 1), pointwise = grouped(12, 4, 56, 1, 1),
                        fewer = grouped(11, 4, 56, 1, 1);

    CU_ASSERT_STRING_EQUAL(chosen(&pointwise, CPU_ISA_AVX2), "f32_16x24__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&fewer, CPU_ISA_AVX2), "f32_pointwise_12x8__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&depthwise, CPU_ISA_AVX512), "f32_direct_8x16__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&depthwise, CPU_ISA_AVX2), "f32_direct_8x8__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&depthwise, CPU_ISA_NONE), "f32_direct_8x1__ref");
    CU_ASSERT_STRING_EQUAL(chosen(&strided, CPU_ISA_AVX512), "f32_direct_8x16__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&large, CPU_ISA_AVX512), "f32_direct_8x16__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&small, CPU_ISA_AVX512), "f32_direct_8x8__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX512), "f32_direct_8x16__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX2), "f32_direct_8x8__avx2");
    for (unsigned isa = 0; isa < CPU_N_ISAS; isa++) {
        CU_ASSERT_PTR_NULL(strstr(chosen(&many, (enum cpu_isa)isa), "direct"));
        CU_ASSERT_PTR_NULL(strstr(chosen(&ordinary, (enum cpu_isa)isa), "direct"));
        CU_ASSERT(conv_direct_for(&wide, (enum cpu_isa)isa) == conv_direct_at(0));
    }
}

/*
 * 18 filters of 8 channels on 3136 windows are 196 vectors of 16: 18 multiply-adds a vector and channel, and 80 slots for
 * each of 49 * 3 tiles of 4 vectors by 6 filters. A single filter loads 8 vectors and its value for 8 multiply-adds: 196 +
 * 25 loads a channel, 25 tiles.
 */
static void pointwise_slots_are_those_worked_out_by_hand(void)
{
    struct conv_problem few = grouped(1, 1, 56, 1, 1), single;
    const struct conv_direct *d;
    char why[128];

    few.groups = 3, few.c = 24, few.k = 54;
    CU_ASSERT_FATAL(conv_problem_finish(&few, SIM_WHY(why)) == 0);
    d = conv_direct_for(&few, CPU_ISA_AVX512);
    CU_ASSERT_STRING_EQUAL(d->name, "f32_pointwise_24x16__avx512");
    CU_ASSERT(conv_direct_slots(d, &few) == 196. * 18 * 8 + 49 * 3 * 80);
    CU_ASSERT((double)conv_direct_fmas(d, &few, 2, 18) == 7. * 8 * 18);
    CU_ASSERT(conv_direct_reread_bytes(d, &few) == (18 + 64) * 8 * 4.);
    single = few, single.groups = 1, single.c = 64, single.k = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&single, SIM_WHY(why)) == 0);
    CU_ASSERT(conv_direct_slots(d, &single) == (196. + 25) * 64 + 25 * 80);
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX512), "f32_pointwise_24x16__avx512");
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX2), "f32_pointwise_12x8__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&single, CPU_ISA_AVX512), "f32_pointwise_24x16__avx512");
}

/*
 * 1000 filters of 512 channels: 63 tiles of 16 rows, 32 vectors, each 1000 + 63 loads, and 80 slots a tile. Eight images
 * are two tiles of four columns by four rows: 32 vectors of 8000 multiply-adds, 2 * 250 tiles. A call has 65,536
 * multiply-adds of an image, in tiles of 16 filters: 128 filters. Small groups share a call.
 */
static void planes_of_one_output_are_a_matrix_by_a_vector(void)
{
    struct conv_problem plane = layer(512, 1, 1000, 1, 0), padded = layer(512, 3, 256, 3, 1), groups, batch;
    const struct conv_direct *d = conv_direct_for(&plane, CPU_ISA_AVX512);
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_STRING_EQUAL(chosen(&plane, CPU_ISA_AVX2), "f32_dot_8x8__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&plane, CPU_ISA_AVX512), "f32_dot_16x16__avx512");
    CU_ASSERT(conv_direct_slots(d, &plane) == 32. * 1063 + 63 * 80);
    batch = plane, batch.n = 8;
    CU_ASSERT(conv_direct_slots(d, &batch) == (32. * 8000 + 500 * 80) / 8);
    CU_ASSERT_FATAL(conv_plan_direct(&plan, &batch, d, 32768) == 0);
    CU_ASSERT(plan.direct.filters == 128 && plan.direct.images == 8 && plan.direct.groups == 1);
    groups = plane, groups.groups = 8, groups.c = 64, groups.k = 64;
    CU_ASSERT_FATAL(conv_problem_finish(&groups, SIM_WHY(why)) == 0);
    CU_ASSERT_FATAL(conv_plan_direct(&plan, &groups, d, 32768) == 0);
    CU_ASSERT(plan.direct.filters == 8 && plan.direct.groups == 8);
    CU_ASSERT(!conv_direct_suits(d, &padded));
    padded.pad_top = padded.pad_left = padded.pad_bottom = padded.pad_right = 0;
    CU_ASSERT_FATAL(conv_problem_finish(&padded, SIM_WHY(why)) == 0);
    CU_ASSERT(conv_direct_suits(d, &padded));
}

/* Steps fill half of L1: rows of a plane, in whole tiles of 8, or several planes. */
static void direct_steps_are_those_worked_out_by_hand(void)
{
    struct conv_problem large = grouped(1, 32, 112, 3, 1), small = grouped(1, 960, 7, 3, 1),
                        few = grouped(4, 4, 7, 3, 1);
    struct conv_plan plan;

    CU_ASSERT(conv_plan_direct(&plan, &large, conv_direct_at(0), 32768) == 0);
    CU_ASSERT(plan.direct.rows == 16 && plan.direct.groups == 1); /* 16384 / (2 * 112 * 4) = 18 */
    CU_ASSERT(conv_plan_direct(&plan, &small, conv_direct_at(0), 32768) == 0);
    CU_ASSERT(plan.direct.rows == 7 && plan.direct.groups == 41); /* 16384 / (2 * 49 * 4) */
    CU_ASSERT(conv_plan_direct(&plan, &few, conv_direct_at(0), 32768) == 0);
    CU_ASSERT(plan.direct.rows == 7 && plan.direct.groups == 4);
    CU_ASSERT(conv_plan_direct(&plan, &large, conv_direct_at(0), 64) == 0);
    CU_ASSERT(plan.direct.rows == 8 && plan.direct.groups == 1);
    CU_ASSERT(plan.algorithm == CONV_DIRECT && !plan.ukr && plan.layout.bytes[CONV_PACKED_INPUT] == 0 &&
              plan.layout.bytes[CONV_PACKED_FILTER] == 0);
}

static const char *const walker = "f32_14x32__avx512", *const packing = "f32_16x24__avx512";

/*
 * Overlapping windows are walked. Not walked: 24 filters, whose second vector is half empty (32 for 24, over 17 / 16);
 * sums of 27 steps, as long as 31 with transposing (31 / 27). Walked: sums of 64 steps, 68, just short enough. Not
 * walked: filters 17 wide.
 */
static void overlapping_windows_are_walked(void)
{
    struct conv_problem square = layer(64, 56, 64, 3, 1), few = layer(64, 56, 24, 3, 1),
                        first = layer(3, 224, 64, 3, 1);
    struct conv_problem at_least = layer(16, 16, 64, 2, 0), less = layer(15, 16, 64, 2, 0),
                        large = layer(8, 32, 64, 17, 0);

    CU_ASSERT_STRING_EQUAL(chosen(&square, CPU_ISA_AVX512), walker);
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX512), packing);
    CU_ASSERT_STRING_EQUAL(chosen(&first, CPU_ISA_AVX512), packing);
    CU_ASSERT_STRING_EQUAL(chosen(&large, CPU_ISA_AVX512), packing);
    at_least.h = less.h = 17, at_least.w = less.w = 33; /* 16 * 32 windows: no edges for either */
    at_least.p = less.p = 16, at_least.q = less.q = 32;
    at_least.k = less.k = 96;
    CU_ASSERT_STRING_EQUAL(chosen(&at_least, CPU_ISA_AVX512), walker);
    CU_ASSERT_STRING_EQUAL(chosen(&less, CPU_ISA_AVX512), packing);
}

/*
 * AVX2 walks side by side if rows stay as wide as they are, and window by window if neighbours in the input are no
 * neighbours in the output: without padding, or strided. Either walk takes longer than packed windows; packing wins for
 * 48 filters, 8 panels of 6; with strides for 72, and for 60 where channels are few. Strided 1x1 overlap nothing. Packed windows
 * stay, and meet one panel a call: of the micro-kernel for few windows where 7x7 outputs end in one window, and 54x54 in
 * four.
 */
static void few_filters_walk_with_avx2(void)
{
    struct conv_problem square = layer(64, 56, 47, 3, 1), many = layer(64, 7, 48, 3, 1),
                        narrower = layer(64, 56, 47, 3, 0), most = layer(64, 56, 48, 3, 0),
                        strided = layer(64, 56, 71, 3, 1), strided_most = layer(64, 56, 72, 3, 1),
                        first = layer(3, 56, 48, 7, 3), first_most = layer(3, 56, 60, 7, 3),
                        pointwise = layer(64, 56, 64, 1, 0);
    struct conv_problem *const apart[] = { &strided, &strided_most, &first, &first_most, &pointwise };

    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        apart[i]->stride_h = apart[i]->stride_w = 2;
        apart[i]->p = apart[i]->q = 28;
    }
    CU_ASSERT_STRING_EQUAL(chosen(&square, CPU_ISA_AVX2), "f32_16x24_taps__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&many, CPU_ISA_AVX2), "f32_16x6_few__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&narrower, CPU_ISA_AVX2), "f32_16x16__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&strided, CPU_ISA_AVX2), "f32_16x16__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&strided_most, CPU_ISA_AVX2), "f32_16x6__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&first, CPU_ISA_AVX2), "f32_16x16__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&first_most, CPU_ISA_AVX2), "f32_16x6__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&most, CPU_ISA_AVX2), "f32_16x6_few__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&pointwise, CPU_ISA_AVX2), "f32_16x6__avx2");
}

static enum csa_schedule schedule_of(const struct conv_problem *p, enum cpu_isa isa)
{
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_plan_tuned(&plan, p, &caches, &(struct conv_tune_options){ .ukr = conv_ukr_of(isa) }) == 0);
    return plan.sconv.tiling.schedule;
}

/*
 * Eq. 6 has AVX2 weight stationary, because the tiles have more filters than windows. Windows stay for sums of 48
 * steps: packed windows always, windows in place if 32 tiles of windows come, and 2 to each of several tiles of
 * filters, and if the windows lie in more pages than a TLB of 64 holds, or as many as the machine says. Windows walked
 * side by side do not stay; windows walked singly do. Planes of 484 elements are no whole lines: 120 filters and
 * channels, 20 panels, pay for packing.
 */
static void few_filters_pass_by_windows_that_stay(void)
{
    struct conv_problem deep = layer(256, 56, 64, 1, 0), small = layer(256, 22, 64, 1, 0),
                        square = layer(64, 56, 47, 3, 1), short_sum = layer(47, 64, 64, 1, 0),
                        shallow = layer(64, 56, 64, 1, 0), wide = layer(65, 56, 98 * 24, 1, 0),
                        wider = layer(65, 56, 98 * 24 + 1, 1, 0), strided = deep, packed = layer(64, 14, 13 * 24, 3, 1),
                        many = layer(64, 14, 13 * 24 + 1, 3, 1), walked = layer(64, 56, 47, 3, 0),
                        rows = layer(120, 22, 120, 1, 0), fewer = layer(120, 22, 119, 1, 0),
                        shorter = layer(119, 22, 120, 1, 0), single = layer(256, 56, 24, 1, 0);

    strided.stride_h = strided.stride_w = 2;
    strided.p = strided.q = 28;
    CU_ASSERT(schedule_of(&deep, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&small, CPU_ISA_AVX2) == CSA_WS); /* 31 tiles */
    CU_ASSERT(schedule_of(&square, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&short_sum, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&shallow, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&wide, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&wider, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&strided, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&packed, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&many, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&rows, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&fewer, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&shorter, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&single, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT(schedule_of(&walked, CPU_ISA_AVX2) == CSA_IS);
    CU_ASSERT(schedule_of(&deep, CPU_ISA_AVX512) == CSA_WS);
}

/*
 * Windows that stay meet one panel of filters a call; a channel takes (16 + 6) * 4 bytes beside 384 of outputs, and 32
 * KiB hold 368. Overlapping windows may take twice as much: 9 * 64 steps of 22 elements are 50,688 bytes, while all
 * filters stay in L2. Windows that stream meet one panel a call, too, if sums are short, 128 tiles of windows come, and
 * planes are no whole lines; or if a tile has 24 filters and fewer steps. A machine with 256 pages in the first TLB lets
 * the windows of 256 channels stream.
 */
static void windows_that_stay_meet_a_panel_a_call(void)
{
    struct conv_problem deep = layer(512, 56, 64, 1, 0), edge = layer(64, 9, 144, 3, 1),
                        at_most = layer(256, 56, 64, 1, 0), large = layer(512, 7, 512, 3, 1),
                        short_sums = layer(32, 54, 128, 1, 0), fewer = layer(32, 27, 128, 1, 0),
                        aligned = layer(32, 56, 128, 1, 0), shortest = layer(23, 56, 24, 1, 0),
                        longer = layer(24, 56, 24, 1, 0);
    const struct conv_tune_options tune = { .ukr = conv_ukr_of(CPU_ISA_AVX2) };
    struct csa_caches core = caches;
    struct conv_plan plan;

    CU_ASSERT(conv_plan_tuned(&plan, &deep, &caches, &tune) == 0);
    CU_ASSERT_STRING_EQUAL(plan.ukr->name, "f32_16x6__avx2");
    CU_ASSERT(plan.sconv.tiling.n_c == 256 && plan.sconv.options.reads_in_place);
    CU_ASSERT(conv_plan_tuned(&plan, &edge, &caches, &tune) == 0 && plan.sconv.tiling.schedule == CSA_IS);
    CU_ASSERT_STRING_EQUAL(plan.ukr->name, "f32_16x6_few__avx2");
    CU_ASSERT(plan.sconv.tiling.n_c == 64);
    CU_ASSERT(conv_plan_tuned(&plan, &large, &caches, &tune) == 0 && plan.sconv.tiling.n_c == 32);
    CU_ASSERT_STRING_EQUAL(chosen(&short_sums, CPU_ISA_AVX2), "f32_16x6_few__avx2");
    CU_ASSERT(schedule_of(&short_sums, CPU_ISA_AVX2) == CSA_WS);
    CU_ASSERT_STRING_EQUAL(chosen(&fewer, CPU_ISA_AVX2), "f32_16x24__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&aligned, CPU_ISA_AVX2), "f32_16x24__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&shortest, CPU_ISA_AVX2), "f32_16x6__avx2");
    CU_ASSERT_STRING_EQUAL(chosen(&longer, CPU_ISA_AVX2), "f32_16x24__avx2");
    core.l1_pages = 256;
    CU_ASSERT(conv_plan_tuned(&plan, &at_most, &core, &tune) == 0 && plan.sconv.tiling.schedule == CSA_WS);
    core.l1_pages = 255;
    CU_ASSERT(conv_plan_tuned(&plan, &at_most, &core, &tune) == 0 && plan.sconv.tiling.schedule == CSA_IS);
}

/* Strided 1x1: walked for up to 8 tiles of 32 filters. Pointwise windows are rows, and rows need no walk. */
static void strided_windows_are_walked_for_few_filters(void)
{
    struct conv_problem few = layer(512, 32, 256, 1, 0), many = layer(512, 32, 288, 1, 0);

    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX512), packing);
    few.stride_h = few.stride_w = many.stride_h = many.stride_w = 2;
    few.p = few.q = many.p = many.q = 16;
    CU_ASSERT_STRING_EQUAL(chosen(&few, CPU_ISA_AVX512), walker);
    CU_ASSERT_STRING_EQUAL(chosen(&many, CPU_ISA_AVX512), packing);
}

/*
 * In place, a channel of a 3x3 tile pair takes (14 + 32 * 9) * 4 = 1208 bytes, the outputs 1792. A quarter of 1 MiB
 * holds 215: 512 / 4 = 128. The input, 49 * 512 floats, is 1568 lines, the filters, 512 * 512 * 9, are 147456; all 4
 * input tiles fit beside a filter tile, so that nothing is loaded twice, but the input from L2 by 15 of 16 filter
 * tiles.
 */
static void tiles_in_place_are_those_worked_out_by_hand(void)
{
    struct conv_problem p = layer(512, 7, 512, 3, 1), strided = layer(512, 8, 512, 1, 0),
                        square = layer(512, 8, 512, 3, 1);
    struct csa_caches small = caches;
    struct csa_tiling t = csa_analyse_in_place(&p, &caches, 14, 32, CSA_WS), s;

    CU_ASSERT(t.n_c == 128 && t.channel_sets == 4 && t.in_tiles == 4 && t.k2 == 4 && t.k3 == 16);
    CU_ASSERT(t.dram_lines == 1568 + 147456 && t.l3_lines == 0 && t.l2_lines == 15. * 1568);
    strided.stride_h = strided.stride_w = 2; /* no more elements than taps */
    strided.p = strided.q = 4;
    s = csa_analyse_in_place(&strided, &caches, 14, 32, CSA_WS);
    CU_ASSERT(s.dram_lines == 16. * 512 / 16 + 512. * 512 / 16);
    /* 16 windows and 24 filters: 928 bytes a channel, 1536 of outputs. 32 KiB hold 33: 512 / 16. */
    CU_ASSERT(csa_analyse_in_l1(&p, &caches, 16, 24, CSA_WS).n_c == 32);
    /* Strided 3x3: four new elements a window, (14 * 4 + 32 * 9) * 4 = 1376. 160,000 bytes hold 114: 512 / 8. */
    square.stride_h = square.stride_w = 2;
    square.p = square.q = 4;
    small.l2_bytes = 640000;
    CU_ASSERT(csa_analyse_in_place(&square, &small, 14, 32, CSA_WS).n_c == 64);
}

/* Without a limit, the widest vectors here are chosen from; a micro-kernel that is to be kept is kept. */
static void the_choice_can_be_limited(void)
{
    struct conv_problem p = layer(512, 7, 512, 3, 1);
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");
    struct conv_plan plan;

    CU_ASSERT(conv_plan_tuned(&plan, &p, &caches, &(struct conv_tune_options){ .ukr = NULL }) == 0);
    CU_ASSERT_STRING_EQUAL(conv_plan_kernel_name(&plan), chosen(&p, conv_ukr_best()->isa));
    CU_ASSERT(conv_plan_tuned(&plan, &p, &caches, &(struct conv_tune_options){ .ukr = u, .keeps_ukr = true }) == 0);
    CU_ASSERT(plan.ukr == u);
    for (size_t i = 0; i < conv_ukr_count(); i++) { /* the suffix of the name is the instruction set */
        const char *name = conv_ukr_at(i)->name;
        enum cpu_isa isa;

        CU_ASSERT_FATAL(sim_cpu_isa_find(strstr(name, "__") + 2, &isa));
        CU_ASSERT(isa == conv_ukr_at(i)->isa && conv_ukr_of(isa)->isa == isa);
    }
    CU_ASSERT(!sim_cpu_isa_find("avx", &(enum cpu_isa){ CPU_ISA_NONE }) &&
              !sim_cpu_isa_find("", &(enum cpu_isa){ CPU_ISA_NONE }));
}

/*
 * A channel of a 3x3 tile pair takes (16 + 24) * 9 * 4 = 1440 bytes and the outputs 1536. Eq. 2: 32768 bytes hold 21
 * channels, so 512 / 32 = 16. An eighth of L2, 131072 bytes, holds 89: 512 / 8 = 64, too many for L1.
 */
static void deep_channels_are_those_worked_out_by_hand(void)
{
    struct conv_problem p = layer(512, 7, 512, 3, 1);
    struct csa_tiling paper = csa_analyse(&p, &caches, 16, 24, CSA_WS),
                      deep = csa_analyse_deep(&p, &caches, 16, 24, CSA_WS);
    struct csa_caches small = caches;

    CU_ASSERT(paper.n_c == 16 && paper.channel_sets == 32 && paper.fits & CSA_FITS_L1);
    CU_ASSERT(deep.n_c == 64 && deep.channel_sets == 8 && !(deep.fits & CSA_FITS_L1) && deep.fits & CSA_FITS_L2);
    small.l2_bytes = small.l1_bytes; /* never less than the paper */
    CU_ASSERT(csa_analyse_deep(&p, &small, 16, 24, CSA_WS).n_c == 16);
}

/* Tells whether a plan with the micro-kernel reads in place. */
static bool is_in_place(const struct conv_problem *p, const char *ukr, double line_bytes)
{
    const struct conv_tune_options tune = { .ukr = conv_ukr_find(ukr), .keeps_ukr = true, .packs_filters = true };
    struct csa_caches with_lines = caches;
    struct conv_plan plan;

    with_lines.line_bytes = line_bytes;
    CU_ASSERT(conv_plan_tuned(&plan, p, &with_lines, &tune) == 0 && plan.sconv.options.packs_filters &&
              plan.sconv.options.prefetches == plan.ukr->prefetches);
    return plan.sconv.options.reads_in_place;
}

/*
 * AVX2 reads windows again for each 6 of 24 filters. In place, a channel of both takes (16 + 24) * 4 bytes, and 32 KiB
 * less 1536 of outputs hold 195: 512 / 4. Packed windows of nine taps and a panel take (16 + 6) * 9 * 4, and hold 40:
 * 512 / 16. Packed windows of 1x1 and a panel take (16 + 6) * 4, and hold 368: 512 / 2. AVX-512's windows, which are
 * read once, are as deep as an eighth of L2 allows, 810 channels.
 */
static void windows_read_again_stay_in_l1(void)
{
    struct conv_problem in_place = layer(512, 20, 128, 1, 0), packed = layer(512, 32, 33 * 24, 1, 0),
                        square = layer(512, 16, 512, 3, 0);
    const struct conv_tune_options avx2 = { .ukr = conv_ukr_of(CPU_ISA_AVX2) },
                                   avx512 = { .ukr = conv_ukr_of(CPU_ISA_AVX512) };
    struct conv_plan plan;

    CU_ASSERT(conv_plan_tuned(&plan, &in_place, &caches, &avx2) == 0 && plan.sconv.options.reads_in_place);
    CU_ASSERT(plan.sconv.tiling.n_c == 128);
    CU_ASSERT(conv_plan_tuned(&plan, &packed, &caches, &avx2) == 0 && !plan.sconv.options.reads_in_place);
    CU_ASSERT(plan.sconv.tiling.n_c == 256);
    CU_ASSERT(conv_plan_tuned(&plan, &square, &caches, &avx2) == 0 && !plan.sconv.options.reads_in_place);
    CU_ASSERT(plan.sconv.tiling.n_c == 32 && csa_analyse_panels(&square, &caches, 16, 24, 6, CSA_WS).n_c == 32);
    CU_ASSERT(conv_plan_tuned(&plan, &in_place, &caches, &avx512) == 0 && plan.sconv.options.reads_in_place);
    CU_ASSERT(plan.sconv.tiling.n_c == 512);
}

/*
 * In place: only pointwise windows. Not in place: planes that are whole pages apart, as 32x32 floats are, and tiles of
 * half a line.
 */
static void windows_are_read_in_place_where_that_pays(void)
{
    struct conv_problem pointwise = layer(64, 28, 64, 1, 0), pages = layer(64, 32, 64, 1, 0),
                        square = layer(64, 28, 64, 3, 1), odd = layer(64, 14, 241, 1, 0);

    CU_ASSERT(is_in_place(&pointwise, "f32_16x24__avx512", 64));
    CU_ASSERT(is_in_place(&pointwise, "f32_16x24__avx2", 64));
    CU_ASSERT(is_in_place(&pointwise, "f32_16x8__mma", 64));
    CU_ASSERT(!is_in_place(&pointwise, "f32_16x8__mma", 128));
    CU_ASSERT(is_in_place(&odd, "f32_16x24__avx2", 64)); /* 784 bytes are 12 lines and a quarter */
    CU_ASSERT(!is_in_place(&pages, "f32_16x24__avx512", 64));
    CU_ASSERT(!is_in_place(&square, "f32_16x24__avx512", 64));
    CU_ASSERT(!is_in_place(&pointwise, "f32_16x24__ref", 64));
}

/* Rows are skipped if some windows need fewer rows of taps, and the filters of a tile are one panel. */
static void rows_of_padding_are_skipped_where_there_are_some(void)
{
    const struct conv_problem padded = layer(64, 28, 64, 3, 1), bare = layer(64, 28, 64, 3, 0);
    struct conv_tune_options tune = { .ukr = conv_ukr_find("f32_16x24__avx512"), .keeps_ukr = true };
    struct conv_ukr panels = *tune.ukr;
    struct conv_plan plan;

    CU_ASSERT(conv_plan_tuned(&plan, &padded, &caches, &tune) == 0 && plan.sconv.options.skips_padding);
    CU_ASSERT(conv_plan_tuned(&plan, &bare, &caches, &tune) == 0 && !plan.sconv.options.skips_padding);
    panels.f_panel = 4;
    tune.ukr = &panels;
    CU_ASSERT(conv_plan_tuned(&plan, &padded, &caches, &tune) == 0 && !plan.sconv.options.skips_padding);
}

static const struct test_case cases[] = {
    { "multiply-adds with edges are those worked out by hand", multiply_adds_are_those_worked_out_by_hand },
    { "issue slots are those worked out by hand", issue_slots_are_those_worked_out_by_hand },
    { "the micro-kernel follows the edges", the_micro_kernel_follows_the_edges },
    { "tiles are wider where loads bind", wider_tiles_where_loads_bind },
    { "windows go one by one where loads bind", windows_one_by_one_where_loads_bind },
    { "overlapping windows are packed for many filters", overlapping_windows_are_packed_for_many_filters },
    { "rows in place stream where L2 holds them", rows_stream_where_l2_holds_them },
    { "what the core issues is found by timing", ports_are_found_by_timing },
    { "the choice can be limited to an instruction set or a micro-kernel", the_choice_can_be_limited },
    { "overlapping windows are walked tap by tap", overlapping_windows_are_walked },
    { "few filters walk with AVX2", few_filters_walk_with_avx2 },
    { "few filters pass by windows that stay", few_filters_pass_by_windows_that_stay },
    { "windows that stay meet a panel a call", windows_that_stay_meet_a_panel_a_call },
    { "strided windows are walked for few filters", strided_windows_are_walked_for_few_filters },
    { "tiles in place are those worked out by hand", tiles_in_place_are_those_worked_out_by_hand },
    { "direct kernels' slots are those worked out by hand", direct_slots_are_those_worked_out_by_hand },
    { "few channels per group are convolved directly", few_channels_per_group_are_convolved_directly },
    { "direct steps are those worked out by hand", direct_steps_are_those_worked_out_by_hand },
    { "slots of pointwise kernels are those worked out by hand", pointwise_slots_are_those_worked_out_by_hand },
    { "planes of one output are a matrix by a vector", planes_of_one_output_are_a_matrix_by_a_vector },
    { "deep channels are those worked out by hand", deep_channels_are_those_worked_out_by_hand },
    { "windows that are read again stay in L1", windows_read_again_stay_in_l1 },
    { "windows are read in place where that pays", windows_are_read_in_place_where_that_pays },
    { "rows of padding are skipped where there are some", rows_of_padding_are_skipped_where_there_are_some },
    { NULL, NULL },
};

const struct test_suite suite_tune = { "tune", cases };
