#include "experiments/base/plot.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/csv.h"
#include "experiments/base/plot_data.h"
#include "experiments/base/tasks.h"
#include "experiments/base/text.h"

/* ---- one file ---- */

enum { NOTHING_TO_DRAW = 77 };

struct file_kind {
    const char *format, *suffix;
    const char *last; /* bytes that every complete file ends with */
    size_t last_bytes;
};

static const struct file_kind file_kinds[] = {
    { "png", ".png", "IEND\xae\x42\x60\x82", 8 },
    { "svg", ".svg", "</svg>", 6 },
};

static const struct file_kind *find_kind(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof file_kinds / sizeof file_kinds[0]; i++) {
        size_t suffix = strlen(file_kinds[i].suffix);

        if (length > suffix && !strcmp(path + length - suffix, file_kinds[i].suffix))
            return &file_kinds[i];
    }
    return NULL;
}

/*
 * Appends name="value" in gnuplot's double quotes. An octal code stands for each character with a meaning in quotes or
 * in a shell, and for a digit behind an octal code, because gnuplot would add the digit to the code. (Single quotes do
 * not work: gnuplot takes two single quotes at the beginning of a string for an empty string.)
 */
static void put_variable(FILE *out, const char *name, const char *value)
{
    bool after_code = false;

    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;

        after_code = strchr("\"'\\`@$", c) || (after_code && isdigit(c));
        if (after_code)
            fprintf(out, "\\%03o", c);
        else
            fputc(iscntrl(c) ? ' ' : c, out);
    }
    fputs("\";", out);
}

/* Returns the commands that define all variables, from malloc. */
static char *make_definitions(const char *format, const char *output, const struct exp_plot_variable *variable,
                              size_t n)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&text, &bytes);

    put_variable(out, "format", format);
    put_variable(out, "output", output);
    for (size_t i = 0; i < n; i++)
        put_variable(out, variable[i].name, variable[i].value);
    fclose(out);
    return text;
}

static bool is_complete(const char *path, const struct file_kind *kind)
{
    char tail[16];
    FILE *in = fopen(path, "rb");
    size_t n = 0;

    if (!in)
        return false;
    if (!fseek(in, -(long)sizeof tail, SEEK_END))
        n = fread(tail, 1, sizeof tail, in);
    fclose(in);
    for (size_t i = 0; i + kind->last_bytes <= n; i++) {
        if (!memcmp(tail + i, kind->last, kind->last_bytes))
            return true;
    }
    return false;
}

