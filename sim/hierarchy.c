/* The facade: chooses an engine and passes every call on to the engine. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "sim/base/record.h"

int sim_engine_new_tags(struct sim_hierarchy **h, const struct sim_engine *e, const struct sim_machine *m,
                        unsigned n_tags)
{
    int err;

    assert(h && e && m);
    *h = NULL;
    if (!n_tags || n_tags > SIM_MAX_TAGS || sim_machine_validate(m, NULL, 0) || !e->can_run(m))
        return -EINVAL;
    err = e->create(h, m, n_tags);
    if (!err)
        (*h)->engine = e;
    return err;
}

int sim_engine_new(struct sim_hierarchy **h, const struct sim_engine *e, const struct sim_machine *m)
{
    return sim_engine_new_tags(h, e, m, SIM_USUAL_TAGS);
}

int sim_hierarchy_init_stats(struct sim_hierarchy *h, size_t n_levels, unsigned n_tags)
{
    const size_t n_rows = sim_stats_rows(n_tags);

    assert(n_levels && n_levels <= SIM_MAX_LEVELS && n_tags && n_tags <= SIM_MAX_TAGS);
    h->stats = calloc(n_rows, sizeof *h->stats);
    if (!h->stats)
        return -ENOMEM;
    h->n_tags = n_tags;
    for (size_t i = 0; i < n_rows; i++)
        h->stats[i].n_levels = n_levels;
    return 0;
}

void sim_hierarchy_release_stats(struct sim_hierarchy *h)
{
    free(h->stats);
}

void sim_hierarchy_zero_stats(struct sim_hierarchy *h)
{
    for (size_t i = 0; i < sim_stats_rows(h->n_tags); i++)
        h->stats[i] = (struct sim_stats){ .n_levels = h->stats[i].n_levels };
}

void sim_hierarchy_complete(struct sim_hierarchy *follower, const struct sim_hierarchy *leader, size_t n_shared)
{
    assert(follower->n_tags == leader->n_tags && n_shared <= follower->stats->n_levels);
    for (unsigned tag = 0; tag < follower->n_tags; tag++) {
        for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++) {
            struct sim_cell *own = sim_hierarchy_cell(follower, tag, phase), whole;

            whole = *sim_stats_cell(leader->stats, tag, phase);
            memcpy(whole.level + n_shared, own->level + n_shared, (SIM_MAX_LEVELS - n_shared) * sizeof whole.level[0]);
            whole.memory_read_lines = own->memory_read_lines;
            whole.memory_scattered_lines = own->memory_scattered_lines;
            whole.memory_scattered_ahead = own->memory_scattered_ahead;
            whole.memory_written_lines = own->memory_written_lines;
            *own = whole;
        }
    }
    memcpy(follower->stats->prefetcher, leader->stats->prefetcher, n_shared * sizeof leader->stats->prefetcher[0]);
}

void sim_hierarchy_free(struct sim_hierarchy *h)
{
    if (h)
        h->engine->free(h);
}

int sim_hierarchy_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels)
{
    assert(follower && leader);
    if (!n_levels || !leader->engine->follow || leader->engine != follower->engine || leader == follower ||
        leader->n_tags != follower->n_tags)
        return -ENOTSUP;
    return leader->engine->follow(follower, leader, n_levels);
}

struct sim_sink *sim_hierarchy_sink(struct sim_hierarchy *h)
{
    assert(h);
    return &h->sink;
}

void sim_records_as_bursts(struct sim_hierarchy *h, const uint64_t *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sim_run run = sim_record_run(record[i]);

        sim_emit(&h->sink, &run, 1, 1);
    }
}

void sim_hierarchy_records(struct sim_hierarchy *h, const uint64_t *record, size_t n)
{
    assert(h && (record || !n));
    h->engine->records(h, record, n);
}

const struct sim_stats *sim_hierarchy_stats(const struct sim_hierarchy *h)
{
    assert(h);
    return h->engine->stats(h);
}

int sim_hierarchy_error(const struct sim_hierarchy *h)
{
    assert(h);
    h->engine->stats(h); /* deferred counting may fail */
    return h->err;
}

void sim_hierarchy_touch(struct sim_hierarchy *h, const struct sim_run *lines)
{
    assert(h && lines && lines->kind <= SIM_STORE);
    if (!h->engine->touch || !h->engine->touch(h, lines))
        sim_emit(&h->sink, lines, 1, 1);
}

void sim_hierarchy_touch_far(struct sim_hierarchy *h, const struct sim_run *lines)
{
    assert(h && lines && lines->kind <= SIM_STORE);
    if (!h->engine->touch_far || !h->engine->touch_far(h, lines))
        sim_emit(&h->sink, lines, 1, 1);
}

bool sim_hierarchy_reads_ahead(struct sim_hierarchy *h, const struct sim_run *lines)
{
    assert(h && lines && lines->count);
    return h->engine->reads_ahead && h->engine->reads_ahead(h, lines);
}

void sim_hierarchy_begin_skip(struct sim_hierarchy *h)
{
    assert(h);
    if (h->engine->begin_skip)
        h->engine->begin_skip(h);
}

void sim_hierarchy_end_skip(struct sim_hierarchy *h)
{
    assert(h);
    if (h->engine->end_skip)
        h->engine->end_skip(h);
}

void sim_hierarchy_set_pace(struct sim_hierarchy *h, unsigned phase, double request_cycles, double window_requests)
{
    assert(h && phase < SIM_MAX_PHASES && request_cycles >= 0 && window_requests >= 0);
    h->pace[phase] = (struct sim_pace){ request_cycles, window_requests };
}

void sim_hierarchy_clear_stats(struct sim_hierarchy *h)
{
    assert(h);
    h->engine->clear_stats(h);
}

void sim_hierarchy_clear(struct sim_hierarchy *h)
{
    assert(h);
    h->engine->clear(h);
}

void sim_hierarchy_flush(struct sim_hierarchy *h, unsigned phase)
{
    assert(phase < SIM_MAX_PHASES);
    h->engine->flush(h, phase);
}
