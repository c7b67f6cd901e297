#define _GNU_SOURCE
#include "counters/group/ctr_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_cpu.h"
#include "counters/perf/ctr_event.h"
#include "counters/group/ctr_expr.h"

static const char blanks[] = " \t\r\n";

struct reader {
    struct ctr_group *g;
    const char *path;
    unsigned line; /* 1 for the first; 0 = none */
    int (*section)(struct reader *r, char *text);
    unsigned first_line[4]; /* where each section began, by enum section; 0 = not seen */
    struct sim_why why;
};

enum section { SHORT, EVENTS, METRICS, LONG };

static int bad(struct reader *r, const char *what, const char *value)
{
    return sim_fail(r->why, -EINVAL, "%s:%u: %s, '%s'", r->path, r->line, what, value);
}

/* Copies a field if the field fits. Returns 0 or -E2BIG. */
static int copy(char *field, size_t field_bytes, const char *text)
{
    size_t n = strlen(text);

    if (n >= field_bytes)
        return -E2BIG;
    memcpy(field, text, n + 1);
    return 0;
}

/* Cuts the end of line off. */
static char *cut(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static bool is_name(const char *text)
{
    return *text && !text[ctr_expr_name_chars(text)];
}

size_t ctr_group_event_index(const struct ctr_group *g, const char *label, size_t label_chars)
{
    size_t i = 0;

    while (i < g->n_events && (strncmp(g->event[i].label, label, label_chars) || g->event[i].label[label_chars]))
        i++;
    return i;
}

size_t ctr_group_metric_index(const struct ctr_group *g, const char *name)
{
    size_t i = 0;

    while (i < g->n_metrics && strcmp(g->metric[i].name, name))
        i++;
    return i;
}

static size_t events_in_last_set(const struct ctr_group *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_events; i++)
        n += g->event[i].set + 1 == g->n_sets;
    return n;
}

static int read_event(struct reader *r, char *text)
{
    char *save, *label = strtok_r(text, blanks, &save), *name = strtok_r(NULL, blanks, &save);
    char *rest = strtok_r(NULL, blanks, &save);
    struct ctr_event *e = &r->g->event[r->g->n_events];
    uint64_t config;

    if (!name)
        return bad(r, "label without an event", label);
    if (rest && *rest != '#')
        return bad(r, "text after the event", rest);
    if (!is_name(label))
        return bad(r, "label is not letters, digits and underscores", label);
    if (ctr_group_event_index(r->g, label, strlen(label)) < r->g->n_events)
        return bad(r, "label used twice", label);
    if (r->g->n_events == CTR_MAX_EVENTS)
        return bad(r, "too many events", label);
    if (events_in_last_set(r->g) == CTR_MAX_SET_EVENTS)
        return bad(r, "more events in one set than any CPU has counters", label);
    if (ctr_event_is_raw(name) && ctr_event_raw_code(name, &config))
        return bad(r, "raw code is not r0x and up to 16 hexadecimal digits", name);
    *e = (struct ctr_event){ .set = r->g->n_sets - 1, .position = events_in_last_set(r->g), .line = r->line };
    if (copy(e->label, sizeof e->label, label) || copy(e->name, sizeof e->name, name))
        return bad(r, "label or event too long", name);
    r->g->n_events++;
    return 0;
}

static int read_metric(struct reader *r, char *text)
{
    char *save, *name = strtok_r(text, blanks, &save), *unit = strtok_r(NULL, blanks, &save);
    char *formula = strtok_r(NULL, "\r\n", &save);
    struct ctr_metric *m = &r->g->metric[r->g->n_metrics];

    if (!unit || !formula)
        return bad(r, "metric without unit and formula", name);
    formula += strspn(formula, blanks);
    if (!is_name(name))
        return bad(r, "metric is not letters, digits and underscores", name);
    if (ctr_group_metric_index(r->g, name) < r->g->n_metrics)
        return bad(r, "metric defined twice", name);
    if (r->g->n_metrics == CTR_MAX_METRICS)
        return bad(r, "too many metrics", name);
    *m = (struct ctr_metric){ .line = r->line };
    if (copy(m->name, sizeof m->name, name) || copy(m->unit, sizeof m->unit, unit) ||
        copy(m->formula, sizeof m->formula, formula))
        return bad(r, "name, unit or formula too long", name);
    r->g->n_metrics++;
    return 0;
}

