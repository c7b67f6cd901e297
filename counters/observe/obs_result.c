#include "counters/observe/obs_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 2, CELL_COUNTS = 6, LEVEL_COUNTS = 6, MAX_COUNTS = CELL_COUNTS + LEVEL_COUNTS * SIM_MAX_LEVELS };

/* The counts of a cell in the order of the file; returns how many there are. */
static size_t cell_fields(struct sim_cell *c, size_t n_levels, uint64_t *field[MAX_COUNTS])
{
    uint64_t *const own[CELL_COUNTS] = {
        &c->loads, &c->stores, &c->load_bytes, &c->store_bytes, &c->memory_read_lines, &c->memory_written_lines
    };
    size_t n = CELL_COUNTS;

    memcpy(field, own, sizeof own);
    for (size_t l = 0; l < n_levels; l++) {
        struct sim_level_counts *k = &c->level[l];
        uint64_t *const level[LEVEL_COUNTS] = { &k->reads,        &k->read_misses, &k->writes,
                                                &k->write_misses, &k->load_misses, &k->write_backs };

        memcpy(field + n, level, sizeof level);
        n += LEVEL_COUNTS;
    }
    return n;
}

/* ---- writing ---- */

static void print_cell(const struct obs_result *r, unsigned tag, unsigned phase, FILE *out)
{
    struct sim_cell cell = r->stats.cell[tag][phase];
    uint64_t *field[MAX_COUNTS];
    size_t n = cell_fields(&cell, r->stats.n_levels, field);
    uint64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= *field[i];
    if (!any)
        return;
    fprintf(out, "cell %u %u", tag, phase);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIu64, *field[i]);
    fprintf(out, "\n");
}

static void print_result(const struct obs_result *r, FILE *out)
{
    fprintf(out, "observation %d\nlevels %zu\n", FORMAT, r->stats.n_levels);
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++)
        for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
            print_cell(r, tag, phase, out);
    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++) {
        for (unsigned c = 0; c < OBS_N_CLASSES; c++) {
            if (r->instructions[phase][c])
                fprintf(out, "instructions %u %s %" PRIu64 "\n", phase, obs_class_name((enum obs_class)c),
                        r->instructions[phase][c]);
        }
    }
    for (size_t i = 0; i < r->n_buffers; i++)
        fprintf(out, "buffer %u %" PRIu64 " %" PRIu64 " %s\n", r->buffer[i].tag, r->buffer[i].address,
                r->buffer[i].bytes, r->buffer[i].is_learned ? "learned" : "announced");
    for (size_t i = 0; i < r->n_outside; i++)
        fprintf(out, "outside %s %u %s %" PRIu64 " %" PRIu64 "\n", r->outside[i].function, r->outside[i].phase,
                r->outside[i].is_stack ? "stack" : "elsewhere", r->outside[i].loads, r->outside[i].stores);
    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++) {
        if (r->outside_lines[phase])
            fprintf(out, "footprint %u %" PRIu64 "\n", phase, r->outside_lines[phase]);
    }
    fprintf(out, "end\n");
}

int obs_result_write(const struct obs_result *r, const char *path, char *why, size_t why_bytes)
{
    char partial[4096];
    FILE *out;
    int err = 0;

    if (snprintf(partial, sizeof partial, "%s.partial", path) >= (int)sizeof partial)
        return -ENAMETOOLONG;
    out = fopen(partial, "w");
    if (!out)
        err = -errno;
    if (out) {
        print_result(r, out);
        err = ferror(out) ? -EIO : 0;
        if (fclose(out) && !err)
            err = -errno;
        if (!err && rename(partial, path))
            err = -errno;
    }
    if (!err)
        return 0;
    snprintf(why, why_bytes, "cannot write '%s': %s", partial, strerror(-err));
    remove(partial);
    return err;
}

/* ---- reading ---- */

struct reader {
    struct obs_result *r;
    bool has_ended;
};

/* The next word of a line as a number below limit; false if it is not one. */
static bool take_number(char **rest, uint64_t limit, uint64_t *value)
{
    char *word = strtok_r(NULL, " ", rest), *end;

    if (!word || *word < '0' || *word > '9')
        return false;
    errno = 0;
    *value = strtoull(word, &end, 10);
    return !*end && !errno && *value <= limit;
}

static const char *read_cell(struct reader *in, char **rest)
{
    uint64_t tag, phase, *field[MAX_COUNTS];
    size_t n;

    if (!take_number(rest, SIM_USUAL_TAGS - 1, &tag) || !take_number(rest, SIM_MAX_PHASES - 1, &phase))
        return "no such tag or phase";
    n = cell_fields(&in->r->stats.cell[tag][phase], in->r->stats.n_levels, field);
    for (size_t i = 0; i < n; i++) {
        if (!take_number(rest, UINT64_MAX, field[i]))
            return "counts are missing or not numbers";
    }
    return NULL;
}

