/*
 * `make counters`: which counters this computer has, and whether they count known work rightly. If the computer has no
 * counters: the kernel's refusal, the cause and the remedy.
 */
#include <stdio.h>
#include <string.h>

#include "counters/proof/ctr_counters.h"
#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/group/ctr_quantity.h"
#include "counters/perf/ctr_watch.h"

static const char *const groups[] = { "COMMON", "CACHE" };

enum { N_GROUPS = sizeof groups / sizeof groups[0] };

static void print_missing(const struct ctr_counters *c)
{
    for (size_t i = 0; i < ctr_n_quantities(); i++) {
        const char *name = ctr_quantity_at(i)->name;

        if (ctr_group_metric_index(c->group, name) == c->group->n_metrics)
            printf("  %-32s  not available: this CPU does not count it (%s says why)\n", name, c->group->path);
    }
}

/* Returns whether the group could be opened. */
static bool print_group(const char *name)
{
    struct ctr_counters c;
    char why[1024];

    if (ctr_counters_open(&c, &ctr_source_perf, CTR_GROUPS_DIR, NULL, name, SIM_WHY(why))) {
        printf("counters: not available: %s\n", why);
        return false;
    }
    ctr_counters_print(&c, stdout);
    if (!strcmp(name, groups[0]))
        print_missing(&c);
    ctr_counters_close(&c);
    return true;
}

static void print_kind(const char *kind, int err, const char *why)
{
    printf("  %-22s %s%s\n", kind, err ? "refused: " : "available", err ? why : "");
}

static int try_group(const char *uarch, const char *name, struct sim_why why)
{
    struct ctr_group *g;
    struct ctr_session *s;
    int err = ctr_group_find(&g, CTR_GROUPS_DIR, uarch, name, why);

    if (err)
        return err;
    err = ctr_session_open(&s, g, why);
    ctr_session_close(s);
    ctr_group_free(g);
    return err;
}

/* Prints the further kinds of the kernel's counts, to tell "no counters" from "no counting at all". */
static void print_kinds(void)
{
    char why[1024];

    printf("what the kernel counts here:\n");
    print_kind("hardware events", ctr_perf_probe(SIM_WHY(why)), why);
    print_kind("software events", try_group("software", "SOFTWARE", SIM_WHY(why)), why);
    print_kind("scheduling events", try_group("software", "SCHEDULING", SIM_WHY(why)), why);
    print_kind("data breakpoints", ctr_watch_probe(SIM_WHY(why)), why);
}

int main(void)
{
    struct ctr_cpu cpu;
    char name[300], why[1024];
    bool is_open = true;
    int core;

    ctr_hostinfo_cpu(name, sizeof name);
    printf("CPU: %s\n", name);
    if (ctr_cpu_host(&cpu, CTR_GROUPS_DIR, SIM_WHY(why)))
        printf("event groups: %s\n", why);
    else
        printf("event groups: %s/%s (%s)\n", CTR_GROUPS_DIR, cpu.uarch, cpu.name);
    if (ctr_pin(-1, &core, SIM_WHY(why)))
        printf("not pinned to a core: %s\n", why);
    for (size_t i = 0; i < N_GROUPS && is_open; i++)
        is_open = print_group(groups[i]);
    if (!is_open)
        print_kinds();
    return fflush(stdout) ? 1 : 0;
}
