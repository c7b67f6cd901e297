#include "tests/sim/worked.h"

#include <stddef.h>
#include <stdlib.h>

#include "tests/sim/sim_pair.h"

/* ---- counts ---- */

struct count {
    const char *name;
    size_t at;
};

#define CELL(n)                                                                                                        \
    {                                                                                                                  \
#n, offsetof(struct sim_cell, n)                                                                               \
    }
#define LEVEL(n)                                                                                                       \
    {                                                                                                                  \
#n, offsetof(struct sim_level_counts, n)                                                                       \
    }
#define TLB(n)                                                                                                         \
    {                                                                                                                  \
#n, offsetof(struct sim_tlb_counts, n)                                                                         \
    }
#define PREFETCHER(n)                                                                                                  \
    {                                                                                                                  \
#n, offsetof(struct sim_prefetch_counts, n)                                                                    \
    }

/* Stores the count of a name in a list of counts, which stand in a struct. */
static bool find(const struct count *list, size_t n, const char *name, const void *of, uint64_t *count)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i].name, name)) {
            memcpy(count, (const char *)of + list[i].at, sizeof *count);
            return true;
        }
    }
    return false;
}

static bool find_count(const struct pair *p, const char *name, uint64_t *count)
{
    static const struct count cells[] = { CELL(loads),
                                          CELL(stores),
                                          CELL(load_bytes),
                                          CELL(store_bytes),
                                          CELL(memory_read_lines),
                                          CELL(memory_written_lines),
                                          CELL(memory_stores),
                                          CELL(memory_store_bytes),
                                          CELL(nt_stores),
                                          CELL(software_prefetches) };
    static const struct count levels[] = { LEVEL(reads),
                                           LEVEL(read_misses),
                                           LEVEL(load_misses),
                                           LEVEL(writes),
                                           LEVEL(write_misses),
                                           LEVEL(write_backs),
                                           LEVEL(clean_fills),
                                           LEVEL(back_invalidations),
                                           LEVEL(compulsory_misses),
                                           LEVEL(capacity_misses),
                                           LEVEL(conflict_misses),
                                           LEVEL(prefetch_fills),
                                           LEVEL(useful_prefetches),
                                           LEVEL(useless_prefetches) };
    static const struct count tlbs[] = { TLB(uses), TLB(misses) };
    static const struct count prefetchers[] = { PREFETCHER(asked), PREFETCHER(brought), PREFETCHER(useful) };
    const struct sim_cell sum = total(p);
    const char *dot = strchr(name, '.');

    if (!dot)
        return find(cells, COUNT(cells), name, &sum, count);
    if (*name == 'L')
        return find(levels, COUNT(levels), dot + 1, &sum.level[name[1] - '1'], count);
    if (*name == 't')
        return find(tlbs, COUNT(tlbs), dot + 1, &sum.tlb[name[3] - '1'], count);
    return find(prefetchers, COUNT(prefetchers), dot + 1,
                &(struct sim_prefetch_counts[]){
                    sim_stats_prefetcher(sim_hierarchy_stats(p->h), 0, *name == 's' ? SIM_SOFTWARE_PREFETCHER : 0) },
                count);
}

/* ---- words ---- */

/* Does an access: "l1", "s1x64", "l1+60x8". */
static void access_line(struct pair *p, const char *word, enum sim_kind kind, uint32_t bytes)
{
    char *end;
    uint64_t addr = strtoull(word + 1, &end, 10) * LINE;

    if (*end == '+')
        addr += strtoull(end + 1, &end, 10);
    if (*end == 'x')
        bytes = (uint32_t)strtoul(end + 1, &end, 10);
    CU_ASSERT(!*end);
    touch_at(p, kind, addr, bytes);
}

static void play(struct pair *p, const char *title, char *word)
{
    char *equals = strchr(word, '=');
    uint64_t count = 0;

    if (equals) {
        const uint64_t want = strtoull(equals + 1, NULL, 10);

        *equals = '\0';
        test_check(find_count(p, word, &count) && count == want, "%s: %s: not %" PRIu64, title, word, want);
    } else if (*word == 'h' || *word == 'm') {
        test_check(misses(p, strtoull(word + 1, NULL, 10)) == (*word == 'm'), "%s: %s does not", title, word);
    } else if (*word == 'f') {
        flush(p);
    } else {
        const bool is_wide = *word == 'n' || *word == 'p';

        access_line(p, word,
                    *word == 'l'   ? SIM_LOAD
                    : *word == 's' ? SIM_STORE
                    : *word == 'n' ? SIM_STORE_NT
                                   : SIM_PREFETCH,
                    is_wide ? 16 : 4);
    }
}

void worked_try(const struct worked *example, size_t n, const struct sim_engine *engine)
{
    for (const struct worked *w = example; w < example + n; w++) {
        struct pair p = build_by(engine, &w->machine);
        char *words = strdup(w->words), *rest = NULL;

        for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
            play(&p, w->name, word);
        CU_ASSERT(!sim_hierarchy_error(p.h));
        free(words);
        release(&p);
    }
}
