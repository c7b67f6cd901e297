#include "sim/machine/machine_grid.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/why.h"

#define BLANKS " \t\n"

struct reader {
    const char *at;
    size_t most;
    struct sim_why why;
};

/* Returns a text like printf's, from malloc; NULL when out of memory. */
static char *format(const char *line, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *line, ...)
{
    va_list args;
    char *text = NULL;
    int length;

    va_start(args, line);
    length = vsnprintf(NULL, 0, line, args);
    va_end(args);
    if (length >= 0)
        text = calloc(1, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, line);
    vsnprintf(text, (size_t)length + 1, line, args);
    va_end(args);
    return text;
}

static int out_of_memory(const struct reader *r)
{
    return sim_fail(r->why, -ENOMEM, "out of memory");
}

static int too_many(const struct reader *r, double n)
{
    return sim_fail(r->why, -EINVAL, "%.15g points; at most %zu", n, r->most);
}

/* ---- values ---- */

static int add_value(const struct reader *r, struct sim_axis *a, char *value)
{
    char **grown = value ? realloc(a->value, (a->n_values + 1) * sizeof *grown) : NULL;

    if (!grown) {
        free(value);
        return out_of_memory(r);
    }
    a->value = grown;
    a->value[a->n_values++] = value;
    return 0;
}

struct range {
    uint64_t from, to, step;
    bool multiplies;
    char unit[2]; /* "K", "M" or "" */
};

/* Reads a number and its unit. Returns the rest of the text; NULL: there is no number. */
static const char *read_number(const char *text, uint64_t *value, char *unit)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    *unit = '\0';
    if (*end == 'K' || *end == 'M')
        *unit = *end++;
    return errno ? NULL : end;
}

/* Reads a range whose ends have equal units, and whose step has no unit. Returns whether the text is a range. */
static bool read_range(const char *text, struct range *g)
{
    char last = '\0', of_step = '\0';
    const char *at = read_number(text, &g->from, g->unit);

    g->step = 1;
    g->multiplies = false;
    g->unit[1] = '\0';
    at = at && !strncmp(at, "..", 2) ? read_number(at + 2, &g->to, &last) : NULL;
    if (at && (*at == '*' || *at == '+')) {
        g->multiplies = *at == '*';
        at = read_number(at + 1, &g->step, &of_step);
    }
    if (!at || *at || of_step || g->step < (g->multiplies ? 2 : 1) || (g->multiplies && !g->from))
        return false;
    /* 16K..1M: in the smaller unit. */
    if (g->unit[0] == 'K' && last == 'M' && g->to <= UINT64_MAX / 1024) {
        g->to *= 1024;
        last = 'K';
    }
    return g->from <= g->to && g->unit[0] == last;
}

static double range_count(const struct range *g)
{
    double n = 1;

    if (!g->multiplies)
        return (double)((g->to - g->from) / g->step) + 1;
    for (uint64_t v = g->from; v <= g->to / g->step; v *= g->step)
        n++;
    return n;
}

static int add_range(const struct reader *r, struct sim_axis *a, const struct range *g)
{
    double n = range_count(g);
    uint64_t value = g->from;
    int err = n > (double)r->most ? too_many(r, n) : 0;

    for (size_t i = 0; i < (size_t)n && !err; i++) {
        err = add_value(r, a, format("%" PRIu64 "%s", value, g->unit));
        value = g->multiplies ? value * g->step : value + g->step;
    }
    return err;
}

/* Reads a value, in braces or not, or a range. */
static int read_value(struct reader *r, struct sim_axis *a)
{
    bool in_braces = *r->at == '{';
    size_t length = in_braces ? strcspn(r->at, "}") : strcspn(r->at, "," BLANKS ";");
    struct range range;
    char *text;
    int err;

    if (in_braces && !r->at[length])
        return sim_fail(r->why, -EINVAL, "'{' without '}': '%s'", r->at);
    text = format("%.*s", (int)(length - in_braces), r->at + in_braces);
    if (!text)
        return out_of_memory(r);
    r->at += length + in_braces;
    if (!*text)
        err = sim_fail(r->why, -EINVAL, "%s: a value is empty", a->key);
    else if (!in_braces && strchr(text, '=') && memchr(text, '.', strcspn(text, "=")))
        err = sim_fail(r->why, -EINVAL, "%s: a blank comes between keys, not a comma: '%s'", a->key, text);
    else if (!in_braces && strstr(text, "..") && !read_range(text, &range))
        err = sim_fail(r->why, -EINVAL, "%s: '%s' is no range; 4..64+4 and 16K..1M*2 are", a->key, text);
    else if (!in_braces && strstr(text, ".."))
        err = add_range(r, a, &range);
    else
        return add_value(r, a, text);
    free(text);
    return err;
}

