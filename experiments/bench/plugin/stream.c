/* Converts a plug-in's recorded accesses into the simulator's: memory gets addresses, loops become bursts. */
#include "experiments/bench/plugin/stream.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "kernels/shape/layout.h"

enum {
    MAX_PERIOD = SIM_MAX_BURST_RUNS,
    LEAST_TIMES = 3,
    PAGE_SHIFT = 12,
    KEPT_PAGES = 64,
    LOOP_PAGES = 3,
    ENOUGH_TIMES = 32,
    LEAST_MACS = 4 /* of computing code, for each store outside the output */
};

_Static_assert(1 << PAGE_SHIFT == CONV_PAGE_BYTES, "pages are the project's");

/* The workspace lies behind all bound tensors. */
#define WORKSPACE_BASE ((uint64_t)1 << 54)
#define REGION_ROOM ((uint64_t)1 << 40)

/* ---- pages of the workspace ---- */

/* An open-addressed table: a page's number plus one (0: free), and the page's place. */
struct pages {
    uint64_t *page, *place;
    size_t n, room; /* room: a power of two */
    uint64_t kept_page[KEPT_PAGES], kept_place[KEPT_PAGES];
};

static size_t slot_of(const struct pages *p, uint64_t page)
{
    size_t i = (size_t)(page * 0x9e3779b97f4a7c15u >> 20) & (p->room - 1);

    while (p->page[i] && p->page[i] != page + 1)
        i = (i + 1) & (p->room - 1);
    return i;
}

static void grow(struct pages *p)
{
    const struct pages old = *p;

    p->room = old.room ? 2 * old.room : 1024;
    p->page = exp_new(p->room, sizeof *p->page);
    p->place = exp_new(p->room, sizeof *p->place);
    for (size_t i = 0; i < old.room; i++) {
        const size_t to = old.page[i] ? slot_of(p, old.page[i] - 1) : 0;

        if (old.page[i]) {
            p->page[to] = old.page[i];
            p->place[to] = old.place[i];
        }
    }
    free(old.page);
    free(old.place);
}

/* Returns the place of a known page, or 0. */
static uint64_t find_known_page(const struct pages *p, uint64_t page)
{
    const size_t kept = page % KEPT_PAGES;
    size_t i;

    if (p->kept_page[kept] == page + 1)
        return p->kept_place[kept];
    i = p->room ? slot_of(p, page) : 0;
    return p->room && p->page[i] ? p->place[i] : 0;
}

/* Finds a page's place; a new page gets the next place. */
static uint64_t find_page(struct pages *p, uint64_t page)
{
    const size_t kept = page % KEPT_PAGES;
    size_t i;

    if (p->kept_page[kept] == page + 1)
        return p->kept_place[kept];
    if (2 * p->n >= p->room)
        grow(p);
    i = slot_of(p, page);
    if (!p->page[i]) {
        p->page[i] = page + 1;
        p->place[i] = (WORKSPACE_BASE >> PAGE_SHIFT) + p->n++;
    }
    p->kept_page[kept] = page + 1;
    p->kept_place[kept] = p->place[i];
    return p->place[i];
}

/* ---- from records to the simulator's accesses ---- */

/* Memory with a fixed place. */
struct area {
    uint64_t at, bytes, to;
    uint8_t tag;
};

struct exp_plugin_stream {
    struct sim_sink *sink;
    const struct exp_plugin_clock *clock; /* may be NULL */
    struct pages pages;
    struct area area[CONV_RECORDER_TENSORS + CONV_RECORDER_REGIONS];
    size_t n_areas, last;
    uint8_t phase; /* begun by a mark, or guessed */
    bool is_marked;
    uint64_t stack_at, stack_bytes;
    uint64_t stored_bytes[CONV_N_TENSORS];                          /* to check that the recorded run did the work */
    uint32_t next[WATCH_RING_RECORDS];                              /* the next record of the site */
    uint32_t mark[WATCH_RING_RECORDS + 1];                          /* begins of phases; the end */
    size_t other_at[MAX_PERIOD + 1], other_step_at[MAX_PERIOD + 1]; /* known ends of periods */
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n_runs;
};

static uint8_t tag_of_region(const char *name)
{
    static const struct {
        const char *name;
        uint8_t tag;
    } known[] = { { "packed input", CONV_PACKED_INPUT }, { "packed filters", CONV_PACKED_FILTER } };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(name, known[i].name))
            return known[i].tag;
    }
    return CONV_IM2COL;
}

static const struct area *area_of(struct exp_plugin_stream *s, uint64_t address)
{
    if (address - s->area[s->last].at < s->area[s->last].bytes)
        return &s->area[s->last];
    for (size_t i = 0; i < s->n_areas; i++) {
        if (address - s->area[i].at < s->area[i].bytes) {
            s->last = i;
            return &s->area[i];
        }
    }
    return NULL;
}

