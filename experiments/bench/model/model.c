#include "experiments/bench/model/model.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/base/csv.h"
#include "experiments/bench/model/formats.h"
#include "sim/machine/machine_words.h"

#define SUFFIX ".csv"
#define NETWORK ".onnx"
#define LOG ".log"

static bool is_folder(const char *path)
{
    struct stat status;

    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static const char *const suffixes[] = { SUFFIX, ".txt", LOG, NETWORK };

/* Finds the ending that marks a name as a file's name, or NULL. */
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

static int read_table(struct exp_model *m, const char *text, size_t bytes, struct exp_why *why)
{
    struct exp_table t;
    int err = exp_table_parse(&t, m->path, text, bytes, why);

    if (err)
        return err;
    err = exp_layer_table_read(m, &t, why);
    exp_table_release(&t);
    return err;
}

/* Tells whether a text is a batch file: its first word is an option or a descriptor, or all lines are comments. */
static bool is_batch(const char *text)
{
    for (; *text; text += strcspn(text, "\n")) {
        text += strspn(text, " \t\r\n");
        if (*text && *text != '#')
            return (*text == '-' && isalpha((unsigned char)text[1 + (text[1] == '-')])) || exp_descriptor_begins(text);
    }
    return true;
}

/* Checks that a file of oneDNN has a convolution left. */
static int check_any(const struct exp_model *m, struct exp_why *why)
{
    if (m->n_layers)
        return 0;
    exp_say(why->text, sizeof why->text, "%s: no forward convolution of fp32 planes", m->path);
    if (m->n_skipped)
        exp_say_more(why->text, sizeof why->text, "; skipped %zu, %s, ...", m->skipped->times, m->skipped->reason);
    return -EINVAL;
}

/* Reads a file by its content: a log, a batch file, or a layer table. */
static int read_text(struct exp_model *m, char *text, size_t bytes, struct exp_why *why)
{
    bool is_log;
    int err;

    exp_text_plain(text, &bytes);
    is_log = exp_onednn_log_is(text);
    if (!is_log && !is_batch(text)) {
        if (exp_name_ends_in(m->path, LOG))
            return exp_fail(why, -EINVAL, "%s: no line of a log of ONEDNN_VERBOSE=1 (onednn_verbose,...,exec,...)",
                            m->path);
        return read_table(m, text, bytes, why);
    }
    err = is_log ? exp_onednn_log_read(m, text, why) : exp_benchdnn_read(m, text, why);
    return err ? err : check_any(m, why);
}

static int read_text_file(struct exp_model *m, const char *path, struct exp_why *why)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why);

    err = err ? err : exp_text_check(text, &bytes, path, why);
    if (!err)
        err = exp_name_ends_in(path, SUFFIX) ? read_table(m, text, bytes, why) : read_text(m, text, bytes, why);
    free(text);
    return err;
}

static int read_network(struct exp_model *m, const struct exp_model_ask *ask, struct exp_why *why)
{
    const int err = exp_onnx_read(m, ask, why);

    return err ? err : check_any(m, why);
}

