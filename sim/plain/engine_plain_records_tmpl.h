/*
 * The plain engine's front-end of records (record.h): a template, included after the variant's parts (records.h), a
 * back-end and the bursts. The back-end defines
 *
 *   ready_records(h, record, n)   makes *n records, each within one line, ready to be touched, in place; drops records
 *                                 that touch nothing. False if a record cannot be touched: then the engine must change
 *                                 to wide words before the first touch
 *   touch_ready(h, record, n)     touches ready records, in order
 *
 * Most records of most streams are in the line of the record before or of the record two before. These records change
 * nothing, and a comparison finds them a block at a time. The remaining records, the heads, are touched in order; all
 * records are counted a block at a time, by comparison, too. No loop here branches on the result of a comparison.
 */
#include "sim/plain/engine_plain.h"
#include "sim/plain/records.h"

enum {
    BATCH_BLOCKS = 4, /* blocks that go through a loop before they go through the next loop */
    BATCH_RECORDS = BATCH_BLOCKS * BLOCK_RECORDS,
};

/* No record straddles, so each touched a single line. */
static void add_counts(struct sim_plain *h, const struct record_counts *counts)
{
    for (size_t which = 0; which < CLASS_MASK + 1; which++) {
        struct sim_cell *cell = &h->base.stats->cell[sim_record_tag(which)][sim_record_phase(which)];
        unsigned kind = sim_record_kind(which);

        if (!counts->n[which])
            continue;
        sim_count_accesses(cell, kind, counts->n[which], counts->bytes[which]);
        if (kind != SIM_PREFETCH)
            *(kind == SIM_LOAD ? &cell->level[0].reads : &cell->level[0].writes) += counts->n[which];
    }
}

/* ---- records without effect ---- */

/* Returns the last bit of each run of set bits of odd length. Bit 63 is a run by itself. */
static inline uint64_t ends_of_odd_runs(uint64_t bits)
{
    const uint64_t even = 0x5555555555555555, top = (uint64_t)1 << 63;
    uint64_t runs = bits & ~top, starts = runs & ~(runs << 1);
    uint64_t after_even = (runs + (starts & even)) & ~runs, after_odd = (runs + (starts & ~even)) & ~runs;

    return ((after_even & ~even) | (after_odd & even)) >> 1 | (bits & top);
}

/*
 * Returns the records of a block that need not be touched. No straddling record is among them, and no record that
 * depends on a straddling record before; bits 63 and 62 of `before` tell if the two records before the block straddle.
 *
 * A repeat finds its line in front of its set, in the state in which it would leave the line. A return to the line of
 * the record two before finds the same, if the record between was in another set. If the record between was, or may
 * have been, in the same set, and the set has two ways, then the two lines are the first two of the set, and either may
 * come to the front, any number of times: an even number of swaps changes nothing, and of an odd number of swaps the
 * last swap alone has the effect of all.
 */
static inline uint64_t settled_records(struct sim_plain *h, const struct block *b, uint64_t before)
{
    const uint64_t after_straddling = b->straddles << 1 | before >> 63;
    const uint64_t later = after_straddling | b->straddles << 2 | before >> 62;
    uint64_t repeats = b->repeats & ~(b->straddles | after_straddling);
    uint64_t alternates = b->returns & b->moves & ~(b->straddles | later | repeats);
    uint64_t swaps = h->level[0].n_ways > 1 ? b->returns & ~(b->moves | b->straddles | later | repeats) : 0;

    swaps &= ~ends_of_odd_runs(swaps);
    h->bursts.paths.merged_blocks += repeats != 0;
    h->bursts.paths.alternating_blocks += alternates != 0;
    h->bursts.paths.swapping_blocks += swaps != 0;
    return repeats | alternates | swaps;
}

/* ---- batches ---- */

/* A batch of records, and its heads in order. */
struct batch {
    const uint64_t *record;
    size_t n;
    uint64_t straddles[BATCH_BLOCKS];
    bool has_straddling;
    uint64_t head[BATCH_RECORDS + 8];
    size_t n_heads;
};