/* ---- axes and grids ---- */

static int read_values(struct reader *r, struct sim_axis *a)
{
    int err = read_value(r, a);

    for (; !err && *r->at == ','; err = read_value(r, a))
        r->at++;
    if (!err && *r->at && !strchr(BLANKS ";", *r->at))
        err = sim_fail(r->why, -EINVAL, "%s: after a value comes ',', a blank or ';', not '%s'", a->key, r->at);
    return err;
}

static int read_axis(struct reader *r, struct sim_grid *g)
{
    size_t length = strcspn(r->at, "=" BLANKS ";");
    struct sim_axis *grown = realloc(g->axis, (g->n_axes + 1) * sizeof *grown), *a;

    if (!grown)
        return out_of_memory(r);
    g->axis = grown;
    a = &g->axis[g->n_axes++];
    *a = (struct sim_axis){ .key = format("%.*s", (int)length, r->at) };
    if (!a->key)
        return out_of_memory(r);
    if (!length || r->at[length] != '=')
        return sim_fail(r->why, -EINVAL, "KEY=VALUE,... is expected, such as L1.size=16K,32K, not '%s'", r->at);
    for (size_t i = 0; i + 1 < g->n_axes; i++) {
        if (!strcmp(g->axis[i].key, a->key))
            return sim_fail(r->why, -EINVAL, "'%s' comes twice; ';' begins another grid", a->key);
    }
    r->at += length + 1;
    return read_values(r, a);
}

static int read_grid(struct reader *r, struct sim_grids *all)
{
    struct sim_grid *grown = realloc(all->grid, (all->n_grids + 1) * sizeof *grown), *g;
    double n = 1;
    int err = 0;

    if (!grown)
        return out_of_memory(r);
    all->grid = grown;
    g = &all->grid[all->n_grids++];
    *g = (struct sim_grid){ .first = all->n_points };
    for (r->at += strspn(r->at, BLANKS); *r->at && *r->at != ';' && !err; r->at += strspn(r->at, BLANKS))
        err = read_axis(r, g);
    for (size_t i = 0; i < g->n_axes; i++)
        n *= (double)g->axis[i].n_values;
    if (!err && !g->n_axes)
        err = sim_fail(r->why, -EINVAL, "nothing is varied; for example L1.size=16K,32K,64K");
    if (!err && n + (double)all->n_points > (double)r->most)
        err = too_many(r, n + (double)all->n_points);
    if (!err)
        all->n_points += (size_t)n;
    return err;
}

static int add_key(const struct reader *r, struct sim_grids *g, char *key)
{
    char **grown;

    for (size_t i = 0; i < g->n_keys; i++) {
        if (!strcmp(g->key[i], key))
            return 0;
    }
    grown = realloc(g->key, (g->n_keys + 1) * sizeof *grown);
    if (!grown)
        return out_of_memory(r);
    g->key = grown;
    g->key[g->n_keys++] = key;
    return 0;
}

int sim_grids_read(struct sim_grids *g, const char *text, size_t most, char *why, size_t why_bytes)
{
    struct reader r = { text, most, { why, why_bytes } };
    int err;

    assert(g && text);
    *g = (struct sim_grids){ 0 };
    for (err = read_grid(&r, g); !err && *r.at == ';'; err = read_grid(&r, g))
        r.at++;
    for (size_t i = 0; i < g->n_grids && !err; i++) {
        for (size_t a = 0; a < g->grid[i].n_axes && !err; a++)
            err = add_key(&r, g, g->grid[i].axis[a].key);
    }
    if (err)
        sim_grids_release(g);
    return err;
}

void sim_grids_release(struct sim_grids *g)
{
    for (size_t i = 0; i < g->n_grids; i++) {
        for (size_t a = 0; a < g->grid[i].n_axes; a++) {
            for (size_t v = 0; v < g->grid[i].axis[a].n_values; v++)
                free(g->grid[i].axis[a].value[v]);
            free(g->grid[i].axis[a].value);
            free(g->grid[i].axis[a].key);
        }
        free(g->grid[i].axis);
    }
    free(g->grid);
    free(g->key);
    *g = (struct sim_grids){ 0 };
}

const char *sim_grids_value(const struct sim_grids *g, size_t point, size_t key)
{
    const struct sim_grid *grid = &g->grid[g->n_grids - 1];
    size_t rest;

    assert(point < g->n_points && key < g->n_keys);
    while (grid->first > point)
        grid--;
    rest = point - grid->first;
    for (size_t a = grid->n_axes; a-- > 0;) {
        const struct sim_axis *axis = &grid->axis[a];

        if (!strcmp(axis->key, g->key[key]))
            return axis->value[rest % axis->n_values];
        rest /= axis->n_values;
    }
    return NULL;
}
