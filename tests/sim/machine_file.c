#include "tests/sim/machine_file.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine_keys.h"
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

/* Tells whether all keys of a section are equal. */
static bool same_keys(const struct sim_key *keys, const void *a, const void *b)
{
    for (const struct sim_key *key = keys; key->name; key++) {
        const char *x = (const char *)a + key->offset, *y = (const char *)b + key->offset;
        const bool is_text = key->kind == SIM_KEY_TEXT || key->kind == SIM_KEY_NAME || key->kind == SIM_KEY_POLICY;

        if (is_text ? strcmp(x, y) : memcmp(x, y, key->bytes))
            return false;
    }
    return true;
}

bool machine_same(const struct sim_machine *a, const struct sim_machine *b)
{
    bool same = a->n_levels == b->n_levels && a->n_tlbs == b->n_tlbs && same_keys(sim_machine_keys, a, b) &&
                same_keys(sim_core_keys, &a->core, &b->core);

    for (size_t k = 0; same && k < a->n_levels; k++) {
        const struct sim_level_draft x = { .level = a->level[k] }, y = { .level = b->level[k] };

        same = !strcmp(x.level.name, y.level.name) && same_keys(sim_cache_keys, &x, &y);
    }
    for (size_t i = 0; same && i < a->n_tlbs; i++)
        same = !strcmp(a->tlb[i].name, b->tlb[i].name) && same_keys(sim_tlb_keys, &a->tlb[i], &b->tlb[i]);
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
    test_check(!machine_read_bytes(&back, text, n_bytes, why) && machine_same(m, &back), "%s: '%s' from\n%s", m->name,
               why, text);
    free(text);
}