/* Returns the phase with a number of the plug-in's header. */
static uint8_t phase_of(unsigned phase)
{
    static const uint8_t phases[WATCH_RECORD_PHASES] = { [CONV_PLUGIN_COMPUTES] = CONV_PHASE_UKR,
                                                         [CONV_PLUGIN_PACKS] = CONV_PHASE_PACK,
                                                         [CONV_PLUGIN_LOWERS] = CONV_PHASE_IM2COL,
                                                         [CONV_PLUGIN_CLEARS] = CONV_PHASE_ZERO };

    return phases[phase % WATCH_RECORD_PHASES];
}

static void flush_singles(struct exp_plugin_stream *s)
{
    if (s->n_runs)
        sim_emit(s->sink, s->run, s->n_runs, 1);
    s->n_runs = 0;
}

/* Makes a run of an access; member by member, because a copy of a struct waits for recent writes. */
static void fill_run(const struct exp_plugin_stream *s, struct sim_run *run, uint64_t record, uint64_t address,
                     uint32_t bytes, uint8_t tag, int64_t step)
{
    run->addr = address;
    run->stride_bytes = 0;
    run->step_bytes = step;
    run->count = 1;
    run->access_bytes = bytes;
    run->kind = watch_record_is_store(record) ? SIM_STORE : SIM_LOAD;
    run->tag = tag;
    run->phase = s->phase;
}

static void add_single(struct exp_plugin_stream *s, uint64_t record, uint64_t address, uint32_t bytes, uint8_t tag)
{
    fill_run(s, &s->run[s->n_runs++], record, address, bytes, tag, 0);
    if (s->n_runs == SIM_MAX_BURST_RUNS)
        flush_singles(s);
}

/* Adds an access to the workspace; an access across two pages with separate places becomes two. */
static void add_to_workspace(struct exp_plugin_stream *s, uint64_t record, uint64_t address, uint32_t bytes)
{
    const uint32_t left = CONV_PAGE_BYTES - address % CONV_PAGE_BYTES;
    const uint64_t place = find_page(&s->pages, address >> PAGE_SHIFT);
    const uint64_t next = bytes > left ? find_page(&s->pages, (address >> PAGE_SHIFT) + 1) : 0;
    const bool is_split = next && next != place + 1;

    add_single(s, record, ((place + 1) << PAGE_SHIFT) - left, is_split ? left : bytes, CONV_IM2COL);
    if (is_split)
        add_single(s, record, next << PAGE_SHIFT, bytes - left, CONV_IM2COL);
}

static void add_access(struct exp_plugin_stream *s, uint64_t record)
{
    const uint64_t address = watch_record_address(record);
    const uint32_t bytes = watch_record_bytes(record);
    const struct area *area = area_of(s, address);
    uint64_t inside;

    if (!area) {
        add_to_workspace(s, record, address, bytes);
        return;
    }
    inside = area->at + area->bytes - address; /* a masked vector may reach over the end without an access there */
    s->stored_bytes[area->tag] += watch_record_is_store(record) ? bytes : 0;
    add_single(s, record, area->to + (address - area->at), inside < bytes ? (uint32_t)inside : bytes, area->tag);
}

/* ---- loops: a burst is simulated faster than single accesses ---- */

/* Tells whether two records of one kind, with addresses `step` apart, are of one instruction. */
static bool is_same_site(uint64_t step)
{
    return step + WATCH_RECORD_PHASE < 2 * WATCH_RECORD_PHASE;
}

/* Returns the first record from n on whose access changes its step; or the end. */
static size_t end_of_steps(const uint64_t *a, size_t n, size_t end, size_t period)
{
    while (n < end && a[n] - a[n - period] == a[n - period] - a[n - 2 * period])
        n++;
    return n;
}

/*
 * Tells whether a period repeats LEAST_TIMES from record i on, each access with a step of its own. The end of the
 * period is remembered: a period that begins a little later ends there, too.
 */
static bool is_loop(struct exp_plugin_stream *s, const uint64_t *a, size_t i, size_t end, size_t period)
{
    const size_t enough = i + LEAST_TIMES * period;
    size_t *other = &s->other_at[period], *other_step = &s->other_step_at[period], n = i + period;

    if (enough > end || (*other >= n && *other < enough) || (*other_step >= n + period && *other_step < enough))
        return false;
    for (; n < i + 2 * period; n++) {
        if (!is_same_site(a[n] - a[n - period])) {
            *other = n;
            return false;
        }
    }
    n = end_of_steps(a, n, enough, period);
    if (n < enough)
        *(is_same_site(a[n] - a[n - period]) ? other_step : other) = n;
    return n == enough;
}

