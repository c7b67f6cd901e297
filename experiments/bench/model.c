#include "experiments/bench/model.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/base/csv.h"
#include "experiments/bench/model_formats.h"
#include "sim/machine/machine_words.h"

#define SUFFIX ".csv"
#define NETWORK ".onnx"

static const size_t no_column = SIZE_MAX;

struct columns {
    size_t name;
    size_t shape[CONV_N_FIELDS];
};

/* Finds the first column that is no field of a convolution, and that a slip makes of `name`; NULL: none does. */
static const char *find_meant(const struct exp_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        bool is_field = !strcmp(t->column[i], "name");

        for (size_t f = 0; f < CONV_N_FIELDS && !is_field; f++)
            is_field = !strcmp(t->column[i], conv_fields[f].name);
        if (!is_field && sim_nearest_word(t->column[i], &name, 1))
            return t->column[i];
    }
    return NULL;
}

/* Adds to `why`, which says that a column is missing, what stands there in its place. */
static void say_meant(const struct exp_table *t, const char *name, struct exp_why *why)
{
    const char *other = strpbrk(t->column[0], ";\t|"), *meant = find_meant(t, name);

    if (other && t->n_columns == 1)
        exp_say(why->text, sizeof why->text, "%s:%u: columns are separated by commas, is '%s' a separator here?",
                t->path, t->header_line, *other == '\t' ? "tab" : (char[]){ *other, '\0' });
    else if (meant)
        exp_say_more(why->text, sizeof why->text, "; is '%.40s' meant for it?", meant);
}

static int find_columns(const struct exp_table *t, struct columns *c, struct exp_why *why)
{
    const char *name = "name";
    int err = exp_table_column(t, name, &c->name, why);

    for (size_t i = 0; i < CONV_N_FIELDS && !err; i++) {
        name = conv_fields[i].name;
        err = exp_table_column(t, name, &c->shape[i], why);
        if (err && conv_fields[i].fallback) {
            c->shape[i] = no_column;
            err = 0;
            *why->text = '\0'; /* it is no reason of what goes wrong later */
        }
    }
    if (err)
        say_meant(t, name, why);
    return err ? -EINVAL : 0;
}

static int read_size(const struct exp_table *t, size_t row, size_t column, const struct conv_field *f, size_t *value,
                     struct exp_why *why)
{
    uint64_t number;
    int err = exp_table_u64(t, row, column, &number, why);

    if (err)
        return err == -ERANGE ? -EOVERFLOW : err;
    if (number > SIZE_MAX)
        return exp_fail(why, -EOVERFLOW, "%s:%u: %s, '%s' is too large", t->path, t->line[row], f->name,
                        exp_table_string(t, row, column));
    if (number < f->low)
        return exp_fail(why, -EINVAL, "%s:%u: %s, '%s' must be at least %zu", t->path, t->line[row], f->name,
                        exp_table_string(t, row, column), f->low);
    *value = (size_t)number;
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

static int read_layer(struct exp_layer *l, const struct exp_table *t, const struct columns *c, size_t row,
                      struct exp_why *why)
{
    const char *name = exp_table_string(t, row, c->name);
    char reason[512] = "";
    int err = check_name(t, row, name, why);

    for (size_t i = 0; i < CONV_N_FIELDS && !err; i++) {
        size_t value = conv_fields[i].fallback;

        if (c->shape[i] != no_column)
            err = read_size(t, row, c->shape[i], &conv_fields[i], &value, why);
        conv_field_set(&l->problem, i, value);
    }
    if (err)
        return err;
    err = conv_problem_finish(&l->problem, reason, sizeof reason);
    if (err)
        return exp_fail(why, err, "%s:%u: layer '%.60s', %s", t->path, t->line[row], name, reason);
    l->line = t->line[row];
    l->index = (unsigned)row + 1;
    l->name = exp_copy_text(name);
    return 0;
}

static const char *const suffixes[] = { SUFFIX, ".txt", ".log", NETWORK };

/* Finds the ending that says that a name is that of a file. Returns NULL if it has none. */
static const char *find_suffix(const char *name)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (exp_name_ends_in(name, suffixes[i]))
            return name + strlen(name) - strlen(suffixes[i]);
    }
    return NULL;
}

static char *model_name(const char *path)
{
    const char *name = exp_last_part(path), *suffix = find_suffix(name);

    return exp_format("%.*s", (int)(suffix ? (size_t)(suffix - name) : strlen(name)), name);
}

