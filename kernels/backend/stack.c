#include "kernels/backend/stack.h"

#include <assert.h>
#include <string.h>

#include "kernels/backend/resolve.h"

enum { LINE_BYTES = 64, WORD_BYTES = 8, WORDS_PER_LINE = LINE_BYTES / WORD_BYTES };

/* Below all tensors. */
#define STACK_BASE (CONV_REPLAY_BASE / 2)

const char *conv_work_name(enum conv_work w)
{
    static const char *const names[CONV_N_WORKS] = {
        [CONV_WORK_STEP] = "step",
        [CONV_WORK_RUN] = "run",
        [CONV_WORK_LOAD] = "load",
        [CONV_WORK_STORE] = "store",
        [CONV_WORK_PREFETCH] = "prefetch",
        [CONV_WORK_PREFETCH_PASS] = "prefetch_pass",
        [CONV_WORK_INPUT_AHEAD] = "input_ahead",
        [CONV_WORK_FILTER_AHEAD] = "filter_ahead",
        [CONV_WORK_IN_PLACE] = "in_place",
        [CONV_WORK_TAP_ROW] = "tap_row",
        [CONV_WORK_TAP] = "tap",
        [CONV_WORK_PART_TAP] = "part_tap",
        [CONV_WORK_RAGGED_WINDOWS] = "ragged_windows",
        [CONV_WORK_RAGGED_FILTERS] = "ragged_filters",
        [CONV_WORK_MATRIX_ROW] = "matrix_row",
        [CONV_WORK_PLANE_ROW] = "plane_row",
        [CONV_WORK_PANEL_ROW] = "panel_row",
        [CONV_WORK_PLAIN_STEP] = "plain_step",
        [CONV_WORK_PLAIN_LOAD] = "plain_load",
        [CONV_WORK_PLAIN_STORE] = "plain_store",
        [CONV_WORK_TILE] = "tile",
        [CONV_WORK_SEGMENT] = "segment",
        [CONV_WORK_COPY] = "copy",
        [CONV_WORK_PASS] = "pass_of_1",
        [CONV_WORK_PASS + 1] = "pass_of_2",
        [CONV_WORK_PASS + 2] = "pass_of_3",
        [CONV_WORK_PASS + 3] = "pass_of_more",
        [CONV_WORK_PASS + 4] = "pass_of_1_stride_2",
        [CONV_WORK_PASS + 5] = "pass_of_2_stride_2",
        [CONV_WORK_PASS + 6] = "pass_of_3_stride_2",
        [CONV_WORK_PASS + 7] = "pass_of_more_stride_2",
        [CONV_WORK_ROW] = "row_of_1",
        [CONV_WORK_ROW + 1] = "row_of_2",
        [CONV_WORK_ROW + 2] = "row_of_3",
        [CONV_WORK_ROW + 3] = "row_of_more",
        [CONV_WORK_ROW + 4] = "row_of_1_stride_2",
        [CONV_WORK_ROW + 5] = "row_of_2_stride_2",
        [CONV_WORK_ROW + 6] = "row_of_3_stride_2",
        [CONV_WORK_ROW + 7] = "row_of_more_stride_2",
    };

    assert(w < CONV_N_WORKS);
    return names[w];
}

enum conv_phase conv_step_phase(enum conv_step_kind kind)
{
    static const uint8_t phase[CONV_N_STEP_KINDS] = {
        [CONV_STEP_IM2COL] = CONV_PHASE_IM2COL,     [CONV_STEP_ZERO] = CONV_PHASE_ZERO,
        [CONV_STEP_PACK_WINDOWS] = CONV_PHASE_PACK, [CONV_STEP_PACK_MATRIX] = CONV_PHASE_PACK,
        [CONV_STEP_PACK_FILTERS] = CONV_PHASE_PACK, [CONV_STEP_UKR] = CONV_PHASE_UKR,
        [CONV_STEP_DIRECT] = CONV_PHASE_UKR,        [CONV_STEP_PRODUCT] = CONV_PHASE_UKR,
        [CONV_STEP_WINOGRAD_IN] = CONV_PHASE_PACK,  [CONV_STEP_WINOGRAD_FILTERS] = CONV_PHASE_PACK,
        [CONV_STEP_WINOGRAD_OUT] = CONV_PHASE_PACK,
    };

    assert(kind < CONV_N_STEP_KINDS);
    return (enum conv_phase)phase[kind];
}

/* ---- work ---- */

static void meter(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct conv_work_meter *m = (struct conv_work_meter *)self;
    bool prefetches = false;

    for (size_t i = 0; i < n_runs; i++) {
        m->n[run[i].kind] += run[i].count * n_times;
        prefetches |= run[i].kind == SIM_PREFETCH;
    }
    m->prefetch_passes += prefetches ? n_times : 0;
    if (m->to)
        sim_emit(m->to, run, n_runs, n_times);
}