static int judge(const char *script, const char *partial, const struct file_kind *kind, int status, const char *last,
                 struct exp_why *why)
{
    if (WIFSIGNALED(status))
        return exp_fail(why, -EINTR, "gnuplot was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == NOTHING_TO_DRAW)
        return exp_fail(why, -ENODATA, "%s", *last ? last : "nothing to draw");
    if (WEXITSTATUS(status))
        return exp_fail(why, -EIO, "gnuplot failed: %s", *last ? last : script);
    if (!is_complete(partial, kind))
        return exp_fail(why, -EIO, "gnuplot wrote no complete %s file%s%s", kind->format, *last ? ": " : "", last);
    return 0;
}

static int draw(const char *script, const char *output, const char *partial, const struct file_kind *kind,
                const char *definitions, unsigned limit_s, struct exp_why *why)
{
    const char *const argv[] = { "gnuplot", "--default-settings", "-e", definitions, script, NULL };
    char last[512];
    int status = 0;
    int err = exp_process_run(argv, limit_s, exp_interrupted, &status, last, sizeof last);

    if (err == -ENOENT)
        return exp_fail(why, err, "gnuplot is not installed (package gnuplot-nox)");
    if (err == -EINTR)
        return exp_fail(why, err, "interrupted while drawing");
    if (err == -ETIMEDOUT)
        return exp_fail(why, err, "gnuplot was not done after %u s and was killed", limit_s);
    if (err)
        return exp_fail(why, err, "cannot run gnuplot: %s", strerror(-err));
    err = judge(script, partial, kind, status, last, why);
    if (!err && rename(partial, output))
        err = exp_fail(why, -errno, "cannot create '%s': %s", output, strerror(errno));
    return err;
}

int exp_plot_draw(const char *script, const char *output, const struct exp_plot_variable *variable, size_t n_variables,
                  unsigned limit_s, struct exp_why *why)
{
    const struct file_kind *kind = find_kind(output);
    char *partial, *definitions;
    int err;

    if (!kind)
        return exp_fail(why, -EINVAL, "neither a .png nor a .svg file: '%s'", output);
    partial = exp_format("%s.partial", output);
    definitions = make_definitions(kind->format, partial, variable, n_variables);
    err = draw(script, output, partial, kind, definitions, limit_s, why);
    if (err)
        unlink(partial);
    free(definitions);
    free(partial);
    return err;
}

/* ---- figures of a result folder ---- */

char *exp_plot_script_path(const char *scripts_dir, const char *figure)
{
    char *path = exp_format("%s/%s.gp", scripts_dir, figure);
    char *beside = exp_format("%s/../*/%s.gp", scripts_dir, figure);
    char *paper = exp_format("%s/../papers/*/%s.gp", scripts_dir, figure);
    glob_t found;

    if (access(path, F_OK) && (!glob(beside, 0, NULL, &found) || !glob(paper, 0, NULL, &found))) {
        free(path);
        path = exp_format("%s", found.gl_pathv[0]);
        globfree(&found);
    }
    free(paper);
    free(beside);
    return path;
}

enum { N_FORMATS = sizeof file_kinds / sizeof file_kinds[0] };

/* The outcome of a file, or of a figure that is not begun (suffix ""). */
struct outcome {
    const char *suffix;
    int err;
    struct exp_why line;
};

struct drawing {
    const struct exp_plot_figures *f;
    const char *figure;
    char *script;
    struct exp_plot_variable *variable; /* f's, and the script's tables */
    size_t n_variables;
    struct outcome outcome[N_FORMATS];
    size_t n_outcomes;
    int err;
    struct exp_why why;
};

static void keep_outcome(struct drawing *d, const char *suffix, int err, const char *why)
{
    struct outcome *o = &d->outcome[d->n_outcomes++];

    assert(d->n_outcomes <= N_FORMATS);
    *o = (struct outcome){ .suffix = suffix, .err = err };
    exp_say(o->line.text, sizeof o->line.text, "%s", why);
}

static void report_outcomes(const struct drawing *d, exp_plot_report_fn report, void *ctx)
{
    for (size_t i = 0; i < d->n_outcomes && report; i++) {
        const struct outcome *o = &d->outcome[i];
        char *file = exp_format("%s/%s%s", d->f->out_dir, d->figure, o->suffix);

        report(ctx, file, o->err, o->line.text);
        free(file);
    }
}

/* Tells whether the next figure would fail with this error, too. */
static bool ends_drawing(int err)
{
    return err == -ENOENT || err == -EINTR || err == -ETIMEDOUT || exp_interrupted();
}

static int draw_formats(struct drawing *d, struct exp_why *why)
{
    int first = 0;

    for (size_t i = 0; i < N_FORMATS; i++) {
        struct exp_why line = { "" };
        char *output = exp_format("%s/%s%s", d->f->out_dir, d->figure, file_kinds[i].suffix);
        int err = exp_plot_draw(d->script, output, d->variable, d->n_variables, EXP_PLOT_LIMIT_S, &line);

        free(output);
        if (err == -ENODATA)
            return exp_fail(why, err, "%s", line.text); /* the other format would fail alike */
        keep_outcome(d, file_kinds[i].suffix, err, line.text);
        if (err && !first)
            first = exp_fail(why, err, "%s", line.text);
        if (ends_drawing(err))
            break;
    }
    return first;
}

static int draw_with_data(struct drawing *d, const struct exp_plot_data *data, struct exp_why *why)
{
    size_t n = d->f->n_variables;
    int err;

    d->n_variables = n + data->n_variables;
    d->variable = exp_new(d->n_variables, sizeof *d->variable);
    if (n)
        memcpy(d->variable, d->f->variable, n * sizeof *d->variable);
    memcpy(d->variable + n, data->variable, data->n_variables * sizeof *d->variable);
    err = draw_formats(d, why);
    free(d->variable);
    return err;
}

static int draw_figure(struct drawing *d, struct exp_why *why)
{
    const struct exp_plot_script script = { d->script, d->f->variable, d->f->n_variables };
    struct exp_plot_data data;
    int err = exp_plot_data_open(&data, &script, d->f->data_dir, d->f->out_dir, why);
    bool has_data = !err;

    if (has_data)
        err = draw_with_data(d, &data, why);
    exp_plot_data_close(&data);
    if (err == -ENODATA || !has_data)
        keep_outcome(d, "", err, why->text);
    return err == -ENODATA ? 0 : err;
}

static int draw_one(void *drawings, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct drawing *d = (struct drawing *)drawings + index;

    (void)thread;
    (void)pool;
    d->script = exp_plot_script_path(d->f->scripts_dir, d->figure);
    d->err = draw_figure(d, &d->why);
    free(d->script);
    return ends_drawing(d->err) ? -ECANCELED : 0;
}

/* Draws figures side by side, and reports the outcomes in the order of the figures. */
static int draw_all(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why)
{
    struct drawing *drawing = exp_new(f->n_figures, sizeof *drawing);
    const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int first = 0;

    for (size_t i = 0; i < f->n_figures; i++)
        drawing[i] = (struct drawing){ .f = f, .figure = f->figure[i] };
    exp_pool_run(f->n_figures, n_cpus > 0 ? (size_t)n_cpus : 1, draw_one, drawing, NULL, NULL);
    for (size_t i = 0; i < f->n_figures; i++) {
        const struct drawing *d = &drawing[i];

        report_outcomes(d, report, ctx);
        if (d->err && !first)
            first = exp_fail(why, d->err, "%s: %s", d->figure, d->why.text);
        if (ends_drawing(d->err))
            break;
    }
    free(drawing);
    return first;
}

/* Returns a path that gnuplot takes for a file: gnuplot would run a path that begins with '|' or '<'. From malloc. */
static char *plain_path(const char *path)
{
    return exp_format("%s%s", *path == '/' || *path == '.' ? "" : "./", path);
}

int exp_plot_figures(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why)
{
    struct exp_plot_figures plain = *f;
    char *data_dir = plain_path(f->data_dir), *out_dir = plain_path(f->out_dir);
    int err;

    plain.data_dir = data_dir;
    plain.out_dir = out_dir;
    err = draw_all(&plain, report, ctx, why);
    free(out_dir);
    free(data_dir);
    return err;
}

/* ---- drawn again from a folder ---- */

enum { MOST_BYTES = 1 << 20 };

static const char figure_key[] = "figure", separator[] = ": ";

/* ---- writing ---- */

static void put_line(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s%s", name, separator);
    for (; *value; value++)
        fputc(iscntrl((unsigned char)*value) ? ' ' : *value, out);
    fputc('\n', out);
}

static int put_all(void *figures, FILE *out)
{
    const struct exp_plot_figures *f = figures;

    fputs("# The figures of this folder, and what their scripts are told. 'make redraw' draws them again from the "
          "tables\n"
          "# beside this file; titles and colours may be edited here.\n",
          out);
    for (size_t i = 0; i < f->n_figures; i++)
        put_line(out, figure_key, f->figure[i]);
    for (size_t i = 0; i < f->n_variables; i++) {
        if (strcmp(f->variable[i].name, EXP_PLOT_SCRIPTS_VARIABLE) != 0)
            put_line(out, f->variable[i].name, f->variable[i].value);
    }
    return 0;
}

int exp_plot_recipe_write(const struct exp_plot_figures *f, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_PLOT_RECIPE_FILE, f->out_dir);
    const int err = exp_file_write(path, put_all, (void *)(uintptr_t)f, why);