/* The first n bits, or all 64. */
static inline uint64_t first_bits(size_t n)
{
    return n < BLOCK_RECORDS ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* Prefetches the records a batch ahead for the host: the host's prefetchers stop at the ends of pages. */
static inline void expect_block(const uint64_t *record)
{
    const uintptr_t ahead = (uintptr_t)record + BATCH_RECORDS * sizeof *record; /* perhaps beyond the last record */

    for (size_t i = 0; i < BLOCK_RECORDS * sizeof *record; i += 64)
        __builtin_prefetch((const void *)(ahead + i));
}

/*
 * Appends the chosen records of a block, eight at a time: the number of records is hard to predict, the number of
 * eights is not.
 */
static inline void add_heads(struct batch *batch, const uint64_t *record, uint64_t chosen)
{
    uint64_t *head = batch->head + batch->n_heads;

    batch->n_heads += (size_t)__builtin_popcountll(chosen);
    for (; chosen; head += 8) {
        for (size_t i = 0; i < 8; i++) {
            head[i] = record[chosen ? __builtin_ctzll(chosen) : 0];
            chosen &= chosen - 1;
        }
    }
}

/*
 * Finds the heads of a batch. `before`: the straddling records of the block before. Returns the straddling records of
 * the last block.
 */
static uint64_t find_heads(struct sim_plain *h, struct batch *batch, const struct record_masks *m, uint64_t before)
{
    batch->n_heads = 0;
    batch->has_straddling = false;
    for (size_t i = 0; i < batch->n; i += BLOCK_RECORDS) {
        const uint64_t *record = batch->record + i;
        size_t left = batch->n - i;
        struct block b = left >= BLOCK_RECORDS ? compare_block(record, m) : compare_some(record, left, m);

        expect_block(record);
        batch->has_straddling |= b.straddles != 0;
        batch->straddles[i / BLOCK_RECORDS] = b.straddles;
        add_heads(batch, record, first_bits(left) & ~settled_records(h, &b, before));
        before = b.straddles;
    }
    return before;
}

static void take_straddling(struct sim_plain *h, uint64_t record)
{
    const struct sim_run run = {
        .addr = sim_record_addr(record),
        .count = 1,
        .access_bytes = sim_record_bytes(record),
        .kind = (uint8_t)sim_record_kind(record),
        .tag = (uint8_t)sim_record_tag(record),
        .phase = (uint8_t)sim_record_phase(record),
    };

    h->bursts.paths.straddling_records++;
    take_access(h, &run);
}

/*
 * Touches heads, with straddling records among them, one by one. Returns false, with nothing touched, if a head cannot
 * be touched.
 */
static __attribute__((noinline)) bool touch_mixed(struct sim_plain *h, uint64_t *head, size_t n,
                                                  const struct record_masks *m)
{
    for (size_t i = 0; i < n; i++) {
        if (sim_record_kind(head[i]) != SIM_PREFETCH &&
            !can_access(h, sim_record_addr(head[i]), sim_record_bytes(head[i])))
            return false;
    }
    for (size_t i = 0, end = 0; i < n; i = ++end) {
        size_t n_ready;

        while (end < n && !straddles(head[end], m))
            end++;
        n_ready = end - i;
        ready_records(h, head + i, &n_ready);
        touch_ready(h, head + i, n_ready);
        if (end == n)
            break;
        take_straddling(h, head[end]);
    }
    return true;
}

static bool touch_heads(struct sim_plain *h, struct batch *batch, const struct record_masks *m)
{
    h->bursts.paths.lone_records += batch->n_heads;
    if (batch->has_straddling)
        return touch_mixed(h, batch->head, batch->n_heads, m);
    if (!ready_records(h, batch->head, &batch->n_heads))
        return false;
    touch_ready(h, batch->head, batch->n_heads);
    return true;
}

/* Counts the records of a batch without straddling records, which count themselves. */
static void count_batch(struct record_counts *counts, const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i += BLOCK_RECORDS)
        count_block(counts, batch->record + i, first_bits(batch->n - i) & ~batch->straddles[i / BLOCK_RECORDS]);
}

/* The first two records are heads, because nothing stands before them for a comparison. */
static uint64_t start_batch(struct batch *batch, const struct record_masks *m)
{
    batch->straddles[0] = 0;
    batch->n_heads = batch->n;
    for (size_t i = 0; i < batch->n; i++) {
        batch->head[i] = batch->record[i];
        batch->straddles[0] |= (uint64_t)straddles(batch->record[i], m) << i;
    }
    batch->has_straddling = batch->straddles[0] != 0;
    return batch->straddles[0] << (BLOCK_RECORDS - 2);
}

static void records(struct sim_hierarchy *base, const uint64_t *record, size_t n)
{
    struct sim_plain *h = (struct sim_plain *)base;
    const struct sim_plain_level *c = &h->level[0];
    const struct record_masks m = {
        .same = ~((uint64_t)(c->line_bytes - 1) << SIM_RECORD_ADDRESS_SHIFT),
        .set = c->has_mask ? c->set_mask << (SIM_RECORD_ADDRESS_SHIFT + c->line_shift) : 0,
        .line_bytes = c->line_bytes,
    };
    struct record_counts counts = { 0 };
    struct batch batch = { .record = record, .n = n < 2 ? n : 2 };
    uint64_t before = start_batch(&batch, &m);
    size_t i = 0;

    while (i < n && touch_heads(h, &batch, &m)) {
        count_batch(&counts, &batch);
        i += batch.n;
        batch.record = record + i;
        batch.n = n - i < BATCH_RECORDS ? n - i : BATCH_RECORDS;
        before = find_heads(h, &batch, &m, before);
    }
    add_counts(h, &counts);
    if (i < n) {
        sim_plain_widen(h);
        h->variant->records(base, record + i, n - i);
    }
}