void conv_work_meter_init(struct conv_work_meter *m, struct sim_sink *to)
{
    *m = (struct conv_work_meter){ .sink.accept = meter, .to = to };
}

static void add_taps(const struct conv_taps *t, size_t n_win, double work[CONV_N_WORKS])
{
    const uint32_t whole = (uint32_t)((UINT64_C(1) << n_win) - 1);

    work[CONV_WORK_TAP_ROW] = (double)(t->n_c * t->r);
    for (size_t i = 0; i < t->r * t->s; i++) {
        uint32_t live = t->row_live[i / t->s] & t->column_live[i % t->s] & whole;

        work[CONV_WORK_TAP] += live == whole ? (double)t->n_c : 0;
        work[CONV_WORK_PART_TAP] += live && live != whole ? (double)t->n_c : 0;
    }
}

static void add_ukr(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_step *s,
                    double work[CONV_N_WORKS])
{
    struct conv_ukr_args a = conv_resolve_ukr(plan, bind, s);
    struct conv_taps room;
    const struct conv_taps *taps = conv_resolve_taps(plan, bind, s, &a, &room);

    if (taps)
        add_taps(taps, s->n_win, work);
    work[CONV_WORK_RUN] = !s->goes_on;
    work[CONV_WORK_INPUT_AHEAD] = s->ahead.channels > 0;
    work[CONV_WORK_FILTER_AHEAD] = s->ahead.elems > 0;
    work[CONV_WORK_IN_PLACE] = plan->algorithm == CONV_SCONV && plan->sconv.options.reads_in_place;
    work[CONV_WORK_RAGGED_WINDOWS] = s->n_win % plan->ukr->n_win != 0;
    work[CONV_WORK_RAGGED_FILTERS] = s->n_f % plan->ukr->n_f != 0;
}

static void add_lowering(const struct conv_plan *plan, double work[CONV_N_WORKS])
{
    work[CONV_WORK_MATRIX_ROW] = (double)conv_reduction(&plan->problem);
    work[CONV_WORK_PLANE_ROW] = work[CONV_WORK_MATRIX_ROW] * (double)plan->problem.p;
}

static void add_packing(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_step *s,
                        double work[CONV_N_WORKS])
{
    const struct conv_pack_windows_args a = conv_resolve_pack_windows(plan, bind, s);
    const struct conv_pack_windows *pack = conv_resolve_packer(plan, &a);
    struct conv_pack_work w = { 0 };

    if (!pack->count) {
        work[CONV_WORK_PANEL_ROW] = (double)(s->n_k * ceil_div(a.n_win, a.width));
        work[CONV_WORK_PLAIN_STEP] = 1;
        work[CONV_WORK_PLAIN_LOAD] = work[CONV_WORK_LOAD];
        work[CONV_WORK_PLAIN_STORE] = work[CONV_WORK_STORE];
        work[CONV_WORK_LOAD] = work[CONV_WORK_STORE] = 0;
        return;
    }
    pack->count(pack, &a, &w);
    work[CONV_WORK_TILE] = (double)w.tiles;
    work[CONV_WORK_SEGMENT] = (double)w.segments;
    work[CONV_WORK_COPY] = (double)w.copies;
    for (int path = 0; path < CONV_PACK_PATHS; path++) {
        work[CONV_WORK_PASS + path] = (double)w.passes[path];
        work[CONV_WORK_ROW + path] = (double)w.rows[path];
    }
}

void conv_work_meter_take(struct conv_work_meter *m, const struct conv_plan *plan, const struct conv_binding *bind,
                          const struct conv_step *s, double work[CONV_N_WORKS])
{
    memset(work, 0, CONV_N_WORKS * sizeof *work);
    work[CONV_WORK_STEP] = 1;
    if (s->kind == CONV_STEP_PRODUCT) { /* conv_product_work has the work */
        conv_work_meter_init(m, m->to);
        return;
    }
    work[CONV_WORK_LOAD] = (double)m->n[SIM_LOAD];
    work[CONV_WORK_STORE] = (double)(m->n[SIM_STORE] + m->n[SIM_STORE_NT]);
    work[CONV_WORK_PREFETCH] = (double)m->n[SIM_PREFETCH];
    work[CONV_WORK_PREFETCH_PASS] = (double)m->prefetch_passes;
    conv_work_meter_init(m, m->to);
    if (s->kind == CONV_STEP_UKR)
        add_ukr(plan, bind, s, work);
    else if (s->kind == CONV_STEP_IM2COL)
        add_lowering(plan, work);
    else if (s->kind == CONV_STEP_PACK_MATRIX)
        work[CONV_WORK_PANEL_ROW] = (double)(s->n_k * ceil_div(s->n_win, plan->ukr->n_win));
    else if (s->kind == CONV_STEP_PACK_FILTERS)
        work[CONV_WORK_PANEL_ROW] = (double)(s->n_k * ceil_div(s->n_f, plan->ukr->f_panel));
    else if (s->kind == CONV_STEP_PACK_WINDOWS)
        add_packing(plan, bind, s, work);
}