static int read_meaning(struct reader *r, char *text)
{
    size_t old = strlen(r->g->meaning), n = strlen(text);
    char *longer = realloc(r->g->meaning, old + n + 1);

    if (!longer)
        return sim_fail(r->why, -ENOMEM, "%s:%u: out of memory", r->path, r->line);
    memcpy(longer + old, text, n + 1);
    r->g->meaning = longer;
    return 0;
}

static int outside(struct reader *r, char *text)
{
    return bad(r, "text outside EVENTS, METRICS and LONG", cut(text));
}

static int begin_short(struct reader *r, char *rest)
{
    r->section = outside;
    if (!*cut(rest))
        return bad(r, "SHORT without a description", "SHORT");
    if (copy(r->g->about, sizeof r->g->about, rest))
        return bad(r, "description too long", rest);
    return 0;
}

static int begin_events(struct reader *r, char *rest)
{
    if (*rest)
        return bad(r, "text after EVENTS", cut(rest));
    if (r->g->n_sets && !events_in_last_set(r->g))
        return bad(r, "a second EVENTS while the one before is empty", "EVENTS");
    r->g->n_sets++;
    r->section = read_event;
    return 0;
}

static int begin_metrics(struct reader *r, char *rest)
{
    r->section = read_metric;
    return *rest ? bad(r, "text after METRICS", cut(rest)) : 0;
}

static int begin_long(struct reader *r, char *rest)
{
    r->section = read_meaning;
    return read_meaning(r, rest);
}

static const struct {
    const char *name;
    int (*begin)(struct reader *r, char *rest);
    bool may_repeat;
} sections[] = {
    [SHORT] = { "SHORT", begin_short, false },
    [EVENTS] = { "EVENTS", begin_events, true },
    [METRICS] = { "METRICS", begin_metrics, false },
    [LONG] = { "LONG", begin_long, false },
};

enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

/* Returns the section whose heading the line is, or N_SECTIONS. */
static size_t section_of(const char *text)
{
    size_t n = strcspn(text, blanks), i = 0;

    while (i < N_SECTIONS && (strncmp(sections[i].name, text, n) || sections[i].name[n]))
        i++;
    return i;
}

static int read_line(struct reader *r, char *text)
{
    size_t s = r->section == read_meaning ? N_SECTIONS : section_of(text);

    if (s < N_SECTIONS) {
        char *rest = text + strlen(sections[s].name);

        if (r->first_line[s] && !sections[s].may_repeat)
            return bad(r, "section appears twice", sections[s].name);
        r->first_line[s] = r->line;
        return sections[s].begin(r, rest + strspn(rest, blanks));
    }
    if (r->section != read_meaning) {
        text += strspn(text, blanks);
        if (!*text || *text == '#')
            return 0;
    }
    return r->section(r, text);
}

static int known_label(void *context, const char *name, size_t name_chars, double *value)
{
    const struct ctr_group *g = context;

    *value = 1;
    return ctr_group_event_index(g, name, name_chars) < g->n_events ? 0 : -ENOENT;
}

static int check_formulas(struct reader *r)
{
    for (size_t i = 0; i < r->g->n_metrics; i++) {
        const struct ctr_metric *m = &r->g->metric[i];
        double value;
        size_t at = 0;
        int err = ctr_expr_eval(m->formula, known_label, r->g, &value, &at);

        r->line = m->line;
        if (err == -ENOENT)
            return bad(r, "formula names a label that no EVENTS has", m->formula + at);
        if (err == -EINVAL)
            return bad(r, "formula is malformed at the quoted place", m->formula + at);
    }
    return 0;
}

static int check_whole(struct reader *r)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (!r->first_line[i])
            return bad(r, "file ends without a section", sections[i].name);
    if (!events_in_last_set(r->g))
        return bad(r, "EVENTS without an event", "EVENTS");
    if (!r->g->n_metrics)
        return bad(r, "METRICS without a metric", "METRICS");
    if (!r->g->meaning[strspn(r->g->meaning, blanks)])
        return bad(r, "LONG without an explanation", "LONG");
    return check_formulas(r);
}