static const char *read_levels(struct reader *in, char **rest)
{
    uint64_t n;

    if (!take_number(rest, SIM_MAX_LEVELS, &n))
        return "no such number of levels";
    in->r->stats.n_levels = (size_t)n;
    return NULL;
}

static const char *read_version(struct reader *in, char **rest)
{
    uint64_t version;

    (void)in;
    return take_number(rest, FORMAT, &version) && version == FORMAT ? NULL : "not a version that is known here";
}

static const char *read_instructions(struct reader *in, char **rest)
{
    uint64_t phase, count;
    const char *class;

    if (!take_number(rest, SIM_MAX_PHASES - 1, &phase))
        return "no such phase";
    class = strtok_r(NULL, " ", rest);
    if (!class || !take_number(rest, UINT64_MAX, &count))
        return "no count";
    for (unsigned c = 0; c < OBS_N_CLASSES; c++) {
        if (!strcmp(obs_class_name((enum obs_class)c), class)) {
            in->r->instructions[phase][c] = count;
            return NULL;
        }
    }
    return "no such class of instructions";
}

static const char *read_buffer(struct reader *in, char **rest)
{
    struct obs_buffer *b = &in->r->buffer[in->r->n_buffers];
    uint64_t tag;
    const char *kind;

    if (in->r->n_buffers == OBS_MAX_BUFFERS)
        return "too many buffers";
    if (!take_number(rest, SIM_USUAL_TAGS - 1, &tag) || !take_number(rest, UINT64_MAX, &b->address) ||
        !take_number(rest, UINT64_MAX, &b->bytes))
        return "a buffer needs a tag, an address and bytes";
    kind = strtok_r(NULL, " ", rest);
    if (!kind || (strcmp(kind, "learned") != 0 && strcmp(kind, "announced") != 0))
        return "a buffer is learned or announced";
    b->tag = (uint8_t)tag;
    b->is_learned = !strcmp(kind, "learned");
    in->r->n_buffers++;
    return NULL;
}

static const char *read_outside(struct reader *in, char **rest)
{
    struct obs_outside *o = &in->r->outside[in->r->n_outside];
    const char *function = strtok_r(NULL, " ", rest), *where;
    uint64_t phase;

    if (in->r->n_outside == OBS_MAX_OUTSIDE)
        return "too many functions";
    if (!function || !take_number(rest, SIM_MAX_PHASES - 1, &phase))
        return "a function needs a name and a phase";
    where = strtok_r(NULL, " ", rest);
    if (!where || !take_number(rest, UINT64_MAX, &o->loads) || !take_number(rest, UINT64_MAX, &o->stores))
        return "a function needs a place, loads and stores";
    snprintf(o->function, sizeof o->function, "%s", function);
    o->phase = (uint8_t)phase;
    o->is_stack = !strcmp(where, "stack");
    in->r->n_outside++;
    return NULL;
}

static const char *read_footprint(struct reader *in, char **rest)
{
    uint64_t phase;

    if (!take_number(rest, SIM_MAX_PHASES - 1, &phase) || !take_number(rest, UINT64_MAX, &in->r->outside_lines[phase]))
        return "a footprint needs a phase and lines";
    return NULL;
}

static const char *read_end(struct reader *in, char **rest)
{
    (void)rest;
    in->has_ended = true;
    return NULL;
}

/* Reads a line. Returns what is wrong with it, or NULL. */
static const char *read_line(struct reader *in, char *line)
{
    static const struct {
        const char *word;
        const char *(*read)(struct reader *in, char **rest);
    } kinds[] = {
        { "observation", read_version },       { "levels", read_levels }, { "cell", read_cell },
        { "instructions", read_instructions }, { "buffer", read_buffer }, { "outside", read_outside },
        { "footprint", read_footprint },       { "end", read_end },
    };
    char *rest, *word = strtok_r(line, " ", &rest);

    for (size_t i = 0; word && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!strcmp(kinds[i].word, word))
            return kinds[i].read(in, &rest);
    }
    return "no such kind of line";
}

int obs_result_read(struct obs_result *r, const char *path, char *why, size_t why_bytes)
{
    struct reader in = { .r = r };
    const char *wrong = NULL;
    unsigned number = 0;
    char line[2048];
    FILE *file = fopen(path, "r");

    *r = (struct obs_result){ 0 };
    if (!file) {
        int err = -errno;

        snprintf(why, why_bytes, "%s: cannot open, %s", path, strerror(-err));
        return err;
    }
    while (!wrong && fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        wrong = in.has_ended ? "something follows the end" : read_line(&in, line);
    }
    fclose(file);
    if (!wrong && !in.has_ended)
        wrong = "the file ends before its end line";
    if (!wrong)
        return 0;
    snprintf(why, why_bytes, "%s:%u: %s", path, number, wrong);
    return -EINVAL;
}

const struct obs_buffer *obs_result_buffer(const struct obs_result *r, unsigned tag)
{
    for (size_t i = 0; i < r->n_buffers; i++) {
        if (r->buffer[i].tag == tag)
            return &r->buffer[i];
    }
    return NULL;
}
