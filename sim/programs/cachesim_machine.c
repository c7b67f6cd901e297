#include "sim/programs/cachesim_machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_text.h"
#include "sim/replacement/replacement.h"

/* Looks for a machine's file where it is installed, and in the source tree. */
static int read_named(struct sim_machine *m, const char *name, char *why, size_t why_bytes)
{
    static const char *const places[] = { "%s/../share/convsim/machines/%s.cfg", "%s/../sim/machines/%s.cfg" };
    char folder[1024], path[2048];
    int err = -ENOENT;

    cachesim_place_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && err == -ENOENT; i++) {
        snprintf(path, sizeof path, places[i], folder, name);
        err = sim_machine_read(m, path, why, why_bytes);
    }
    if (err == -ENOENT) {
        snprintf(path, sizeof path, "sim/machines/%s.cfg", name);
        err = sim_machine_read(m, path, why, why_bytes);
    }
    if (err == -ENOENT)
        cachesim_complain(why, why_bytes, "--machine",
                          "unknown machine (host, the name of an installed one, or the path of a .cfg file)", name);
    return err;
}

static int read_machine(struct sim_machine *m, const char *which, char *why, size_t why_bytes)
{
    size_t length = strlen(which);
    bool is_path = strchr(which, '/') || (length > 4 && !strcmp(which + length - 4, ".cfg"));

    if (!strcmp(which, "host"))
        return sim_machine_host(m, why, why_bytes);
    return is_path ? sim_machine_read(m, which, why, why_bytes) : read_named(m, which, why, why_bytes);
}

/* "SIZE,WAYS,LINE[,POLICY]" into a level; returns NULL or what is wrong. */
static const char *parse_level(const char *text, struct sim_level *l)
{
    char field[4][32] = { "", "", "", "lru" };
    uint64_t size = 0, ways = 0, line = 0;
    int used = 0;
    int n = sscanf(text, "%31[^,],%31[^,],%31[^,]%n,%31[^,]%n", field[0], field[1], field[2], &used, field[3], &used);

    if (n < 3 || text[used])
        return "not SIZE,WAYS,LINE or SIZE,WAYS,LINE,POLICY";
    if (!cachesim_number(field[0], true, 1, UINT64_MAX, &size))
        return "bad size";
    if (!cachesim_number(field[1], false, 1, SIM_MAX_LEVEL_LINES, &ways))
        return "bad number of ways";
    if (!cachesim_number(field[2], true, 1, SIM_MAX_LINE_BYTES, &line) || (line & (line - 1)))
        return "line is not a power of two up to 2m";
    if (size % (ways * line))
        return "size is not a multiple of ways * line";
    if (strlen(field[3]) >= sizeof l->policy || !sim_replacement_find(field[3]))
        return "unknown policy; there are " SIM_REPLACEMENT_NAMES;
    l->n_sets = size / (ways * line);
    l->n_ways = (uint32_t)ways;
    l->line_bytes = (uint32_t)line;
    strcpy(l->policy, field[3]);
    return NULL;
}

static int set_levels(const struct cachesim_options *o, struct sim_machine *m, char *why, size_t why_bytes)
{
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++) {
        const char *text = o->level_text[k], *what = NULL;
        char option[] = "--l?";

        option[3] = (char)('1' + k);
        if (!text)
            continue;
        if (k > m->n_levels)
            return cachesim_complain(why, why_bytes, option, "there is no level before it", text);
        if (k == m->n_levels)
            snprintf(m->level[m->n_levels++].name, sizeof m->level[0].name, "L%zu", k + 1);
        what = parse_level(text, &m->level[k]);
        if (what)
            return cachesim_complain(why, why_bytes, option, what, text);
    }
    return 0;
}

int cachesim_machine(const struct cachesim_options *o, struct sim_machine *m, char *why, size_t why_bytes)
{
    const char *which = o->machine ? o->machine : "host";
    int err = 0;

    *m = (struct sim_machine){ .name = "custom" };
    if (o->machine || !o->level_text[0])
        err = read_machine(m, which, why, why_bytes);
    if (!err)
        err = set_levels(o, m, why, why_bytes);
    for (size_t k = 0; k < m->n_levels; k++)
        m->level[k].is_classified |= o->is_classified;
    return err ? err : sim_machine_validate(m, why, why_bytes);
}