    free(path);
    return err;
}

/* ---- reading ---- */

static int read_text(char **text, const char *path, struct exp_why *why)
{
    struct exp_why line;
    size_t bytes;
    const int err = exp_text_read_plain(text, &bytes, path, &line);

    if (err)
        return exp_fail(why, err, "no figures to draw again: %s", line.text);
    return bytes > MOST_BYTES ? exp_fail(why, -EFBIG, "%s: larger than %d bytes", path, MOST_BYTES) : 0;
}

/* Tells whether a text can name a variable or a script: letters, digits and underscores, no digit first. */
static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

static void add_variable(struct exp_plot_recipe *r, const char *name, const char *value)
{
    struct exp_plot_variable *v = exp_append(&r->variable, &r->figures.n_variables, sizeof *v);

    *v = (struct exp_plot_variable){ name, value };
}

/* Takes over a line, and cuts the line in two. Returns false for a malformed line. */
static bool take_line(struct exp_plot_recipe *r, char *line)
{
    char *value = strstr(line, separator);

    if (*line == '#' || !*line)
        return true;
    if (!value)
        return false;
    *value = '\0';
    value += strlen(separator);
    if (!is_name(line) || !strcmp(line, EXP_PLOT_SCRIPTS_VARIABLE))
        return false;
    if (strcmp(line, figure_key) != 0)
        add_variable(r, line, value);
    else if (is_name(value))
        *(const char **)exp_append(&r->figure, &r->figures.n_figures, sizeof value) = value;
    else
        return false;
    return true;
}

static int take_lines(struct exp_plot_recipe *r, const char *path, struct exp_why *why)
{
    unsigned number = 1;

    for (char *line = r->text, *next; line; line = next, number++) {
        char *end = strchr(line, '\n');

        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (!take_line(r, line))
            return exp_fail(why, -EINVAL, "%s:%u: neither 'figure: name' nor 'variable: text': '%s'", path, number,
                            line);
    }
    return 0;
}

int exp_plot_recipe_read(struct exp_plot_recipe *r, const char *folder, const char *scripts_dir, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_PLOT_RECIPE_FILE, folder);
    int err;

    *r = (struct exp_plot_recipe){ 0 };
    r->figures.scripts_dir = scripts_dir;
    r->figures.data_dir = r->figures.out_dir = folder;
    add_variable(r, EXP_PLOT_SCRIPTS_VARIABLE, scripts_dir);
    err = read_text(&r->text, path, why);
    if (!err)
        err = take_lines(r, path, why);
    r->figures.figure = r->figure;
    r->figures.variable = r->variable;
    if (err)
        exp_plot_recipe_release(r);
    free(path);
    return err;
}

void exp_plot_recipe_release(struct exp_plot_recipe *r)
{
    free(r->text);
    free(r->figure);
    free(r->variable);
    *r = (struct exp_plot_recipe){ 0 };
}

int exp_plot_recipe_draw(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why)
{
    int err = exp_plot_recipe_write(f, why);

    return err ? err : exp_plot_figures(f, report, ctx, why);
}
