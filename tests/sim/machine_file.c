#include "tests/sim/machine_file.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scratch.h"
#include "tests/suites.h"

int machine_read_bytes(struct sim_machine *m, const char *bytes, size_t n_bytes, char *why)
{
    char said[MACHINE_WHY_BYTES] = "";
    const char *path;
    int err;

    path = scratch_write("machine", bytes, n_bytes);
    err = sim_machine_read(m, path, said, sizeof said);
    scratch_clear();
    if (!strncmp(said, path, strlen(path)))
        snprintf(why, MACHINE_WHY_BYTES, "FILE%s", said + strlen(path));
    else
        snprintf(why, MACHINE_WHY_BYTES, "%s", said);
    return err;
}

int machine_read_text(struct sim_machine *m, const char *text, char *why)
{
    return machine_read_bytes(m, text, strlen(text), why);
}

static bool same_options(const struct sim_level *x, const struct sim_level *y)
{
    return x->bandwidth_bytes_per_cycle == y->bandwidth_bytes_per_cycle && x->seed == y->seed &&
           x->n_slices == y->n_slices && x->inclusion == y->inclusion && x->is_write_through == y->is_write_through &&
           x->no_write_allocate == y->no_write_allocate && x->no_full_store_fetch == y->no_full_store_fetch &&
           x->is_physically_indexed == y->is_physically_indexed && x->is_classified == y->is_classified &&
           !memcmp(x->prefetch, y->prefetch, sizeof x->prefetch);
}

static bool same_issue(const struct sim_issue *a, const struct sim_issue *b)
{
    return a->clock_ghz == b->clock_ghz && a->mac_rows == b->mac_rows && a->mac_columns == b->mac_columns &&
           a->mac_instructions_per_cycle == b->mac_instructions_per_cycle && a->loads_per_cycle == b->loads_per_cycle &&
           a->stores_per_cycle == b->stores_per_cycle;
}

static bool same_machine_options(const struct sim_machine *a, const struct sim_machine *b)
{
    bool same = a->memory_bandwidth_bytes_per_cycle == b->memory_bandwidth_bytes_per_cycle &&
                a->memory_scattered_cycles == b->memory_scattered_cycles && a->page_bytes == b->page_bytes &&
                a->frame_bytes == b->frame_bytes && a->page_tables == b->page_tables && a->page_seed == b->page_seed &&
                a->combining_buffers == b->combining_buffers && a->has_software_prefetch == b->has_software_prefetch &&
                a->has_stack == b->has_stack && a->n_tlbs == b->n_tlbs && same_issue(&a->issue, &b->issue);

    for (size_t i = 0; same && i < a->n_tlbs; i++)
        same = !strcmp(a->tlb[i].name, b->tlb[i].name) && a->tlb[i].n_entries == b->tlb[i].n_entries &&
               a->tlb[i].n_ways == b->tlb[i].n_ways;
    return same;
}

static bool same_machine(const struct sim_machine *a, const struct sim_machine *b)
{
    bool same = !strcmp(a->name, b->name) && !strcmp(a->description, b->description) && !strcmp(a->ukr, b->ukr) &&
                !strcmp(a->gemm_core, b->gemm_core) && a->n_levels == b->n_levels &&
                a->memory_latency_cycles == b->memory_latency_cycles && same_machine_options(a, b);

    for (size_t k = 0; same && k < a->n_levels; k++) {
        const struct sim_level *x = &a->level[k];
        const struct sim_level *y = &b->level[k];

        same = !strcmp(x->name, y->name) && !strcmp(x->policy, y->policy) && x->n_sets == y->n_sets &&
               x->n_ways == y->n_ways && x->line_bytes == y->line_bytes && x->latency_cycles == y->latency_cycles &&
               same_options(x, y);
    }
    return same;
}

void machine_check_round_trip(const struct sim_machine *m)
{
    struct sim_machine back;
    char *text = NULL;
    size_t n_bytes = 0;
    char why[MACHINE_WHY_BYTES] = "";
    FILE *out = open_memstream(&text, &n_bytes);

    CU_ASSERT_FATAL(out != NULL);
    CU_ASSERT(!sim_machine_print(m, out));
    fclose(out);
    test_check(!machine_read_bytes(&back, text, n_bytes, why) && same_machine(m, &back), "%s: '%s' from\n%s", m->name,
               why, text);
    free(text);
}