/* Returns the length of a path without slashes behind the last name. */
static size_t path_length(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Moves the layers of a part, and all notes on the reading of the part, to the end of a model. */
static void append_part(struct exp_model *m, struct exp_model *part)
{
    m->layer = exp_resize(m->layer, m->n_layers + part->n_layers, sizeof *m->layer);
    for (size_t i = 0; i < part->n_layers; i++) {
        m->layer[m->n_layers++] = part->layer[i];
        m->layer[m->n_layers - 1].index = (unsigned)m->n_layers;
    }
    part->n_layers = 0;
    for (struct exp_skipped *s = part->skipped; s < part->skipped + part->n_skipped; s++) {
        *(struct exp_skipped *)exp_append(&m->skipped, &m->n_skipped, sizeof *s) = *s;
        *s = (struct exp_skipped){ 0 };
    }
    if (part->notes)
        exp_model_note(m, "%s: %.*s", exp_last_part(part->path), (int)strcspn(part->notes, "\n"), part->notes);
}

/* Reads all tables of a folder as one model, in the order of their names. */
static int read_folder(struct exp_model *m, const char *path, struct exp_why *why)
{
    char *tables = exp_format("%s/*" SUFFIX, path);
    glob_t g = { 0 };
    int err = 0;

    glob(tables, GLOB_NOESCAPE, NULL, &g);
    if (!g.gl_pathc)
        err = exp_fail(why, -ENOENT, "there is no layer table, *" SUFFIX ", in the folder '%s'", path);
    for (size_t i = 0; i < g.gl_pathc && !err; i++) {
        struct exp_model part = { .name = model_name(g.gl_pathv[i]), .path = exp_copy_text(g.gl_pathv[i]) };

        err = read_text_file(&part, g.gl_pathv[i], why);
        if (!err)
            append_part(m, &part);
        exp_model_release(&part);
    }
    globfree(&g);
    free(tables);
    return err ? err : exp_model_check_size(m, why);
}

static int read_file(struct exp_model *m, const char *path, const struct exp_model_ask *ask, struct exp_why *why)
{
    int err;

    *m = (struct exp_model){ 0 };
    m->path = exp_format("%.*s", (int)path_length(path), path);
    m->name = model_name(m->path);
    err = is_folder(path)                   ? read_folder(m, m->path, why)
          : exp_name_ends_in(path, NETWORK) ? read_network(m, ask, why)
                                            : read_text_file(m, path, why);
    if (err)
        exp_model_release(m);
    else
        exp_model_tell_apart(m);
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

/* Gives the advice for a file of a kind that is not read. */
static int check_kind(const char *which, struct exp_why *why)
{
    static const struct {
        const char *ending, *advice;
    } unread[] = {
#define UNREAD(...) { __VA_ARGS__ },
#include "experiments/bench/model/unread.def"
    };

    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++) {
        if (exp_name_ends_in(which, unread[i].ending))
            return exp_fail(why, -EINVAL, "MODEL: '%.200s': %s", which, unread[i].advice);
    }
    return 0;
}

/* Visits the tables below experiments_dir/models that match a pattern, until a visit returns true. */
static bool any_table(const char *experiments_dir, const char *pattern, bool (*visit)(void *ctx, const char *path),
                      void *ctx)
{
    char *tables = exp_format("%s/models/%s", experiments_dir, pattern);
    glob_t g = { 0 };
    bool found = false;

    glob(tables, 0, NULL, &g);
    for (size_t i = 0; i < g.gl_pathc && !found; i++)
        found = visit(ctx, g.gl_pathv[i]);
    globfree(&g);
    free(tables);
    return found;
}

static bool say_other_folder(void *ctx, const char *path)
{
    struct exp_why *why = ctx;
    const char *name = exp_last_part(path);

    return exp_fail(why, -ENOENT, "unknown model '%.*s'; there is a table called so: MODEL=%s",
                    (int)(strlen(name) - strlen(SUFFIX)), name, path) != 0;
}

/* Says that a model's name is unknown, with a similar name if there is one. Returns -ENOENT. */
static int say_unknown(const char *experiments_dir, const char *which, struct exp_why *why)
{
    static const char paths[] = "the path of a network, .onnx, of a layer table, .csv, of a batch file, .txt, or of a "
                                "log, .log; or a descriptor";
    char *folder = exp_format("%s/models", experiments_dir);
    struct stat status;

    exp_names_unknown(&(struct exp_names){ "model", folder, SUFFIX, "", paths }, which, why);
    if (!stat(which, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        exp_fail(why, 0, "unknown model '%s'; there is a %s called so: MODEL=./%s", which,
                 S_ISREG(status.st_mode) ? "file" : "folder", which);
    if (!strpbrk(which, "*?[\\{")) {
        char *elsewhere = exp_format("*/%s%s", which, SUFFIX);

        any_table(experiments_dir, elsewhere, say_other_folder, why);
        free(elsewhere);
    }
    free(folder);
    return -ENOENT;
}

static char *table_path(const char *experiments_dir, const char *name)
{
    return exp_format("%s/models/%s%s", experiments_dir, name, SUFFIX);
}

static int read_named(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why)
{
    char *path = table_path(experiments_dir, which);
    int err = exp_model_read(m, path, why);

    if (err == -ENOENT)
        say_unknown(experiments_dir, which, why);
    free(path);
    return err;
}

bool exp_model_is_path(const char *which)
{
    return strchr(which, '/') || find_suffix(which);
}

int exp_model_check(const char *experiments_dir, const char *which, struct exp_why *why)
{
    char *path = table_path(experiments_dir, which);
    int err = check_kind(which, why);

    assert(which);
    if (!err && *which && strcmp(which, "all") != 0 && !exp_descriptor_begins(which)) {
        if (exp_model_is_path(which))
            err = access(which, F_OK) ? exp_fail(why, -ENOENT, "there is no file '%s'", which) : 0;
        else if (access(path, F_OK))
            err = say_unknown(experiments_dir, which, why);
    }
    free(path);
    return err;
}

/* A layer's name to look for, and the name of the model that has the layer (from malloc). */
struct wanted {
    const char *name;
    char *model;
};

static bool has_layer(void *ctx, const char *path)
{
    struct wanted *w = ctx;
    struct exp_why ignored;
    struct exp_model m;

    if (exp_model_read(&m, path, &ignored))
        return false;
    for (size_t i = 0; i < m.n_layers && !w->model; i++)
        w->model = strcmp(m.layer[i].name, w->name) ? NULL : exp_copy_text(m.name);
    exp_model_release(&m);
    return w->model != NULL;
}

char *exp_model_with_layer(const char *experiments_dir, const char *layer)
{
    struct wanted w = { layer, NULL };

    any_table(experiments_dir, "*" SUFFIX, has_layer, &w);
    return w.model;
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
    if (exp_model_is_path(which))
        return read_file(m, which, ask, why);
    return read_named(m, experiments_dir, which, why);
}

/* Sets every layer's number of images. */
static int set_batch(struct exp_model *m, unsigned batch, struct exp_why *why)
{
    struct exp_why reason;
    int err = 0;

    for (size_t i = 0; i < m->n_layers && !err; i++) {
        m->layer[i].problem.n = batch;
        err = conv_problem_finish(&m->layer[i].problem, SIM_WHY(reason.text));
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
        err = exp_model_filter(m, ask->layers, !ask->is_of_several, why);
    if (err)
        exp_model_release(m);
    return err;
}

int exp_model_find(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why)
{
    return exp_model_find_as(m, experiments_dir, which, &nothing, why);
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
    free(m->notes);
    free(m->types);
    free(m->layer);
    free(m->path);
    free(m->name);
    *m = (struct exp_model){ 0 };
}

/* Prints each line of a text with its file's path in front. */
static void print_lines(const char *path, const char *text, FILE *out)
{
    for (; *text; text += strcspn(text, "\n") + 1)
        fprintf(out, "%s: %.*s\n", path, (int)strcspn(text, "\n"), text);
}

void exp_model_print_notes(const struct exp_model *m, FILE *out)
{
    if (m->notes)
        print_lines(m->path, m->notes, out);
    if (m->n_untyped)
        fprintf(out, "%s: %zu convolutions of MKL-DNN 0, whose logs name no types, are read as fp32\n", m->path,
                m->n_untyped);
    if (m->repeats)
        fprintf(out, "%s: %zu convolutions, which ran %zu time%s\n", m->path, m->n_layers, m->repeats,
                m->repeats > 1 ? "s" : "");
    for (const struct exp_skipped *s = m->skipped; s < m->skipped + m->n_skipped; s++) {
        size_t shown = s->times < EXP_SKIPPED_LINES ? s->times : EXP_SKIPPED_LINES;

        fprintf(out, "%s: skipped %zu, %s", s->path, s->times, s->reason);
        for (size_t i = 0; i < shown && s->line[0]; i++)
            fprintf(out, "%s %u", i ? "," : s->times > 1 ? ": lines" : ": line", s->line[i]);
        fprintf(out, "%s\n", s->times > shown && s->line[0] ? ", ..." : "");
    }
    if (m->others)
        fprintf(out, "%s: %zu convolutions; beside them %s\n", m->path, m->n_layers, m->others);
    if (m->types)
        fprintf(out, "%s: %s\n", m->path, m->types);
}

void exp_problem_print(const struct conv_problem *p, FILE *out)
{
    assert(p && out);
#define FIELD(member, sconv_member, name, ...) fprintf(out, "%s=%zu ", name, p->member);
#include "kernels/shape/problem_fields.def"
}

static bool count_rows(void *ctx, const char *path)
{
    double *n = ctx;
    struct exp_why ignored;
    struct exp_model m;

    *n = isnan(*n) ? 0 : *n;
    if (exp_model_read(&m, path, &ignored))
        return false;
    *n += (double)m.n_layers;
    exp_model_release(&m);
    return false;
}

double exp_models_rows(const char *experiments_dir, const char *pattern)
{
    double n = (double)NAN;

    any_table(experiments_dir, pattern, count_rows, &n);
    return n;
}
