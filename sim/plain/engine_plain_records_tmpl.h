/*
 * Records (record.h), as the plain engine takes them: a template, included after a back-end (see there) and the bursts.
 *
 * Most records of most streams are in the line of the record before or of the one before that. Those change nothing, so
 * they are found a block at a time, by comparing; the others, the heads, are touched in order; and all are counted a
 * block at a time, by comparing again. None of these loops branches on what is found.
 */
#include "sim/plain/engine_plain.h"
#include "sim/record.h"

enum {
    BLOCK_RECORDS = 64,
    BATCH_BLOCKS = 16, /* so many blocks go through one loop before they go through the next */
    BATCH_RECORDS = BATCH_BLOCKS * BLOCK_RECORDS,
    CLASS_MASK = (1 << SIM_RECORD_BYTES_SHIFT) - 1,   /* kind, tag and phase of a record */
    SHAPE_MASK = (1 << SIM_RECORD_ADDRESS_SHIFT) - 1, /* and width */
};

/*
 * What the records of a block are to the ones before them. A repeat of the record before: same line, kind, tag, phase
 * and width. An alternation: the same as the record before that one, whose line is still in front of its set because
 * the record between is in another set. Either finds its line settled. Neither of it and those that it rests on
 * straddles.
 */
struct block {
    uint64_t repeats, alternates, straddles; /* a bit per record, the first in bit 0 */
};

struct record_masks {
    uint64_t same; /* what two accesses of one line, kind, tag, phase and width have in common */
    uint64_t set;  /* the set number in a record; 0 if it is no field of bits */
    uint64_t line_bytes;
};

static inline unsigned straddles(uint64_t record, const struct record_masks *m)
{
    return (sim_record_addr(record) & (m->line_bytes - 1)) + sim_record_bytes(record) > m->line_bytes;
}

/* Compares n records with the two before each, record[-1] and record[-2] included. */
static inline struct block compare_some(const uint64_t *record, size_t n, const struct record_masks *m)
{
    struct block b = { 0 };

    for (size_t i = 0; i < n; i++) {
        uint64_t x = record[i] ^ record[(ptrdiff_t)i - 1], y = record[i] ^ record[(ptrdiff_t)i - 2];

        b.repeats |= (uint64_t) !(x & m->same) << i;
        b.alternates |= (uint64_t)(!(y & m->same) && x & m->set) << i;
        b.straddles |= (uint64_t)straddles(record[i], m) << i;
    }
    return b;
}

#ifndef HAS_COMPARE_BLOCK
static inline struct block compare_block(const uint64_t *record, const struct record_masks *m)
{
    return compare_some(record, BLOCK_RECORDS, m);
}
#endif

/* Records counted by kind, tag and phase, their low bits; to be added to the statistics at the end. */
struct record_counts {
    uint64_t n[CLASS_MASK + 1];
    uint64_t bytes[CLASS_MASK + 1];
};

static inline void count_records(struct record_counts *counts, uint64_t record, uint64_t n)
{
    counts->n[record & CLASS_MASK] += n;
    counts->bytes[record & CLASS_MASK] += n * sim_record_bytes(record);
}

#ifndef HAS_COMPARE_BLOCK
/* Counts those of a block that a bit is set for. Most are of the two shapes that came last. */
static inline void count_block(struct record_counts *counts, const uint64_t *record, uint64_t which)
{
    uint64_t last = record[0], other = record[0], n_last = 0, n_other = 0;

    for (; which; which &= which - 1) {
        uint64_t r = record[__builtin_ctzll(which)];

        if (!((r ^ last) & SHAPE_MASK)) {
            n_last++;
        } else if (!((r ^ other) & SHAPE_MASK)) {
            n_other++;
        } else {
            count_records(counts, other, n_other);
            other = last;
            n_other = n_last;
            last = r;
            n_last = 1;
        }
    }
    count_records(counts, last, n_last);
    count_records(counts, other, n_other);
}
#endif

/* None of them straddles, so each touched one line. */
static void add_counts(struct sim_plain *h, const struct record_counts *counts)
{
    for (size_t which = 0; which < CLASS_MASK + 1; which++) {
        struct sim_cell *cell = &h->stats.cell[sim_record_tag(which)][sim_record_phase(which)];
        unsigned kind = sim_record_kind(which);

        if (!counts->n[which])
            continue;
        sim_count_accesses(cell, kind, counts->n[which], counts->bytes[which]);
        if (kind != SIM_PREFETCH)
            *(kind == SIM_LOAD ? &cell->level[0].reads : &cell->level[0].writes) += counts->n[which];
    }
}

/*
 * Nothing rests on a straddling record just before it, which has touched another set too; `last` tells of the record
 * before the block. One that straddles two records before is as good as any: whoever has its width and first line but
 * does not straddle is no wider than a line, so it covered two lines, of different sets.
 */
static inline void rest_on_no_straddling(struct block *b, uint64_t last)
{
    uint64_t not_alone = b->straddles | b->straddles << 1 | last;

    b->repeats &= ~not_alone;
    b->alternates &= ~not_alone;
}

/* A batch of records: what has to be touched, in order. */
struct batch {
    const uint64_t *record;
    size_t n;
    uint64_t straddles[BATCH_BLOCKS];
    bool has_straddling;
    uint16_t head[BATCH_RECORDS + 8]; /* places in record[] */
    size_t n_heads;
};