/* Returns how many steps from an address on stay within [at, at + bytes), including the width; the first step does. */
static uint64_t times_within(uint64_t address, uint32_t width, int64_t step, uint64_t at, uint64_t bytes)
{
    if (address - at + width > bytes)
        return 0;
    if (!step)
        return UINT64_MAX;
    return 1 + (step > 0 ? (bytes - (address - at) - width) / (uint64_t)step : (address - at) / (uint64_t)-step);
}

static bool has_area(const struct exp_plugin_stream *s, uint64_t page)
{
    for (size_t i = 0; i < s->n_areas; i++) {
        if (s->area[i].at >> PAGE_SHIFT <= page && (s->area[i].at + s->area[i].bytes - 1) >> PAGE_SHIFT >= page)
            return true;
    }
    return false;
}

/* Returns how many pages behind or before (way: 1 or -1) a page have consecutive places; a few at most. */
static uint64_t count_neighbours(const struct exp_plugin_stream *s, uint64_t page, uint64_t place, int64_t way)
{
    uint64_t n = 0;

    for (uint64_t next = page + (uint64_t)way; n < LOOP_PAGES && !has_area(s, next); next += (uint64_t)way, n++) {
        place += (uint64_t)way;
        if (find_known_page(&s->pages, next) != place)
            break;
    }
    return n;
}

/* Does the work of place_run for memory without an area. */
static uint64_t place_in_pages(struct exp_plugin_stream *s, uint64_t record, int64_t step, struct sim_run *run)
{
    const uint64_t address = watch_record_address(record), page = address >> PAGE_SHIFT;
    const uint32_t bytes = watch_record_bytes(record);
    uint64_t place, most, neighbours;

    if (has_area(s, page))
        return 0;
    place = find_page(&s->pages, page);
    fill_run(s, run, record, (place << PAGE_SHIFT) + address % CONV_PAGE_BYTES, bytes, CONV_IM2COL, step);
    most = times_within(address, bytes, step, page << PAGE_SHIFT, CONV_PAGE_BYTES);
    if (most >= ENOUGH_TIMES)
        return most;
    neighbours = count_neighbours(s, page, place, step < 0 ? -1 : 1);
    return times_within(address, bytes, step, (page - (step < 0 ? neighbours : 0)) << PAGE_SHIFT,
                        (1 + neighbours) << PAGE_SHIFT);
}

/*
 * Places a run of a loop while all accesses keep their steps: in one area, or in consecutive pages of the workspace.
 * Returns how many of n_times are placed; the rest is placed later.
 */
static size_t place_run(struct exp_plugin_stream *s, uint64_t record, int64_t step, size_t n_times, struct sim_run *run)
{
    const uint64_t address = watch_record_address(record);
    const uint32_t bytes = watch_record_bytes(record);
    const struct area *area = area_of(s, address);
    uint64_t most;

    if (area) {
        fill_run(s, run, record, area->to + (address - area->at), bytes, area->tag, step);
        most = times_within(address, bytes, step, area->at, area->bytes);
    } else {
        most = place_in_pages(s, record, step, run);
    }
    return most < n_times ? (size_t)most : n_times;
}

static void emit_loop(struct exp_plugin_stream *s, struct sim_run *run, size_t period, size_t n_times)
{
    for (size_t k = 0; k < period; k++)
        s->stored_bytes[run[k].tag] += run[k].kind == SIM_STORE ? n_times * run[k].access_bytes : 0;
    if (period == 1) {
        run[0].stride_bytes = run[0].step_bytes;
        run[0].step_bytes = 0;
        run[0].count = (uint32_t)n_times;
        n_times = 1;
    }
    flush_singles(s);
    sim_emit(s->sink, run, period, n_times);
}

/* Returns how many records from i on form a loop, and emits the loop; 0: no loop. */
static size_t take_loop(struct exp_plugin_stream *s, const uint64_t *record, size_t i, size_t end)
{
    const size_t period = s->next[i] - i;
    struct sim_run run[MAX_PERIOD];
    size_t n_times = (end - i) / period;

    if (period > MAX_PERIOD || !is_loop(s, record, i, end, period))
        return 0;
    for (size_t k = 0; k < period; k++) {
        const int64_t step = (int64_t)(record[i + k + period] - record[i + k]);
        const size_t placed = place_run(s, record[i + k], step, n_times, &run[k]);

        if (placed < LEAST_TIMES) {
            s->other_at[period] = i + placed * period + k;
            return 0;
        }
        n_times = placed;
    }
    n_times = (end_of_steps(record, i + LEAST_TIMES * period, i + n_times * period, period) - i) / period;
    emit_loop(s, run, period, n_times);
    return period * n_times;
}

