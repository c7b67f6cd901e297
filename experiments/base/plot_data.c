#include "experiments/base/plot_data.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/csv.h"
#include "experiments/base/outdir.h"
#include "experiments/base/text.h"

#define BLANKS " \t\n"

struct head {
    struct exp_plot_data *d;
    const struct exp_plot_script *script;
    const char *data_dir, *out_dir;
    bool lacks_data; /* the reason is in why; a hint may follow */
};

/* ---- copies ---- */

static void put_plain(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text == '"' ? '\'' : *text, out);
}

static void put_cell(FILE *out, const char *text, bool is_last)
{
    put_plain(out, text);
    fputc(is_last ? '\n' : '\t', out);
}

static int write_plain(const struct exp_table *t, const char *path)
{
    FILE *out = fopen(path, "w");
    bool failed;

    if (!out)
        return -errno;
    errno = 0;
    for (size_t c = 0; c < t->n_columns; c++)
        put_cell(out, t->column[c], c + 1 == t->n_columns);
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
        put_cell(out, t->field[i], (i + 1) % t->n_columns == 0);
    failed = ferror(out) != 0;
    if (fclose(out) || failed)
        return errno ? -errno : -EIO;
    return 0;
}

/* Names a table's variable: layers_csv for "layers.csv". */
static void name_variable(char *name, size_t bytes, const char *table)
{
    snprintf(name, bytes, "%s", table);
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name))
            *name = '_';
    }
}

static bool is_known(const struct exp_plot_data *d, const char *table)
{
    char name[sizeof d->name[0]];

    name_variable(name, sizeof name, table);
    for (size_t i = 0; i < d->n_tables; i++) {
        if (!strcmp(d->name[i], name))
            return true;
    }
    return false;
}

/*
 * Adds a table; t is NULL for a missing table. A table without rows gives gnuplot nothing to read. The name of a copy has
 * the script's name, because figures are drawn side by side.
 */
static int add_table(const struct head *h, const char *table, const struct exp_table *t, struct exp_why *why)
{
    struct exp_plot_data *d = h->d;
    size_t i = d->n_tables;
    bool is_empty = !t || !t->n_rows;
    char *begin;
    int err;

    if (is_known(d, table))
        return 0;
    if (i == EXP_PLOT_MAX_TABLES)
        return exp_fail(why, -EINVAL, "a figure reads at most %d tables", EXP_PLOT_MAX_TABLES);
    begin = exp_format(".%s.%s.plain.", exp_last_part(h->script->path), table);
    exp_leftovers_clear(h->out_dir, begin);
    d->path[i] = is_empty ? exp_format("%s", "") : exp_format("%s/%s%ld", h->out_dir, begin, (long)getpid());
    free(begin);
    name_variable(d->name[i], sizeof d->name[i], table);
    d->variable[d->n_variables++] = (struct exp_plot_variable){ d->name[i], d->path[i] };
    d->n_tables++;
    err = is_empty ? 0 : write_plain(t, d->path[i]);
    return err ? exp_fail(why, err, "cannot write to '%s': %s", h->out_dir, strerror(-err)) : 0;
}

void exp_plot_data_close(struct exp_plot_data *d)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        if (*d->path[i])
            unlink(d->path[i]);
        free(d->path[i]);
    }
    for (size_t i = 0; i < EXP_PLOT_N_LISTS; i++)
        free(d->list[i]);
    *d = (struct exp_plot_data){ 0 };
}

/* ---- does the table have data? ---- */

/* Tells whether a text has this word. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word), n;

    for (; *(text += strspn(text, BLANKS)); text += n) {
        n = strcspn(text, BLANKS);
        if (n == length && !strncmp(text, word, n))
            return true;
    }
    return false;
}

/* Tells whether a word of a list is the text, or names a variable with the text. */
static bool stands_for(const struct exp_plot_script *s, const char *word, const char *text)
{
    if (*word != '$')
        return !strcmp(word, text);
    for (size_t i = 0; i < s->n_variables; i++) {
        if (!strcmp(s->variable[i].name, word + 1) && has_word(s->variable[i].value, text))
            return true;
    }
    return false;
}

/* Tells whether the text is a word of a list that ends with NULL; an empty list has every word. */
static bool is_among(const struct exp_plot_script *s, char *const *word, const char *text)
{
    if (!*word)
        return true;
    for (; *word; word++) {
        if (stands_for(s, *word, text))
            return true;
    }
    return false;
}