/* Notes the places of bits, eight at a time: how many there are is hard to predict, how many eights is not. */
static inline void note_heads(struct batch *batch, size_t place, uint64_t bits)
{
    uint16_t *head = batch->head + batch->n_heads;

    batch->n_heads += (size_t)__builtin_popcountll(bits);
    while (bits) {
        for (size_t i = 0; i < 8; i++) {
            head[i] = (uint16_t)(place + (bits ? (size_t)__builtin_ctzll(bits) : 0));
            bits &= bits - 1;
        }
        head += 8;
    }
}

/* Compares the records of a batch; `last` is 1 if the one before it straddles. Returns that of its own last. */
static uint64_t compare_batch(struct sim_plain *h, struct batch *batch, const struct record_masks *m, uint64_t last)
{
    batch->n_heads = 0;
    batch->has_straddling = false;
    for (size_t i = 0; i < batch->n; i += BLOCK_RECORDS) {
        size_t left = batch->n - i;
        bool is_whole = left >= BLOCK_RECORDS;
        struct block b = is_whole ? compare_block(batch->record + i, m) : compare_some(batch->record + i, left, m);
        uint64_t valid = is_whole ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;

        if (b.straddles | last)
            rest_on_no_straddling(&b, last);
        batch->has_straddling |= b.straddles != 0;
        batch->straddles[i / BLOCK_RECORDS] = b.straddles;
        last = b.straddles >> (BLOCK_RECORDS - 1);
        h->bursts.paths.merged_records += (size_t)__builtin_popcountll(b.repeats);
        h->bursts.paths.alternating_records += (size_t)__builtin_popcountll(b.alternates & ~b.repeats);
        note_heads(batch, i, ~(b.repeats | b.alternates) & valid);
    }
    return last;
}

static inline bool head_straddles(const struct batch *batch, size_t i)
{
    return batch->straddles[batch->head[i] / BLOCK_RECORDS] >> batch->head[i] % BLOCK_RECORDS & 1;
}

static bool take_straddling(struct sim_plain *h, uint64_t record)
{
    const uint64_t addr = sim_record_addr(record);
    const uint32_t bytes = sim_record_bytes(record);

    if (!can_access(h, addr, bytes))
        return false;
    h->bursts.paths.straddling_records++;
    take_access(h, &(const struct sim_run){ .addr = addr,
                                            .count = 1,
                                            .access_bytes = bytes,
                                            .kind = (uint8_t)sim_record_kind(record),
                                            .tag = (uint8_t)sim_record_tag(record),
                                            .phase = (uint8_t)sim_record_phase(record) });
    return true;
}

/* Returns how many heads it could touch. */
static size_t touch_batch(struct sim_plain *h, const struct batch *batch)
{
    size_t i = 0;

    while (i < batch->n_heads) {
        size_t end = batch->has_straddling ? i : batch->n_heads, done;

        while (end < batch->n_heads && !head_straddles(batch, end))
            end++;
        done = touch_records(h, batch->record, batch->head + i, end - i);
        h->bursts.paths.lone_records += done;
        i += done;
        if (i < end || i == batch->n_heads)
            break;
        if (!take_straddling(h, batch->record[batch->head[i]]))
            break;
        i++;
    }
    return i;
}

/* Counts the first n records of a batch, but for those that straddle, which count themselves. */
static void count_batch(struct record_counts *counts, const struct batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i += BLOCK_RECORDS) {
        uint64_t valid = n - i >= BLOCK_RECORDS ? ~(uint64_t)0 : ((uint64_t)1 << (n - i)) - 1;

        count_block(counts, batch->record + i, valid & ~batch->straddles[i / BLOCK_RECORDS]);
    }
}

/* Takes a batch of at most BATCH_RECORDS. Returns how many it could take. */
static size_t take_batch(struct sim_plain *h, struct batch *batch, struct record_counts *counts)
{
    size_t n_touched = touch_batch(h, batch);
    size_t n = n_touched < batch->n_heads ? batch->head[n_touched] : batch->n;

    count_batch(counts, batch, n);
    return n;
}

/* The first two have nothing before them to be compared with, so each is a head. */
static uint64_t start_batch(struct batch *batch, const struct record_masks *m)
{
    batch->straddles[0] = 0;
    batch->n_heads = batch->n;
    for (size_t i = 0; i < batch->n; i++) {
        batch->head[i] = (uint16_t)i;
        batch->straddles[0] |= (uint64_t)straddles(batch->record[i], m) << i;
    }
    batch->has_straddling = batch->straddles[0] != 0;
    return batch->straddles[0] >> 1;
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
    uint64_t last = start_batch(&batch, &m);
    size_t i = take_batch(h, &batch, &counts);
    bool all = i == batch.n;

    while (all && i < n) {
        size_t taken;

        batch.record = record + i;
        batch.n = n - i < BATCH_RECORDS ? n - i : BATCH_RECORDS;
        last = compare_batch(h, &batch, &m, last);
        taken = take_batch(h, &batch, &counts);
        all = taken == batch.n;
        i += taken;
    }
    add_counts(h, &counts);
    if (!all) {
        sim_plain_widen(h);
        h->variant->records(base, record + i, n - i);
    }
}
