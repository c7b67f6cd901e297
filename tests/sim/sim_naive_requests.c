#include "tests/sim/sim_naive_requests.h"

#include "tests/sim/sim_naive_lines.h"
#include "tests/sim/sim_naive_prefetch.h"

static void deal_with_victim(struct sim_naive *s, size_t k, struct naive_request *r);

/* A read or a write met a line. */
static void meet(struct sim_naive *s, size_t k, struct naive_way *w, const struct naive_request *r)
{
    bool is_late = w->is_unused_prefetch && !r->is_prefetch && s->now < w->comes;

    naive_counts(s, k, w->asker, r->phase)->useful_prefetches += w->is_unused_prefetch;
    naive_counts(s, k, w->asker, r->phase)->late_prefetches += is_late;
    s->stats->prefetcher[k][w->by].useful += w->is_unused_prefetch;
    s->stats->prefetcher[k][w->by].late += is_late;
    w->is_unused_prefetch = false;
    naive_refresh(s, k, w);
}

/* Drops a line that level k took unread from the levels outside that must not have the line. */
static void forget_outside(struct sim_naive *s, size_t k, uint64_t line, unsigned phase)
{
    for (size_t j = k + 1; naive_is_exclusive(s, j); j++)
        naive_drop(s, j, line, phase);
}

/* Tells whether a line was read from memory lately at most SIM_NEAR_LINES before or behind. */
static bool is_near(const struct sim_naive *s, uint64_t line)
{
    const uint64_t kept = s->m.memory_recent_lines > 0 ? s->m.memory_recent_lines : 16;

    for (uint64_t back = 1; back <= s->n_read && back <= kept; back++) {
        const uint64_t other = s->read_lately[(s->n_read - back) % SIM_MAX_RECENT_LINES];

        if ((line > other ? line - other : other - line) <= SIM_NEAR_LINES)
            return true;
    }
    return false;
}

/* Fetches a line of level k from outside; the fetched line may be dirty. */
static struct naive_way fetch(struct sim_naive *s, size_t k, uint64_t line, struct naive_request *r)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    struct naive_way came = { 0 };

    if (k + 1 == s->n_levels) {
        naive_cell(s, r->tag, r->phase)->memory_read_lines++;
        if (s->m.memory_scattered_cycles > 0 && !r->is_instructed && !is_near(s, line)) {
            naive_cell(s, r->tag, r->phase)->memory_scattered_lines++;
            naive_cell(s, r->tag, r->phase)->memory_scattered_ahead += r->is_prefetch;
        }
        s->read_lately[s->n_read++ % SIM_MAX_RECENT_LINES] = line;
    } else {
        uint64_t outer_bytes = s->level[k + 1].shape.line_bytes;

        for (uint64_t o = line * line_bytes / outer_bytes; o <= (line * line_bytes + line_bytes - 1) / outer_bytes; o++)
            came = naive_read_line(s, k + 1, o, r);
    }
    return came;
}

void naive_read_into(struct sim_naive *s, size_t k, uint64_t line, struct naive_request *r,
                     const struct naive_wish *wish)
{
    struct naive_way *w = naive_put(s, k, line, r);
    struct naive_way came = fetch(s, k, line, r);

    if (came.is_dirty) {
        w->is_dirty = true;
        w->owner = came.owner;
    }
    w->is_unused_prefetch = wish;
    w->comes = wish && wish->late ? s->now + wish->late : 0;
    w->asker = wish ? r->tag : 0;
    w->by = wish ? wish->by : 0;
    s->stats->prefetcher[k][w->by].brought += w->is_unused_prefetch;
    deal_with_victim(s, k, r);
}

struct naive_way naive_read_line(struct sim_naive *s, size_t k, uint64_t line, struct naive_request *r)
{
    struct naive_way *w = naive_find(s, k, line);
    struct sim_level_counts *c = naive_counts(s, k, r->tag, r->phase);