static int read_layers(struct exp_model *m, const struct exp_table *t, struct exp_why *why)
{
    struct columns columns;
    int err = find_columns(t, &columns, why);

    if (err)
        return err;
    if (!t->n_rows)
        return exp_fail(why, -EINVAL, "%s: no layers, only a header", t->path);
    m->layer = exp_new(t->n_rows, sizeof *m->layer);
    for (m->n_layers = 0; m->n_layers < t->n_rows && !err; m->n_layers++)
        err = read_layer(&m->layer[m->n_layers], t, &columns, m->n_layers, why);
    return err;
}

static int read_table(struct exp_model *m, const char *text, size_t bytes, struct exp_why *why)
{
    struct exp_table t;
    int err = exp_table_parse(&t, m->path, text, bytes, why);

    if (err)
        return err;
    m->is_table = true;
    err = read_layers(m, &t, why);
    exp_table_release(&t);
    return err;
}

/* Tells whether a text is a batch file: by its first option or descriptor. */
static bool is_batch(const char *text)
{
    for (; *text; text += strcspn(text, "\n")) {
        text += strspn(text, " \t\r\n");
        if (*text && *text != '#')
            return !strncmp(text, "--", 2) || exp_descriptor_begins(text);
    }
    return false;
}

/* Checks that something is left of a file of oneDNN's. */
static int check_any(const struct exp_model *m, struct exp_why *why)
{
    if (m->n_layers)
        return 0;
    exp_say(why->text, sizeof why->text, "%s: no forward convolution of fp32 planes", m->path);
    if (m->n_skipped)
        exp_say_more(why->text, sizeof why->text, "; skipped %zu, %s, ...", m->skipped->times, m->skipped->reason);
    return -EINVAL;
}

static int read_text(struct exp_model *m, char *text, size_t bytes, struct exp_why *why)
{
    bool is_log, is_table = exp_name_ends_in(m->path, SUFFIX);
    int err;

    if (!is_table && memchr(text, '\0', bytes))
        return exp_fail(why, -EINVAL, "%s: not a text file", m->path);
    is_log = !is_table && exp_onednn_log_is(text);
    if (is_table || (!is_log && !is_batch(text)))
        return read_table(m, text, bytes, why);
    err = is_log ? exp_onednn_log_read(m, text, why) : exp_benchdnn_read(m, text, why);
    return err ? err : check_any(m, why);
}

static int read_text_file(struct exp_model *m, const char *path, struct exp_why *why)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why);

    if (!err)
        err = read_text(m, text, bytes, why);
    free(text);
    return err;
}

static int read_network(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why)
{
    const int err = exp_onnx_read(m, ask, why);

    return err ? err : check_any(m, why);
}

static int read_file(struct exp_model *m, const char *path, const struct exp_model_ask *ask, struct exp_why *why)
{
    int err;

    *m = (struct exp_model){ 0 };
    m->name = model_name(path);
    m->path = exp_copy_text(path);
    err = exp_name_ends_in(path, NETWORK) ? read_network(m, ask, why) : read_text_file(m, path, why);
    if (err)
        exp_model_release(m);
    return err;
}

static const struct exp_model_ask nothing;

int exp_model_read(struct exp_model *m, const char *path, struct exp_why *why)
{
    return read_file(m, path, &nothing, why);
}

/* Reads a model that is a single descriptor. */
static int read_descriptor(struct exp_model *m, const char *text, struct exp_why *why)
{
    struct exp_descriptor d;
    struct exp_why reason;
    int err = exp_descriptor_read(&d, text, 0, &reason);

    if (!err && d.unsupported)
        err = exp_fail(&reason, -EINVAL, "%s", d.unsupported);
    if (err)
        return exp_fail(why, err, "MODEL: descriptor '%.60s': %s", text, reason.text);
    m->name = exp_format("%.*s", (int)strcspn(text, "n"), text);
    m->path = exp_copy_text(text);
    return exp_model_add(m, &d, (struct exp_model_place){ m->path, 1 }, why);
}

/* Says what to do with a file of a kind that is not read. */
static int check_kind(const char *which, struct exp_why *why)
{
    static const struct {
        const char *ending, *advice;
    } unread[] = {
#define UNREAD(...) { __VA_ARGS__ },
#include "experiments/bench/unread.def"
    };

    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++) {
        if (exp_name_ends_in(which, unread[i].ending))
            return exp_fail(why, -EINVAL, "MODEL: '%.200s': %s", which, unread[i].advice);
    }
    return 0;
}