struct demand {
    const char *table;
    char *column[32]; /* both lists end with NULL */
    const char *key;  /* NULL: all rows */
    char *value[16];
};

/* Says why no row has a number: the reason in the cells, if any. */
static int explain(const struct demand *d, size_t n_rows, const char *said, struct exp_why *why)
{
    static const char missing[] = "not available: ";

    if (!n_rows)
        return exp_fail(why, -ENODATA, "%s has no rows for it", d->table);
    if (!strncmp(said, missing, sizeof missing - 1))
        return exp_fail(why, -ENODATA, "%s", said + sizeof missing - 1);
    return exp_fail(why, -ENODATA, "%s has no number in %s%s", d->table, d->column[0] + (*d->column[0] == '$'),
                    d->column[1] ? " and the like" : "");
}

static bool is_number(const struct exp_table *t, size_t row, size_t column)
{
    struct exp_why ignored;
    double value;

    return !exp_table_double(t, row, column, &value, &ignored);
}

/* Checks that some row has a number. A missing column has no number. */
static int check_demand(const struct demand *d, const struct exp_plot_script *s, const struct exp_table *t,
                        struct exp_why *why)
{
    const char *said = "";
    size_t key = 0, n_rows = 0;

    if (d->key && exp_table_column(t, d->key, &key, why))
        return -ENODATA;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (d->key && !is_among(s, d->value, exp_table_string(t, row, key)))
            continue;
        n_rows++;
        for (size_t column = 0; column < t->n_columns; column++) {
            if (!is_among(s, d->column, t->column[column]))
                continue;
            if (is_number(t, row, column))
                return 0;
            said = *said ? said : exp_table_string(t, row, column);
        }
    }
    return explain(d, n_rows, said, why);
}

/* ---- slots ---- */

enum { MOST_THINGS = 100000 };

struct slots {
    const struct exp_plot_script *script;
    const struct exp_table *t;
    size_t number, name; /* columns */
    char *const *alike;  /* names of columns; ends with NULL */
    size_t *of;          /* [last + 1] slot of a number, from 1 on; 0: none yet */
    size_t last;
    size_t *row;      /* [n] the first row of each slot */
    size_t *n_things; /* [n] */
    double *weight;   /* [n] the largest magnitude in a slot's rows */
    size_t n;
    bool are_shared; /* equal things share a slot */
    size_t most;     /* slots that are drawn; 0: all */
    size_t weight_column, n_left_out;
};

/* Returns a row's number; 0 without a number, or for a number beyond any table. */
static size_t number_in(const struct slots *s, size_t row)
{
    struct exp_why ignored;
    uint64_t value;

    return exp_table_u64(s->t, row, s->number, &value, &ignored) || value > MOST_THINGS ? 0 : (size_t)value;
}

static bool are_alike(const struct slots *s, size_t a, size_t b)
{
    bool are = s->alike[0] != NULL;

    for (size_t c = 0; c < s->t->n_columns && are; c++)
        are = !is_among(s->script, s->alike, s->t->column[c]) ||
              !strcmp(exp_table_string(s->t, a, c), exp_table_string(s->t, b, c));
    return are;
}

static void weigh(struct slots *s, size_t slot, size_t row)
{
    struct exp_why ignored;
    double number;

    if (s->most && !exp_table_double(s->t, row, s->weight_column, &number, &ignored))
        s->weight[slot] = fmax(s->weight[slot], fabs(number));
}

static void take_row(struct slots *s, size_t row)
{
    const size_t number = number_in(s, row);
    size_t slot = 0;

    if (!number)
        return;
    if (s->of[number]) {
        weigh(s, s->of[number] - 1, row);
        return;
    }
    while (slot < s->n && !(s->are_shared && are_alike(s, s->row[slot], row)))
        slot++;
    if (slot == s->n)
        s->row[s->n++] = row;
    s->n_things[slot]++;
    s->of[number] = slot + 1;
    weigh(s, slot, row);
}