    c->reads++;
    naive_classify(s, k, line, !naive_is_exclusive(s, k), naive_is_exclusive(s, k), !w, r);
    naive_watch(s, k, line, w, r);
    if (!w) {
        c->read_misses++;
        c->ahead_misses += r->is_prefetch || r->is_walk;
        r->missed[k] = true;
        if (naive_is_exclusive(s, k))
            return fetch(s, k, line, r);
        naive_read_into(s, k, line, r, NULL);
    } else if (naive_is_exclusive(s, k)) {
        return naive_drop(s, k, line, r->phase);
    } else {
        meet(s, k, w, r);
    }
    return (struct naive_way){ 0 };
}

static void deal_with_victim(struct sim_naive *s, size_t k, struct naive_request *r)
{
    struct naive_way gone = s->level[k].leaving;
    uint64_t line_bytes = s->level[k].shape.line_bytes;

    s->level[k].leaving.is_valid = false;
    if (!gone.is_valid)
        return;
    if (gone.is_dirty) {
        naive_counts(s, k, gone.owner, r->phase)->write_backs++;
        naive_write_data(s, k + 1, (struct naive_data){ gone.line * line_bytes, line_bytes, false, true }, gone.owner,
                         r->phase);
    } else if (naive_is_exclusive(s, k + 1)) {
        naive_counts(s, k + 1, r->tag, r->phase)->clean_fills++;
        naive_classify(s, k + 1, gone.line, true, false, false, r);
        naive_put(s, k + 1, gone.line, r);
        forget_outside(s, k + 1, gone.line, r->phase);
        deal_with_victim(s, k + 1, r);
    }
}

void naive_write_part(struct sim_naive *s, size_t k, struct naive_data d, struct naive_request *r)
{
    const struct sim_level *shape = &s->level[k].shape;
    uint64_t line = d.addr / shape->line_bytes;
    struct naive_way *w = naive_find(s, k, line);
    bool brings_in = naive_is_exclusive(s, k) ? d.is_eviction : !shape->no_write_allocate;
    bool is_new = !w && brings_in;
    bool is_whole = d.bytes == shape->line_bytes;
    bool is_silent = is_whole && (!d.is_store || shape->no_full_store_fetch);

    naive_counts(s, k, r->tag, r->phase)->writes++;
    naive_counts(s, k, r->tag, r->phase)->write_misses += !w;
    naive_classify(s, k, line, brings_in, false, !w, r);
    if (k == 0)
        naive_watch(s, k, line, w, r);
    if (w)
        meet(s, k, w, r);
    if (is_new) {
        w = naive_put(s, k, line, r);
        if (is_silent) {
            forget_outside(s, k, line, r->phase);
        } else {
            struct naive_way came = fetch(s, k, line, r);

            w->is_dirty = came.is_dirty;
            w->owner = came.owner;
        }
    }
    if (w && !shape->is_write_through) {
        w->is_dirty = true;
        w->owner = r->tag;
    } else {
        d.is_eviction = false;
        naive_write_data(s, k + 1, d, r->tag, r->phase);
    }
    if (is_new)
        deal_with_victim(s, k, r);
}

static void write_to_memory(struct sim_naive *s, struct naive_data d, struct sim_cell *cell)
{
    uint64_t line_bytes = s->level[s->n_levels - 1].shape.line_bytes;

    if (d.is_store) {
        cell->memory_stores++;
        cell->memory_store_bytes += d.bytes;
        return;
    }
    for (uint64_t line = d.addr / line_bytes; line <= (d.addr + d.bytes - 1) / line_bytes; line++)
        cell->memory_written_lines++;
}

void naive_write_data(struct sim_naive *s, size_t k, struct naive_data d, unsigned tag, unsigned phase)
{
    struct naive_request r = { .tag = tag, .phase = phase };
    uint64_t end = d.addr + d.bytes;

    if (k == s->n_levels) {
        write_to_memory(s, d, naive_cell(s, tag, phase));
        return;
    }
    while (d.addr < end) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;
        uint64_t next = (d.addr / line_bytes + 1) * line_bytes;

        d.bytes = (next < end ? next : end) - d.addr;
        naive_write_part(s, k, d, &r);
        d.addr = next;
    }
}