static int read_named(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why)
{
    static const char paths[] = "the path of a network, .onnx, of a layer table, .csv, of a batch file, .txt, or of a "
                                "log, .log; or a descriptor";
    char *folder = exp_format("%s/models", experiments_dir), *path = exp_format("%s/%s%s", folder, which, SUFFIX);
    int err = exp_model_read(m, path, why);

    if (err == -ENOENT)
        exp_names_unknown(&(struct exp_names){ "model", folder, SUFFIX, "", paths }, which, why);
    free(path);
    free(folder);
    return err;
}

static int find_model(struct exp_model *m, const char *experiments_dir, const char *which,
                      const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = check_kind(which, why);

    *m = (struct exp_model){ 0 };
    if (err)
        return err;
    if (!*which)
        which = "(empty name)";
    if (exp_descriptor_begins(which)) {
        err = read_descriptor(m, which, why);
        if (err)
            exp_model_release(m);
        return err;
    }
    if (strchr(which, '/') || find_suffix(which))
        return read_file(m, which, ask, why);
    return read_named(m, experiments_dir, which, why);
}

/* Gives every layer so many images. */
static int set_batch(struct exp_model *m, unsigned batch, struct exp_why *why)
{
    struct exp_why reason;
    int err = 0;

    for (size_t i = 0; i < m->n_layers && !err; i++) {
        m->layer[i].problem.n = batch;
        err = conv_problem_finish(&m->layer[i].problem, reason.text, sizeof reason.text);
        if (err)
            exp_fail(why, err, "BATCH: layer '%.60s', %s", m->layer[i].name, reason.text);
    }
    return err;
}

int exp_model_find_as(struct exp_model *m, const char *experiments_dir, const char *which,
                      const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = find_model(m, experiments_dir, which, ask, why);

    if (err)
        return err;
    if (ask->input && *ask->input && !exp_name_ends_in(which, NETWORK))
        err = exp_fail(why, -EINVAL, "INPUT: '%.60s' is no network (.onnx), and its sizes are fixed", which);
    if (!err && ask->batch && !exp_name_ends_in(which, NETWORK))
        err = set_batch(m, ask->batch, why);
    if (!err && ask->layers && *ask->layers)
        err = exp_model_filter(m, ask->layers, why);
    if (err)
        exp_model_release(m);
    return err;
}

int exp_model_find(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why)
{
    return exp_model_find_as(m, experiments_dir, which, &nothing, why);
}

static int no_match(const struct exp_model *m, const char *pattern, struct exp_why *why)
{
    exp_say(why->text, sizeof why->text, "no layer of %s matches '%.60s'; it has", m->name, pattern);
    for (size_t i = 0; i < m->n_layers && i < 6; i++)
        exp_say_more(why->text, sizeof why->text, "%s %.40s", i ? "," : "", m->layer[i].name);
    exp_say_more(why->text, sizeof why->text, "%s (%zu in all)", m->n_layers > 6 ? ", ..." : "", m->n_layers);
    if (strpbrk(pattern, " \t"))
        exp_say_more(why->text, sizeof why->text, "; patterns are separated by commas, not by blanks");
    return -ENOENT;
}

static bool mark_matches(const struct exp_model *m, const char *pattern, bool *keep)
{
    bool any = false;

    for (size_t i = 0; i < m->n_layers; i++) {
        if (!fnmatch(pattern, m->layer[i].name, 0))
            any = keep[i] = true;
    }
    return any;
}

/* Marks what each pattern of the list matches; cuts the list up. */
static int mark_all(const struct exp_model *m, char *patterns, bool *keep, struct exp_why *why)
{
    size_t n_patterns = 0;
    char *rest = patterns;

    while (rest) {
        char *pattern = rest + strspn(rest, " \t"), *end = strchr(pattern, ',');

        rest = end ? end + 1 : NULL;
        end = end ? end : pattern + strlen(pattern);
        while (end > pattern && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = '\0';
        if (!*pattern)
            continue;
        n_patterns++;
        if (!mark_matches(m, pattern, keep))
            return no_match(m, pattern, why);
    }
    return n_patterns ? 0 : exp_fail(why, -EINVAL, "the list of layer patterns is empty");
}

static void keep_marked(struct exp_model *m, const bool *keep)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_layers; i++) {
        if (keep[i])
            m->layer[n++] = m->layer[i];
        else
            free(m->layer[i].name);
    }
    m->n_layers = n;
}