/* Finds the next record of each site, and the records that begin phases. Returns the number of phases. */
static size_t find_next(struct exp_plugin_stream *s, const uint64_t *record, size_t n)
{
    uint32_t last[WATCH_RECORD_SITES];
    size_t n_marks = 0;

    memset(last, 0xff, sizeof last);
    for (size_t i = n; i-- > 0;) {
        uint32_t *same = &last[watch_record_site(record[i])];

        s->next[i] = *same;
        *same = (uint32_t)i;
        if (record[i] & WATCH_RECORD_PHASE)
            s->mark[n_marks++] = (uint32_t)i;
    }
    memset(s->other_at, 0, sizeof s->other_at);
    memset(s->other_step_at, 0, sizeof s->other_step_at);
    return n_marks;
}

/* Guesses the phase of a block of code without marks. */
static void guess_phase(struct exp_plugin_stream *s, const uint64_t *record, size_t n, uint64_t macs)
{
    size_t n_scratch = 0;

    for (size_t i = 0; i < n; i++) {
        if (watch_record_is_store(record[i])) {
            const uint64_t address = watch_record_address(record[i]);
            const struct area *area = area_of(s, address);

            n_scratch += (!area || area->tag != CONV_OUTPUT) && address - s->stack_at >= s->stack_bytes;
        }
    }
    s->phase = LEAST_MACS * n_scratch > macs ? CONV_PHASE_PACK : CONV_PHASE_UKR;
}

/* Hands on the work of a block, whose accesses were handed on. */
static void hand_on_work(const struct exp_plugin_stream *s, const struct watch_work work[WATCH_RECORD_PHASES])
{
    for (unsigned p = 0; p < WATCH_RECORD_PHASES && s->clock; p++) {
        const struct sim_work w = { (double)work[p].operations, (double)work[p].serial, (double)work[p].macs,
                                    (double)work[p].loops, 0 };

        if (w.operations + w.serial_operations > 0)
            s->clock->step(s->clock->ctx, s->is_marked ? phase_of(p) : s->phase, &w);
    }
}

static void hand_on_records(struct exp_plugin_stream *s, const uint64_t *record, size_t n, size_t n_marks)
{
    size_t i = 0;

    for (;;) {
        const size_t end = n_marks ? s->mark[--n_marks] : n;

        for (size_t taken; i < end; i += taken) {
            taken = take_loop(s, record, i, end);
            if (taken)
                continue;
            taken = 1;
            add_access(s, record[i]);
        }
        if (i == n)
            break;
        s->phase = phase_of((unsigned)record[i++]);
    }
    flush_singles(s);
}

void exp_plugin_stream_block(struct exp_plugin_stream *s, const struct watch_block *b)
{
    const size_t n = b->n < WATCH_RING_RECORDS ? b->n : WATCH_RING_RECORDS, n_marks = find_next(s, b->record, n);

    if (n_marks && !s->is_marked)
        s->phase = phase_of(CONV_PLUGIN_COMPUTES);
    s->is_marked = s->is_marked || n_marks;
    if (!s->is_marked)
        guess_phase(s, b->record, n, b->work[CONV_PLUGIN_COMPUTES].macs);
    hand_on_records(s, b->record, n, n_marks);
    hand_on_work(s, b->work);
}

/* ---- the whole ---- */

struct exp_plugin_stream *exp_plugin_stream_new(struct sim_sink *sink, const struct exp_plugin_clock *clock)
{
    struct exp_plugin_stream *s = exp_new(1, sizeof *s);

    s->sink = sink;
    s->clock = clock;
    s->phase = phase_of(CONV_PLUGIN_COMPUTES);
    return s;
}

void exp_plugin_stream_free(struct exp_plugin_stream *s)
{
    free(s->pages.page);
    free(s->pages.place);
    free(s);
}

void exp_plugin_stream_place(struct exp_plugin_stream *s, const struct conv_recorder *shared)
{
    static const uint8_t tags[] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

    for (size_t t = 0; t < CONV_RECORDER_TENSORS; t++)
        s->area[s->n_areas++] =
            (struct area){ shared->tensor[t].at, shared->tensor[t].bytes, shared->tensor[t].at, tags[t] };
    s->stack_at = shared->stack.at;
    s->stack_bytes = shared->stack.bytes;
    for (size_t i = 0; i < shared->n_regions && i < CONV_RECORDER_REGIONS; i++) {
        const struct conv_recorder_region *g = &shared->region[i];

        s->area[s->n_areas++] = (struct area){ g->memory.at, g->memory.bytes,
                                               WORKSPACE_BASE + (i + 1) * REGION_ROOM + g->memory.at % CONV_PAGE_BYTES,
                                               tag_of_region(g->name) };
    }
}

uint64_t exp_plugin_stream_stored(const struct exp_plugin_stream *s, enum conv_tensor tensor)
{
    return s->stored_bytes[tensor];
}