static int read_lines(struct reader *r, FILE *in)
{
    char *text = NULL;
    size_t text_bytes = 0;
    int err = 0;

    errno = 0;
    while (!err && getline(&text, &text_bytes, in) >= 0) {
        r->line++;
        err = read_line(r, text);
    }
    if (!err && ferror(in))
        err = sim_fail(r->why, errno ? -errno : -EIO, "%s: cannot read: %s", r->path, strerror(errno));
    free(text);
    return err ? err : check_whole(r);
}

/* Takes both names from the path: ".../clx/CACHE.txt". */
static int name_from_path(struct ctr_group *g, const char *path)
{
    char folders[sizeof g->path], *file, *slash;

    if (copy(g->path, sizeof g->path, path))
        return -ENAMETOOLONG;
    memcpy(folders, g->path, sizeof folders);
    slash = strrchr(folders, '/');
    file = slash ? slash + 1 : folders;
    if (strlen(file) > 4 && !strcmp(file + strlen(file) - 4, ".txt"))
        file[strlen(file) - 4] = '\0';
    if (copy(g->name, sizeof g->name, file))
        return -ENAMETOOLONG;
    if (!slash)
        return 0;
    *slash = '\0';
    slash = strrchr(folders, '/');
    return copy(g->uarch, sizeof g->uarch, slash ? slash + 1 : folders) ? -ENAMETOOLONG : 0;
}

static int read_file(struct ctr_group *g, const char *path, struct sim_why why)
{
    struct reader r = { .g = g, .path = path, .section = outside, .why = why };
    int err = name_from_path(g, path);
    FILE *in;

    if (err)
        return sim_fail(why, err, "%s: path or name too long", path);
    in = fopen(path, "r");
    if (!in)
        return sim_fail(why, -errno, "cannot open '%s': %s", path, strerror(errno));
    err = read_lines(&r, in);
    fclose(in);
    return err;
}

int ctr_group_read(struct ctr_group **g, const char *path, struct sim_why why)
{
    int err;

    *g = calloc(1, sizeof **g);
    if (*g)
        (*g)->meaning = calloc(1, 1);
    if (!*g || !(*g)->meaning)
        err = sim_fail(why, -ENOMEM, "%s: out of memory", path);
    else
        err = read_file(*g, path, why);
    if (err) {
        ctr_group_free(*g);
        *g = NULL;
    }
    return err;
}

/* Reads folder/<group>.txt for the CPU of folder uarch. */
static int read_for(struct ctr_group **g, const char *groups_dir, const char *uarch, const char *folder,
                    const char *group, struct sim_why why)
{
    char path[sizeof(*g)->path];
    int err;

    if ((size_t)snprintf(path, sizeof path, "%s/%s/%s.txt", groups_dir, folder, group) >= sizeof path)
        return sim_fail(why, -ENAMETOOLONG, "path too long, '%s/%s/%s.txt'", groups_dir, folder, group);
    err = ctr_group_read(g, path, why);
    if (err == -ENOENT)
        sim_fail(why, err, "no event group '%s' for '%s': no file '%s'", group, uarch, path);
    if (!err)
        copy((*g)->uarch, sizeof(*g)->uarch, uarch);
    return err;
}

/* Lines `like` form a chain of folders; a longer chain is a circle. */
enum { MAX_LIKE = 4 };

int ctr_group_find(struct ctr_group **g, const char *groups_dir, const char *uarch, const char *group,
                   struct sim_why why)
{
    struct ctr_cpu cpu;
    char name[sizeof cpu.uarch], folder[sizeof cpu.uarch];
    int err = uarch ? 0 : ctr_cpu_host(&cpu, groups_dir, why);

    *g = NULL;
    if (err)
        return err;
    if (copy(name, sizeof name, uarch ? uarch : cpu.uarch))
        return sim_fail(why, -ENAMETOOLONG, "name too long, '%s'", uarch);
    memcpy(folder, name, sizeof folder);
    for (int i = 0; i < MAX_LIKE; i++) {
        err = read_for(g, groups_dir, name, folder, group, why);
        if (err != -ENOENT || ctr_cpu_read(&cpu, groups_dir, folder, SIM_NO_WHY) || !*cpu.like)
            return err;
        memcpy(folder, cpu.like, sizeof folder);
    }
    return err;
}

void ctr_group_free(struct ctr_group *g)
{
    if (g)
        free(g->meaning);
    free(g);
}
