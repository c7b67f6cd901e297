#include "sim/stats.h"

static void level_add(struct sim_level_counts *dst, const struct sim_level_counts *src)
{
    dst->reads += src->reads;
    dst->read_misses += src->read_misses;
    dst->writes += src->writes;
    dst->write_misses += src->write_misses;
    dst->load_misses += src->load_misses;
    dst->write_backs += src->write_backs;
}

void sim_cell_add(struct sim_cell *dst, const struct sim_cell *src)
{
    dst->loads += src->loads;
    dst->stores += src->stores;
    dst->load_bytes += src->load_bytes;
    dst->store_bytes += src->store_bytes;
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++)
        level_add(&dst->level[k], &src->level[k]);
    dst->memory_read_lines += src->memory_read_lines;
    dst->memory_written_lines += src->memory_written_lines;
}

struct sim_cell sim_stats_tag(const struct sim_stats *s, unsigned tag)
{
    struct sim_cell sum = { 0 };

    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
        sim_cell_add(&sum, &s->cell[tag][phase]);
    return sum;
}

struct sim_cell sim_stats_phase(const struct sim_stats *s, unsigned phase)
{
    struct sim_cell sum = { 0 };

    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++)
        sim_cell_add(&sum, &s->cell[tag][phase]);
    return sum;
}

struct sim_cell sim_stats_total(const struct sim_stats *s)
{
    struct sim_cell sum = { 0 };

    for (unsigned tag = 0; tag < SIM_MAX_TAGS; tag++) {
        struct sim_cell one = sim_stats_tag(s, tag);

        sim_cell_add(&sum, &one);
    }
    return sum;
}
