/* Layer tables: part of formats.h. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/csv.h"
#include "experiments/bench/model/formats.h"
#include "sim/machine/machine_words.h"

/* A field is known by its number in the struct; all members have the type size_t. */
#define FIELD_OF(member) (offsetof(struct conv_problem, member) / sizeof(size_t))

enum { MOST_FIELDS = 4, N_SIZES = sizeof(struct conv_problem) / sizeof(size_t) };

/*
 * Columns with names other than a field's: each sets several fields to a common value, or is a second name of a field.
 * The names from NI on are ConvBench's; HO and WO, the output size, are only checked, and so is NO, the images.
 */
static const struct meaning {
    const char *name;
    size_t n, field[MOST_FIELDS];
} others[] = {
#define ONE(name, member)                                                                                              \
    {                                                                                                                  \
        name, 1,                                                                                                       \
        {                                                                                                              \
            FIELD_OF(member)                                                                                           \
        }                                                                                                              \
    }
#define TWO(name, a, b)                                                                                                \
    {                                                                                                                  \
        name, 2,                                                                                                       \
        {                                                                                                              \
            FIELD_OF(a), FIELD_OF(b)                                                                                   \
        }                                                                                                              \
    }
    TWO("kernel", r, s),
    TWO("stride", stride_h, stride_w),
    TWO("dilation", dilation_h, dilation_w),
    TWO("pad_h", pad_top, pad_bottom),
    TWO("pad_w", pad_left, pad_right),
    { "pad", 4, { FIELD_OF(pad_top), FIELD_OF(pad_left), FIELD_OF(pad_bottom), FIELD_OF(pad_right) } },
    ONE("NI", n),
    ONE("NO", n),
    ONE("CI", c),
    ONE("HI", h),
    ONE("WI", w),
    ONE("DO", k),
    ONE("HO", p),
    ONE("WO", q),
    ONE("HK", r),
    ONE("WK", s),
    ONE("HPTOP", pad_top),
    ONE("HPBOTTOM", pad_bottom),
    ONE("WPLEFT", pad_left),
    ONE("WPRIGHT", pad_right),
    ONE("HS", stride_h),
    ONE("WS", stride_w),
    ONE("HD", dilation_h),
    ONE("WD", dilation_w),
    ONE("GROUP", groups),
#undef ONE
#undef TWO
};

enum { N_OTHERS = sizeof others / sizeof others[0], N_MEANINGS = CONV_N_FIELDS + N_OTHERS };

static struct meaning meaning(size_t i)
{
    return i < CONV_N_FIELDS ? (struct meaning){ conv_fields[i].name, 1, { i } } : others[i - CONV_N_FIELDS];
}

static const size_t no_column = SIZE_MAX;

/* The columns of a table, for the name and for each meaning; and whether a column sets a field. */
struct columns {
    size_t name, of[N_MEANINGS];
    size_t id; /* of ConvBench's own tables, whose rows have numbers for names; no_column: another table */
    bool says[N_SIZES];
};

static size_t find(const struct exp_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (!strcmp(t->column[i], name))
            return i;
    }
    return no_column;
}

static bool is_read(const char *column)
{
    bool is = !strcmp(column, "name");

    for (size_t i = 0; i < N_MEANINGS; i++)
        is = is || !strcmp(column, meaning(i).name);
    return is;
}

/* Adds to `why`, after a missing column, an unread column with a similar name. */
static void say_meant(const struct exp_table *t, const char *name, struct exp_why *why)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (is_read(t->column[i]) || !sim_nearest_word(t->column[i], &name, 1))
            continue;
        exp_say_more(why->text, sizeof why->text, "; is '%.40s' meant for it?", t->column[i]);
        return;
    }
}

/*
 * Refuses an unread column whose name is nearly the name of an absent column. The absent column may be optional, so the
 * slip would go unseen.
 */