static void take_rows(struct slots *s)
{
    s->n = 0;
    memset(s->of, 0, (s->last + 1) * sizeof *s->of);
    memset(s->n_things, 0, (s->t->n_rows + 1) * sizeof *s->n_things);
    memset(s->weight, 0, (s->t->n_rows + 1) * sizeof *s->weight);
    for (size_t row = 0; row < s->t->n_rows; row++)
        take_row(s, row);
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Keeps the `most` slots of the largest weights, in their order; of equal weights, the first slots. */
static void leave_out(struct slots *s)
{
    double *sorted = exp_new(s->n + 1, sizeof *sorted);
    size_t *new_of = exp_new(s->n + 1, sizeof *new_of), n_equal = s->most, n = 0;

    memcpy(sorted, s->weight, s->n * sizeof *sorted);
    qsort(sorted, s->n, sizeof *sorted, falling);
    for (size_t slot = 0; slot < s->n; slot++)
        n_equal -= s->weight[slot] > sorted[s->most - 1];
    for (size_t slot = 0; slot < s->n; slot++) {
        if (s->weight[slot] < sorted[s->most - 1] || (s->weight[slot] <= sorted[s->most - 1] && !n_equal)) {
            s->n_left_out += s->n_things[slot];
            continue;
        }
        n_equal -= s->weight[slot] <= sorted[s->most - 1];
        s->row[n] = s->row[slot];
        s->n_things[n] = s->n_things[slot];
        new_of[slot + 1] = ++n;
    }
    for (size_t i = 1; i <= s->last; i++)
        s->of[i] = new_of[s->of[i]];
    s->n = n;
    free(sorted);
    free(new_of);
}

static void print_lists(const struct slots *s, FILE *const out[EXP_PLOT_N_LISTS])
{
    for (size_t i = 1; i <= s->last; i++)
        fprintf(out[0], "%zu ", s->of[i]);
    for (size_t slot = 0; slot < s->n; slot++) {
        fprintf(out[1], "%zu ", s->n_things[slot]);
        fputc('"', out[2]);
        put_plain(out[2], exp_table_string(s->t, s->row[slot], s->name));
        if (s->n_things[slot] > 1)
            fprintf(out[2], " ×%zu", s->n_things[slot]);
        fputs("\" ", out[2]);
    }
    fprintf(out[3], "%zu", s->n_left_out);
}

/* Adds the variables about slots. */
static void add_slots(struct exp_plot_data *d, struct slots *s)
{
    static const char *const names[EXP_PLOT_N_LISTS] = { "slot_of", "slot_things", "slot_names", "slots_left_out" };
    const size_t room = s->t->n_rows + 1;
    FILE *out[EXP_PLOT_N_LISTS];
    size_t bytes[EXP_PLOT_N_LISTS];

    for (size_t row = 0; row < s->t->n_rows; row++)
        s->last = number_in(s, row) > s->last ? number_in(s, row) : s->last;
    s->of = exp_new(s->last + 1, sizeof *s->of);
    s->row = exp_new(room, sizeof *s->row);
    s->n_things = exp_new(room, sizeof *s->n_things);
    s->weight = exp_new(room, sizeof *s->weight);
    take_rows(s);
    s->are_shared = s->n > EXP_PLOT_MOST_SLOTS;
    if (s->are_shared)
        take_rows(s);
    if (s->most && s->n > s->most)
        leave_out(s);
    for (size_t i = 0; i < EXP_PLOT_N_LISTS; i++)
        out[i] = exp_memory_open(&d->list[i], &bytes[i]);
    print_lists(s, out);
    for (size_t i = 0; i < EXP_PLOT_N_LISTS; i++) {
        fclose(out[i]);
        d->variable[d->n_variables++] = (struct exp_plot_variable){ names[i], d->list[i] };
    }
    free(s->of);
    free(s->row);
    free(s->n_things);
    free(s->weight);
}

/* ---- a script's head ---- */

/* Splits the words up to `end`, or all words, into a list that ends with NULL. Returns false if they do not fit. */
static bool take_words(char **rest, const char *end, char **word, size_t room)
{
    char *w;
    size_t n = 0;

    while ((w = strtok_r(NULL, BLANKS, rest)) && (!end || strcmp(w, end))) {
        if (n + 1 == room)
            return false;
        word[n++] = w;
    }
    word[n] = NULL;
    return true;
}

/* Takes "layers.csv: columns [of key: values]" apart. The text is cut into pieces. */
static bool parse_demand(struct demand *d, char *text)
{
    char *rest, *key;

    *d = (struct demand){ .table = strtok_r(text, ":" BLANKS, &rest) };
    if (!d->table || !take_words(&rest, "of", d->column, sizeof d->column / sizeof d->column[0]) || !d->column[0])
        return false;
    key = strtok_r(NULL, ":" BLANKS, &rest);
    d->key = key;
    return !key || (take_words(&rest, NULL, d->value, sizeof d->value / sizeof d->value[0]) && d->value[0]);
}

/* Finds the slots of a table by its columns. Without the table, or the first two columns, there are no slots. */
static void use_slots_of(struct head *h, const struct exp_table *t, const struct demand *slots)
{
    struct slots s = { .script = h->script, .t = t, .alike = slots->column + 2 };

    if (exp_table_column(t, slots->column[0], &s.number, NULL) || exp_table_column(t, slots->column[1], &s.name, NULL))
        return;
    if (slots->key && !exp_table_column(t, slots->key, &s.weight_column, NULL))
        s.most = strtoul(slots->value[0], NULL, 10);
    add_slots(h->d, &s);
}

/* Uses a table; demand and slots may be NULL. */
static int use_table(struct head *h, const char *table, const struct demand *demand, const struct demand *slots,
                     struct exp_why *why)
{
    char *path = exp_format("%s/%s", h->data_dir, table);
    struct exp_table t = { 0 };
    int err = exp_table_read(&t, path, why);
    bool is_there = !err;

    if (err == -ENOENT) {
        err = demand ? exp_fail(why, -ENODATA, "there is no %s", table) : 0;
        why->text[0] = demand ? why->text[0] : '\0';
    } else if (!err && demand) {
        err = check_demand(demand, h->script, &t, why);
    }
    if (!err)
        err = add_table(h, table, is_there ? &t : NULL, why);
    if (!err && is_there && slots)
        use_slots_of(h, &t, slots);
    exp_table_release(&t);
    free(path);
    return err;
}

static int use_draws(struct head *h, char *text, struct exp_why *why)
{
    struct demand demand;
    int err;

    if (!parse_demand(&demand, text))
        return exp_fail(why, -EINVAL, "%s: a '# draws' line that names no columns", h->script->path);
    err = use_table(h, demand.table, &demand, NULL, why);
    h->lacks_data = err == -ENODATA;
    return h->lacks_data ? 0 : err;
}

static int use_reads(struct head *h, char *text, struct exp_why *why)
{
    char *rest;

    for (char *table = strtok_r(text, BLANKS, &rest); table; table = strtok_r(NULL, BLANKS, &rest)) {
        int err = use_table(h, table, NULL, NULL, why);

        if (err)
            return err;
    }
    return 0;
}

static int use_slots(struct head *h, char *text, struct exp_why *why)
{
    struct demand slots;

    if (!parse_demand(&slots, text) || !slots.column[1])
        return exp_fail(why, -EINVAL, "%s: a '# slots' line that names no two columns", h->script->path);
    return use_table(h, slots.table, NULL, &slots, why);
}

static void use_hint(char *text, struct exp_why *why)
{
    text[strcspn(text, "\n")] = '\0';
    exp_say_more(why->text, sizeof why->text, " (%s)", text);
}

/* Returns 1 where the head ends. */
static int use_line(struct head *h, char *line, struct exp_why *why)
{
    static const char draws[] = "# draws ", reads[] = "# reads ", slots[] = "# slots ", hint[] = "# hint ";

    if (h->lacks_data) {
        if (!strncmp(line, hint, sizeof hint - 1))
            use_hint(line + sizeof hint - 1, why);
        return -ENODATA;
    }
    if (!strncmp(line, draws, sizeof draws - 1))
        return use_draws(h, line + sizeof draws - 1, why);
    if (!strncmp(line, reads, sizeof reads - 1))
        return use_reads(h, line + sizeof reads - 1, why);
    if (!strncmp(line, slots, sizeof slots - 1))
        return use_slots(h, line + sizeof slots - 1, why);
    return *line != '#';
}

int exp_plot_data_open(struct exp_plot_data *d, const struct exp_plot_script *script, const char *data_dir,
                       const char *out_dir, struct exp_why *why)
{
    struct head h = { .d = d, .script = script, .data_dir = data_dir, .out_dir = out_dir };
    FILE *in = fopen(script->path, "r");
    char line[1024];
    int err = 0;

    *d = (struct exp_plot_data){ 0 };
    if (!in)
        return exp_fail(why, -errno, "cannot open '%s': %s", script->path, strerror(errno));
    while (!err && fgets(line, sizeof line, in))
        err = use_line(&h, line, why);
    fclose(in);
    return err > 0 ? 0 : !err && h.lacks_data ? -ENODATA : err;
}
