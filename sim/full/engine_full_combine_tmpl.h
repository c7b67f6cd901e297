/*
 * The full engine's write-combining buffers: units (2^unit_shift bytes, aligned) written by non-temporal stores and not
 * yet by memory. hierarchy.h has the rules. Part of engine_full_tmpl.h.
 */
#include <string.h>

static void write_buffer(struct sim_full *e, size_t i, unsigned phase)
{
    unsigned last_shift = e->level[e->n_levels - 1].line_shift;

    sim_hierarchy_cell(&e->base, e->buffer[i].owner, phase)->memory_written_lines += (uint64_t)1
                                                                                     << (e->unit_shift - last_shift);
    e->n_buffers--;
    e->n_changes++;
    memmove(&e->buffer[i], &e->buffer[i + 1], (e->n_buffers - i) * sizeof e->buffer[0]);
}

/* Returns the index of a unit's buffer; n_buffers: the unit has no buffer. */
static size_t find_buffer(const struct sim_full *e, uint64_t unit)
{
    size_t i = 0;

    while (i < e->n_buffers && e->buffer[i].unit != unit)
        i++;
    return i;
}

static void drop_unit(struct sim_full *e, uint64_t unit, unsigned phase)
{
    uint64_t addr = unit << e->unit_shift;
    uint64_t last = addr + ((uint64_t)1 << e->unit_shift) - 1;
    uint16_t flags;

    for (size_t k = 0; k < e->n_levels; k++) {
        for (uint64_t line = addr >> e->level[k].line_shift; line <= last >> e->level[k].line_shift; line++)
            drop(e, k, line, phase, &flags);
    }
}

static void combine(struct sim_full *e, uint64_t unit, const struct sim_full_request *r)
{
    size_t i;

    drop_unit(e, unit, r->phase);
    i = find_buffer(e, unit);
    if (i == e->n_buffers) {
        if (e->n_buffers == e->machine.combining_buffers)
            write_buffer(e, 0, r->phase);
        i = e->n_buffers++;
        e->buffer[i].unit = unit;
    }
    e->buffer[i].owner = (uint8_t)r->tag;
}

static void drain_unit(struct sim_full *e, uint64_t unit, const struct sim_full_request *r)
{
    size_t i = find_buffer(e, unit);

    if (i < e->n_buffers)
        write_buffer(e, i, r->phase);
}

static void drain(struct sim_full *e, unsigned phase)
{
    while (e->n_buffers)
        write_buffer(e, 0, phase);
}

static bool is_buffered(const struct sim_full *e, uint64_t unit)
{
    return find_buffer(e, unit) < e->n_buffers;
}