/* ---- instructions ---- */

/* Instructions for an access without a count: seen in machine code of micro-kernels, packing and their callers. */
#define ASSUMED_FOR_TENSORS 3.0
#define ASSUMED_FOR_STACK 2.5

/* Tells whether a kind of work is done in loops, access by access. Micro-kernels store once a call. */
static bool is_in_loops(enum conv_phase phase, enum conv_work w)
{
    static const enum conv_work loops[] = { CONV_WORK_LOAD, CONV_WORK_PREFETCH,   CONV_WORK_PREFETCH_PASS,
                                            CONV_WORK_TAP,  CONV_WORK_PART_TAP,   CONV_WORK_PLAIN_LOAD,
                                            CONV_WORK_COPY, CONV_WORK_PLAIN_STORE };

    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        if (loops[i] == w)
            return true;
    }
    return w >= CONV_WORK_PASS || (w == CONV_WORK_STORE && phase != CONV_PHASE_UKR);
}

static double accesses(const double work[CONV_N_WORKS])
{
    return work[CONV_WORK_LOAD] + work[CONV_WORK_STORE] + work[CONV_WORK_PLAIN_LOAD] + work[CONV_WORK_PLAIN_STORE];
}

/* A branch and the comparison before it are one operation. */
struct sim_work conv_stack_work(const struct conv_stack *stack, enum conv_phase phase, const double work[CONV_N_WORKS])
{
    const struct conv_stack_phase *p = &stack->phase[phase];
    struct sim_work counted = { 0 }, assumed = { .operations = ASSUMED_FOR_TENSORS * accesses(work) };

    assert(phase < CONV_N_PHASES);
    for (unsigned i = 0; i < CONV_N_WORKS; i++) {
        *(is_in_loops(phase, i) ? &counted.operations : &counted.serial_operations) +=
            (p->instructions[i] - p->branches[i]) * work[i];
        *(is_in_loops(phase, i) ? &assumed.operations : &assumed.serial_operations) +=
            ASSUMED_FOR_STACK * (p->loads[i] + p->stores[i]) * work[i];
    }
    return counted.operations + counted.serial_operations > 0 ? counted : assumed;
}

/* ---- emission ---- */

/* Returns the accesses due now of `each` per unit of work; the fraction is owed on. */
static uint64_t due(const double each[CONV_N_WORKS], const double work[CONV_N_WORKS], double *owed)
{
    uint64_t whole;

    for (int w = 0; w < CONV_N_WORKS; w++)
        *owed += each[w] * work[w];
    whole = *owed > 0 ? (uint64_t)*owed : 0;
    *owed -= (double)whole;
    return whole;
}

static void spread(enum sim_kind kind, enum conv_phase phase, uint32_t lines, uint64_t n, struct sim_sink *sink)
{
    uint64_t sweep = n < lines ? n : n < (uint64_t)lines * WORDS_PER_LINE ? lines : (uint64_t)lines * WORDS_PER_LINE;
    struct sim_run run = {
        .addr = STACK_BASE,
        .stride_bytes = sweep > lines ? WORD_BYTES : LINE_BYTES,
        .count = (uint32_t)sweep,
        .access_bytes = WORD_BYTES,
        .kind = (uint8_t)kind,
        .tag = CONV_STACK,
        .phase = (uint8_t)phase,
    };

    if (!n)
        return;
    sim_emit(sink, &run, 1, n / sweep);
    run.count = (uint32_t)(n % sweep);
    if (run.count)
        sim_emit(sink, &run, 1, 1);
}

void conv_stack_emit(struct conv_stack_emitter *e, enum conv_phase phase, const double work[CONV_N_WORKS],
                     struct sim_sink *sink)
{
    const struct conv_stack_phase *p = &e->stack->phase[phase];
    uint64_t loads = due(p->loads, work, &e->owed_loads[phase]);
    uint64_t stores = due(p->stores, work, &e->owed_stores[phase]);

    assert(phase < CONV_N_PHASES);
    spread(SIM_STORE, phase, p->lines, stores, sink);
    spread(SIM_LOAD, phase, p->lines, loads, sink);
}
