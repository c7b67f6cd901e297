#include "experiments/bench/case/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/unsupported.h"
#include "sim/machine/machine_folder.h"
#include "sim/machine/machine_here.h"

static bool is_host(const char *which)
{
    return !strcmp(which, "host");
}

static bool is_path(const char *which)
{
    return strchr(which, '/') || exp_name_ends_in(which, EXP_MACHINES_SUFFIX);
}

char *exp_machine_origin(const char *which)
{
    return is_host(which) || is_path(which) ? exp_format("%s", which)
                                            : exp_format("%s/%s%s", EXP_MACHINES_DIR, which, EXP_MACHINES_SUFFIX);
}

static int look_at_host(struct sim_here *h, const char *results, struct exp_why *why)
{
    int err = sim_here_look(h, SIM_WHY(why->text));

    return err ? err : sim_here_find(h, results, EXP_MACHINES_DIR, SIM_WHY(why->text));
}

static int find_host(struct sim_machine *m, const char *results, struct exp_why *why)
{
    struct sim_here h;
    int err = look_at_host(&h, results, why);

    return err ? err : sim_here_machine(&h, m, SIM_WHY(why->text));
}

/* Says that no machine has a name. Returns -ENOENT. */
static int say_unknown(const char *which, struct exp_why *why)
{
    const char *why_not = exp_unsupported(EXP_UNSUPPORTED_MACHINE, which);

    if (why_not)
        return exp_fail(why, -ENOENT, "unknown machine '%s': %s", which, why_not);
    return exp_names_unknown(
        &(struct exp_names){ "machine", EXP_MACHINES_DIR, EXP_MACHINES_SUFFIX, " host", "the path of a .cfg file" },
        which, why);
}

static int find_file(struct sim_machine *m, const char *which, struct exp_why *why)
{
    char *path = exp_machine_origin(which);
    int err = sim_machine_read(m, path, why->text, sizeof why->text);

    if (err == -ENOENT && (!is_path(which) || exp_unsupported(EXP_UNSUPPORTED_MACHINE, which)))
        say_unknown(which, why);
    free(path);
    return err;
}

int exp_machine_check(const char *which, struct exp_why *why)
{
    char *path = exp_machine_origin(which);
    const bool is_there = !*which || is_host(which) || !access(path, F_OK);

    free(path);
    if (is_there)
        return 0;
    return is_path(which) ? exp_fail(why, -ENOENT, "there is no file '%s'", which) : say_unknown(which, why);
}

int exp_machine_find(struct sim_machine *m, const char *which, const char *results, struct exp_why *why)
{
    return is_host(which) ? find_host(m, results, why) : find_file(m, which, why);
}

void exp_machine_say_source(const char *which, const char *results, char *text, size_t bytes)
{
    char *origin = exp_machine_origin(which);
    struct exp_why why;
    struct sim_here h;

    if (!is_host(which))
        exp_say(text, bytes, "all values of %s", origin);
    else if (look_at_host(&h, results, &why))
        exp_say(text, bytes, "%s", why.text);
    else
        sim_here_say_source(&h, text, bytes);
    free(origin);
}

void exp_machine_say_kind(const char *which, const struct sim_machine *m, char *text, size_t bytes)
{
    struct exp_why ignored;
    struct sim_here h;

    exp_say(text, bytes, "%s",
            is_host(which) && !look_at_host(&h, NULL, &ignored) && *h.known.name ? h.known.name : m->name);
}

void exp_machine_print_notes(const char *which, const char *results, const char *start, FILE *out)
{
    struct sim_notes notes = { "" };
    struct exp_why why;
    struct sim_here h;

    if (!is_host(which) || look_at_host(&h, results, &why))
        return;
    sim_here_note(&h, &notes);
    for (char *rest = notes.text, *line; (line = strtok_r(rest, "\n", &rest));)
        fprintf(out, "%s%s\n", start, line);
}

static bool is_same(const struct sim_level *a, const struct sim_level *b)
{
    return a->n_ways == b->n_ways && a->line_bytes == b->line_bytes && sim_level_bytes(a) == sim_level_bytes(b);
}

/*
 * Compares a level of this computer with the machine's level of equal name, else at equal position. Values unknown of
 * this computer are not compared.
 */
static int compare_level(const struct sim_machine *m, const struct sim_here *h, const struct sim_machine *here,
                         size_t i, struct exp_why *why)
{
    const char *name = sim_host_cache_name(i);
    const struct sim_level *a = sim_level_named(here, name), *named = sim_level_named(m, name);
    const struct sim_level *b = named ? named : i < m->n_levels ? &m->level[i] : NULL;
    const struct sim_host_cache *told = &h->seen.cache[i];

    if (!a || !b || is_same(a, b) || (told->is_shown && sim_host_may_be(told, b)))
        return 0;
    return exp_fail(why, -ENODEV, "this computer's %s is %.0f KiB in %zu ways, %s's is %.0f KiB in %zu", a->name,
                    (double)sim_level_bytes(a) / 1024, (size_t)a->n_ways, m->name, (double)sim_level_bytes(b) / 1024,
                    (size_t)b->n_ways);
}

int exp_machine_why_not_here(const struct sim_machine *m, struct exp_why *why)
{
    enum { N_COMPARED = 2 };
    struct sim_machine here;
    struct sim_here h;
    struct exp_why reason;
    int err = look_at_host(&h, NULL, &reason);

    if (!err)
        err = sim_here_machine(&h, &here, SIM_WHY(reason.text));
    if (ctr_is_emulated())
        return exp_fail(why, -ENODEV, "times are an emulator's");
    if (err)
        return exp_fail(why, -ENODEV, "this computer's caches are not known: %s", reason.text);
    for (size_t i = 0; i < N_COMPARED && !err; i++)
        err = compare_level(m, &h, &here, i, why);
    return err;
}

/* ---- all machine files of a folder ---- */

int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct exp_why *why)
{
    return sim_machines_each(folder, visit, ctx, SIM_WHY(why->text));
}