int exp_model_filter(struct exp_model *m, const char *patterns, struct exp_why *why)
{
    char *copy = exp_copy_text(patterns);
    bool *keep = exp_new(m->n_layers, sizeof *keep);
    int err = mark_all(m, copy, keep, why);

    if (!err)
        keep_marked(m, keep);
    free(keep);
    free(copy);
    return err;
}

void exp_model_release(struct exp_model *m)
{
    exp_model_shorten(m, 0);
    for (struct exp_skipped *s = m->skipped; s < m->skipped + m->n_skipped; s++) {
        free(s->path);
        free(s->reason);
    }
    free(m->skipped);
    free(m->others);
    free(m->layer);
    free(m->path);
    free(m->name);
    *m = (struct exp_model){ 0 };
}

/* ---- adding layers, and what was left out ---- */

enum { MAX_LAYERS = 100000, SHOWN_LINES = EXP_SKIPPED_LINES };

static char *shape_name(size_t number, const struct conv_problem *p)
{
    char stride[48] = "";

    if (p->stride_h != 1 || p->stride_w != 1)
        exp_say(stride, sizeof stride, "_s%zux%zu", p->stride_h, p->stride_w);
    return exp_format("%02zu_%zux%zux%zu_%zu_%zux%zu%s", number, p->c, p->h, p->w, p->k, p->r, p->s, stride);
}

static void add_once(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at)
{
    char *name =
        d->name_length ? exp_format("%.*s", (int)d->name_length, d->name) : shape_name(m->n_layers + 1, &d->problem);
    struct exp_layer *l = exp_append(&m->layer, &m->n_layers, sizeof *l);

    *l = (struct exp_layer){ .name = name, .problem = d->problem, .line = at.line, .index = (unsigned)m->n_layers };
}

static int check_own_name(const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    for (size_t i = 0; i < d->name_length; i++) {
        if (iscntrl((unsigned char)d->name[i]))
            return exp_fail(why, -EINVAL, "%s:%u: name, a control character after '%.*s'", at.path, at.line, (int)i,
                            d->name);
    }
    return 0;
}

int exp_model_add(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    int err = check_own_name(d, at, why);

    for (size_t i = 0; i < d->times && !err; i++) {
        if (m->n_layers == MAX_LAYERS)
            return exp_fail(why, -EINVAL, "%s:%u: more than %d layers", at.path, at.line, MAX_LAYERS);
        add_once(m, d, at);
    }
    return err;
}

int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why)
{
    int err = check_own_name(d, at, why);

    if (!err)
        add_once(m, d, at);
    return err;
}

int exp_model_check_size(const struct exp_model *m, struct exp_why *why)
{
    if (m->n_layers <= MAX_LAYERS)
        return 0;
    return exp_fail(why, -EINVAL, "%s: %zu convolutions that do not repeat; at most %d", m->path, m->n_layers,
                    MAX_LAYERS);
}

void exp_model_shorten(struct exp_model *m, size_t n)
{
    while (m->n_layers > n)
        free(m->layer[--m->n_layers].name);
}

static struct exp_skipped *find_skipped(struct exp_model *m, const char *path, const char *reason)
{
    for (size_t i = 0; i < m->n_skipped; i++) {
        if (!strcmp(m->skipped[i].reason, reason) && !strcmp(m->skipped[i].path, path))
            return &m->skipped[i];
    }
    return NULL;
}

int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason)
{
    struct exp_skipped *s = find_skipped(m, at.path, reason);

    if (!s) {
        s = exp_append(&m->skipped, &m->n_skipped, sizeof *s);
        s->path = exp_copy_text(at.path);
        s->reason = exp_copy_text(reason);
    }
    if (s->times < SHOWN_LINES)
        s->line[s->times] = at.line;
    s->times++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct exp_layer *const *l = a, *const *r = b;
    int order = strcmp((*l)->name, (*r)->name);

    return order ? order : ((*l)->line > (*r)->line) - ((*l)->line < (*r)->line);
}