static int check_slips(const struct exp_table *t, const struct columns *c, struct exp_why *why)
{
    const char *missing[N_MEANINGS];
    size_t n = 0;

    for (size_t i = 0; i < N_MEANINGS; i++) {
        const struct meaning m = meaning(i);

        if (c->of[i] == no_column && !c->says[m.field[0]] && (i < CONV_N_FIELDS || islower((unsigned char)*m.name)))
            missing[n++] = m.name;
    }
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *meant = is_read(t->column[i]) ? NULL : sim_nearest_word(t->column[i], missing, n);

        if (meant)
            return exp_fail(why, -EINVAL,
                            "%s:%u: column '%.40s' is not known; is it meant for '%s'? Call it otherwise "
                            "if it is not",
                            t->path, t->header_line, t->column[i], meant);
    }
    return 0;
}

/* Notes the unread columns if the table does not set all fields: an unread column may be meant for a field. */
static void note_unread(struct exp_model *m, const struct exp_table *t, const struct columns *c)
{
    char text[256] = "";
    bool is_whole = true;

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        is_whole = is_whole && (c->says[i] || i == FIELD_OF(n));
    for (size_t i = 0; i < t->n_columns && !is_whole; i++) {
        if (!is_read(t->column[i]))
            exp_say_more(text, sizeof text, "%s %.40s", *text ? "," : "", t->column[i]);
    }
    if (*text)
        exp_model_note(m, "columns that are not read:%s", text);
}

/* Requires all columns of ConvBench in a table with ConvBench's numbers: a missing column is no wish for a default. */
static int check_convbench(const struct columns *c, const struct exp_table *t, struct exp_why *why)
{
    for (size_t i = CONV_N_FIELDS; i < N_MEANINGS && c->id != no_column; i++) {
        const char *name = meaning(i).name;
        size_t ignored;

        if (isupper((unsigned char)*name) && exp_table_column(t, name, &ignored, why))
            return -EINVAL;
    }
    return 0;
}

static int find_columns(struct columns *c, const struct exp_table *t, struct exp_why *why)
{
    *c = (struct columns){ .name = find(t, "name"), .id = no_column };
    if (c->name == no_column && find(t, "CI") != no_column)
        c->id = find(t, "ID");
    if (check_convbench(c, t, why))
        return -EINVAL;
    for (size_t i = 0; i < N_MEANINGS; i++) {
        const struct meaning m = meaning(i);

        c->of[i] = find(t, m.name);
        for (size_t f = 0; f < m.n && c->of[i] != no_column; f++)
            c->says[m.field[f]] = true;
    }
    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        size_t ignored;

        if (c->says[i] || conv_fields[i].fallback >= conv_fields[i].low)
            continue;
        if (!exp_table_column(t, conv_fields[i].name, &ignored, why))
            continue;
        if (t->n_columns > 1)
            say_meant(t, conv_fields[i].name, why);
        return -EINVAL;
    }
    return check_slips(t, c, why);
}

/* Reads a field of a row; low: the least value. */
static int read_size(const struct exp_table *t, size_t row, size_t column, size_t low, size_t *value,
                     struct exp_why *why)
{
    const char *name = t->column[column];
    uint64_t number;
    int err = exp_table_u64(t, row, column, &number, why);

    if (err)
        return err == -ERANGE ? -EOVERFLOW : err;
    if (number > SIZE_MAX)
        return exp_fail(why, -EOVERFLOW, "%s:%u: %s, '%s' is too large", t->path, t->line[row], name,
                        exp_table_string(t, row, column));
    if (number < low)
        return exp_fail(why, -EINVAL, "%s:%u: %s, '%s' must be at least %zu", t->path, t->line[row], name,
                        exp_table_string(t, row, column), low);
    *value = (size_t)number;
    return 0;
}

/* Reads a column into the sizes of its meaning. Refuses a value that contradicts an earlier column. */
static int read_meaning(size_t size[N_SIZES], size_t from[N_SIZES], const struct exp_table *t, size_t row,
                        const struct meaning *m, size_t column, struct exp_why *why)
{
    const size_t first = m->field[0];
    size_t value = 0;
    int err = read_size(t, row, column, first < CONV_N_FIELDS ? conv_fields[first].low : 1, &value, why);

    for (size_t i = 0; i < m->n && !err; i++) {
        const size_t f = m->field[i], other = from[f];

        if (other != no_column && size[f] != value)
            err = exp_fail(why, -EINVAL, "%s:%u: %s is %zu, but %s is %zu", t->path, t->line[row], t->column[other],
                           size[f], t->column[column], value);
        size[f] = value;
        from[f] = column;
    }
    return err;
}

