#include "sim/programs/cachesim_machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/machine/machine_folder.h"
#include "sim/machine/machine_here.h"
#include "sim/machine/machine_words.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_text.h"
#include "sim/replacement/replacement.h"

enum { MAX_PATH = 2048 };

/* Folders of machines, and of results with a possible calibration of this computer. */
struct places {
    char machines[MAX_PATH], results[MAX_PATH];
};

/* Finds where things are installed, beside the program, or in the project's folder. */
static void find_places(struct places *p)
{
    static const struct {
        const char *machines, *results;
    } known[] = { { "%s/../share/convsim/machines", "%s/../share/convsim/results" },
                  { "%s/../sim/machines", "%s/../results" } };
    char folder[MAX_PATH / 2];

    cachesim_place_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        snprintf(p->machines, sizeof p->machines, known[i].machines, folder);
        snprintf(p->results, sizeof p->results, known[i].results, folder);
        if (!access(p->machines, R_OK))
            return;
    }
    snprintf(p->machines, sizeof p->machines, "sim/machines");
    snprintf(p->results, sizeof p->results, "results");
}

/* Reads the host: hwloc's values, with files if the folder of machines exists. */
static int read_host(struct sim_machine *m, char source[static CACHESIM_SOURCE_BYTES], struct sim_why why)
{
    struct places p;
    struct sim_here h;
    struct sim_notes notes = { "" };
    bool has_files;
    int err = sim_here_look(&h, why);

    find_places(&p);
    has_files = !access(p.machines, R_OK);
    if (!err && has_files)
        err = sim_here_find(&h, p.results, p.machines, why);
    if (!err)
        err = sim_here_machine(&h, m, why);
    if (err)
        return err;
    if (has_files)
        sim_here_say_source(&h, source, CACHESIM_SOURCE_BYTES);
    else
        snprintf(source, CACHESIM_SOURCE_BYTES, "caches from hwloc; LRU and no prefetchers: there is no folder %.900s",
                 p.machines);
    sim_here_note(&h, &notes);
    snprintf(source + strlen(source), CACHESIM_SOURCE_BYTES - strlen(source), "%s%s", *notes.text ? "\n" : "",
             notes.text);
    return 0;
}

static int read_named(struct sim_machine *m, const char *name, struct sim_why why)
{
    struct places p;
    char path[MAX_PATH + 256];
    int err;

    find_places(&p);
    snprintf(path, sizeof path, "%s/%s" SIM_MACHINE_SUFFIX, p.machines, name);
    err = sim_machine_read(m, path, why.text, why.bytes);
    if (err == -ENOENT)
        sim_machine_say_unknown(p.machines, name, why);
    return err;
}

static int read_machine(struct sim_machine *m, const char *which, char source[static CACHESIM_SOURCE_BYTES],
                        struct sim_why why)
{
    size_t length = strlen(which);
    bool is_path = strchr(which, '/') || (length > 4 && !strcmp(which + length - 4, ".cfg"));

    if (!strcmp(which, "host"))
        return read_host(m, source, why);
    return is_path ? sim_machine_read(m, which, why.text, why.bytes) : read_named(m, which, why);
}

/* Reads "SIZE,WAYS,LINE[,POLICY]" into a level. Returns NULL, or the fault. */
static const char *parse_level(const char *text, struct sim_level *l)
{
    char field[4][32] = { "", "", "", "lru" };
    uint64_t size = 0, ways = 0, line = 0;
    int used = 0;
    int n = sscanf(text, "%31[^,],%31[^,],%31[^,]%n,%31[^,]%n", field[0], field[1], field[2], &used, field[3], &used);

    if (n < 3 || text[used])
        return "not SIZE,WAYS,LINE or SIZE,WAYS,LINE,POLICY";
    if (!cachesim_number(field[0], true, 1, UINT64_MAX, &size))
        return "bad size; " SIM_SIZE_RULE;
    if (!cachesim_number(field[1], false, 1, SIM_MAX_LEVEL_LINES, &ways))
        return "bad number of ways";
    if (!cachesim_number(field[2], true, 1, SIM_MAX_LINE_BYTES, &line) || (line & (line - 1)))
        return "line is not a power of two up to 2m; " SIM_SIZE_RULE;
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

static int set_levels(const struct cachesim_options *o, struct sim_machine *m, struct sim_why why)
{
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++) {
        const char *text = o->level_text[k], *what = NULL;
        char option[] = "--l?";

        option[3] = (char)('1' + k);
        if (!text)
            continue;
        if (k > m->n_levels)
            return cachesim_complain(why, option, "there is no level before it", text);
        if (k == m->n_levels)
            snprintf(m->level[m->n_levels++].name, sizeof m->level[0].name, "L%zu", k + 1);
        what = parse_level(text, &m->level[k]);
        if (what)
            return cachesim_complain(why, option, what, text);
    }
    return 0;
}

int cachesim_machine(const struct cachesim_options *o, struct sim_machine *m, char source[static CACHESIM_SOURCE_BYTES],
                     struct sim_why why)
{
    const char *which = o->machine ? o->machine : "host";
    int err = 0;

    *source = '\0';
    *m = (struct sim_machine){ .name = "custom" };
    if (o->machine || !o->level_text[0])
        err = read_machine(m, which, source, why);
    if (!err)
        err = set_levels(o, m, why);
    for (size_t k = 0; k < m->n_levels; k++)
        m->level[k].is_classified |= o->is_classified;
    return err ? err : sim_machine_validate(m, why.text, why.bytes);
}