/* Prints which layers of a table share a name: the first two, and how many more there are. */
static void print_namesakes(const struct exp_model *m, FILE *out)
{
    const struct exp_layer **sorted = exp_new(m->n_layers, sizeof *sorted);
    size_t n = 0, first = 0;

    for (size_t i = 0; i < m->n_layers; i++)
        sorted[i] = &m->layer[i];
    qsort(sorted, m->n_layers, sizeof *sorted, by_name);
    for (size_t i = 1; i < m->n_layers; i++) {
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 && !n++)
            first = i;
    }
    if (n)
        fprintf(out,
                "%s: warning: two layers are called '%s', in lines %u and %u%s: tables and LAYERS= cannot tell them "
                "apart\n",
                m->path, sorted[first]->name, sorted[first - 1]->line, sorted[first]->line,
                n > 1 ? "; there are more of the kind" : "");
    free(sorted);
}

void exp_model_print_notes(const struct exp_model *m, FILE *out)
{
    if (m->is_table)
        print_namesakes(m, out);
    if (m->repeats)
        fprintf(out, "%s: %zu convolutions, which ran %zu time%s\n", m->path, m->n_layers, m->repeats,
                m->repeats > 1 ? "s" : "");
    for (const struct exp_skipped *s = m->skipped; s < m->skipped + m->n_skipped; s++) {
        size_t shown = s->times < SHOWN_LINES ? s->times : SHOWN_LINES;

        fprintf(out, "%s: skipped %zu, %s", s->path, s->times, s->reason);
        for (size_t i = 0; i < shown && s->line[0]; i++)
            fprintf(out, "%s %u", i ? "," : s->times > 1 ? ": lines" : ": line", s->line[i]);
        fprintf(out, "%s\n", s->times > shown && s->line[0] ? ", ..." : "");
    }
    if (m->others)
        fprintf(out, "%s: %zu convolutions; beside them %s\n", m->path, m->n_layers, m->others);
}

/* ---- several models at once ---- */

#define ALL "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

/* Checks that no two models have a name in common: rows of results are told apart by it. */
static int check_names(const struct exp_models *m, struct exp_why *why)
{
    const struct exp_model *last = &m->model[m->n - 1];

    for (const struct exp_model *other = m->model; other < last; other++) {
        if (!strcmp(other->name, last->name))
            return exp_fail(why, -EINVAL, "MODEL: two tables are called '%s', %s and %s: rename one of them",
                            last->name, other->path, last->path);
    }
    return 0;
}

static int read_one(struct exp_models *m, const char *experiments_dir, const char *name,
                    const struct exp_model_ask *ask, struct exp_why *why)
{
    struct exp_model *model = &m->model[m->n];
    int err;

    if (m->n == EXP_MAX_MODELS)
        return exp_fail(why, -EINVAL, "MODEL: more than %d models", EXP_MAX_MODELS);
    err = exp_model_find_as(model, experiments_dir, name, ask, why);
    if (err)
        return err;
    m->n++;
    return check_names(m, why);
}

/* Returns how much of a text is left without the blanks at its end. */
static size_t length_of_name(const char *text, size_t length)
{
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length;
}

int exp_models_read_as(struct exp_models *m, const char *experiments_dir, const char *list,
                       const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = 0;

    m->n = 0;
    list = *list && strcmp(list, "all") ? list : ALL;
    while (*list && !err) {
        size_t blanks = strspn(list, " \t"), length = strcspn(list, ",");
        char *name = exp_format("%.*s", (int)length_of_name(list + blanks, length - blanks), list + blanks);

        err = read_one(m, experiments_dir, name, ask, why);
        free(name);
        list += length + (list[length] == ',');
    }
    if (err)
        exp_models_release(m);
    return err;
}

int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why)
{
    return exp_models_read_as(m, experiments_dir, list, &(struct exp_model_ask){ .layers = patterns }, why);
}

void exp_models_release(struct exp_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        exp_model_release(&m->model[i]);
    m->n = 0;
}

void exp_problem_print(const struct conv_problem *p, FILE *out)
{
#define FIELD(member, sconv_member, name, ...) fprintf(out, "%s=%zu ", name, p->member);
#include "kernels/shape/problem_fields.def"
}

double exp_models_rows(const char *experiments_dir, const char *pattern)
{
    char *tables = exp_format("%s/models/%s", experiments_dir, pattern);
    struct exp_why ignored;
    glob_t g = { 0 };
    double n = glob(tables, 0, NULL, &g) ? (double)NAN : 0;

    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct exp_model m;

        if (exp_model_read(&m, g.gl_pathv[i], &ignored))
            continue;
        n += (double)m.n_layers;
        exp_model_release(&m);
    }
    globfree(&g);
    free(tables);
    return n;
}