/* Reads a row's problem. Refuses an output size that does not follow from the row. */
static int read_problem(struct conv_problem *p, const struct exp_table *t, const struct columns *c, size_t row,
                        const char *name, struct exp_why *why)
{
    size_t size[N_SIZES] = { 0 }, from[N_SIZES];
    char reason[512] = "";
    int err = 0;

    for (size_t i = 0; i < N_SIZES; i++)
        from[i] = no_column;
    for (size_t i = 0; i < N_MEANINGS && !err; i++) {
        const struct meaning m = meaning(i);

        if (c->of[i] != no_column)
            err = read_meaning(size, from, t, row, &m, c->of[i], why);
    }
    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        conv_field_set(p, i, from[i] == no_column ? conv_fields[i].fallback : size[i]);
    if (err)
        return err;
    err = conv_problem_finish(p, SIM_WHY(reason));
    if (err)
        return exp_fail(why, err, "%s:%u: layer '%.60s', %s", t->path, t->line[row], name, reason);
    if ((from[FIELD_OF(p)] != no_column && size[FIELD_OF(p)] != p->p) ||
        (from[FIELD_OF(q)] != no_column && size[FIELD_OF(q)] != p->q))
        return exp_fail(why, -EINVAL,
                        "%s:%u: layer '%.60s', the output is said to be %zux%zu, but its sizes make %zux%zu", t->path,
                        t->line[row], name, from[FIELD_OF(p)] == no_column ? p->p : size[FIELD_OF(p)],
                        from[FIELD_OF(q)] == no_column ? p->q : size[FIELD_OF(q)], p->p, p->q);
    return 0;
}

static int check_name(const struct exp_table *t, size_t row, const char *name, struct exp_why *why)
{
    if (!*name)
        return exp_fail(why, -EINVAL, "%s:%u: name, '' is empty", t->path, t->line[row]);
    for (const char *c = name; *c; c++) {
        if (iscntrl((unsigned char)*c))
            return exp_fail(why, -EINVAL, "%s:%u: name, a control character after '%.*s'", t->path, t->line[row],
                            (int)(c - name), name);
    }
    return 0;
}

/* Returns a row's name, from malloc; NULL: the table has no names. A row of ConvBench has the name of file and number. */
static char *name_of(const struct exp_model *m, const struct exp_table *t, const struct columns *c, size_t row)
{
    if (c->name != no_column)
        return exp_copy_text(exp_table_string(t, row, c->name));
    return c->id == no_column ? NULL : exp_format("%s_%s", m->name, exp_table_string(t, row, c->id));
}

/* Appends a row's layer. A shape of ConvBench that no memory holds is left out, and noted. */
static int read_layer(struct exp_model *m, const struct exp_table *t, const struct columns *c, size_t row,
                      struct exp_why *why)
{
    struct exp_layer l = { .line = t->line[row], .index = (unsigned)row + 1 };
    char *name = name_of(m, t, c, row);
    int err = name ? check_name(t, row, name, why) : 0;

    err = err ? err : read_problem(&l.problem, t, c, row, name ? name : "without a name", why);
    if (!err) {
        l.name = name ? name : exp_shape_name(row + 1, &l.problem);
        m->layer[m->n_layers++] = l;
        return 0;
    }
    free(name);
    if (err == -EOVERFLOW && c->id != no_column)
        return exp_model_skip(m, (struct exp_model_place){ t->path, l.line }, "shapes of more bytes than memory has");
    return err;
}

int exp_layer_table_read(struct exp_model *m, const struct exp_table *t, struct exp_why *why)
{
    struct columns columns;
    int err = find_columns(&columns, t, why);

    if (err)
        return err;
    if (!t->n_rows)
        return exp_fail(why, -EINVAL, "%s: no layers, only a header", t->path);
    m->layer = exp_new(t->n_rows, sizeof *m->layer);
    for (size_t row = 0; row < t->n_rows && !err; row++)
        err = read_layer(m, t, &columns, row, why);
    if (!err && !m->n_layers)
        return exp_fail(why, -EINVAL, "%s: no layer that memory holds", t->path);
    if (!err)
        note_unread(m, t, &columns);
    return err;
}
