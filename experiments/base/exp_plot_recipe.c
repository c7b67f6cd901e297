#include "experiments/base/exp_plot_recipe.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

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

static int put_all(const struct exp_plot_figures *f, FILE *out)
{
    bool failed;

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
    errno = 0;
    failed = ferror(out) != 0;
    if (fclose(out) || failed)
        return errno ? -errno : -EIO;
    return 0;
}

int exp_plot_recipe_write(const struct exp_plot_figures *f, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_PLOT_RECIPE_FILE, f->out_dir);
    FILE *out = path ? fopen(path, "w") : NULL;
    int err = !path ? -ENOMEM : out ? put_all(f, out) : -errno;

    if (err)
        exp_fail(why, err, "cannot write '%s': %s", path ? path : f->out_dir, strerror(-err));
    free(path);
    return err;
}

/* ---- reading ---- */

static int read_text(char **text, const char *path, struct exp_why *why)
{
    FILE *in = fopen(path, "rb");
    size_t n;
    int err = 0;

    if (!in)
        return exp_fail(why, -errno, "no figures to draw again: cannot open '%s': %s", path, strerror(errno));
    *text = malloc(MOST_BYTES + 1);
    n = *text ? fread(*text, 1, MOST_BYTES + 1, in) : 0;
    if (!*text)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (ferror(in))
        err = exp_fail(why, -EIO, "cannot read '%s'", path);
    else if (n > MOST_BYTES)
        err = exp_fail(why, -EFBIG, "%s: larger than %d bytes", path, MOST_BYTES);
    else if (memchr(*text, '\0', n))
        err = exp_fail(why, -EINVAL, "%s: not a text file", path);
    else
        (*text)[n] = '\0';
    fclose(in);
    return err;
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

/* Takes over a line, which is cut in two. Returns false if it is malformed. */
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
        r->variable[r->figures.n_variables++] = (struct exp_plot_variable){ line, value };
    else if (is_name(value))
        r->figure[r->figures.n_figures++] = value;
    else
        return false;
    return true;
}

static size_t count_lines(const char *text)
{
    size_t n = 1;

    while ((text = strchr(text, '\n'))) {
        n++;
        text++;
    }
    return n;
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

static int parse(struct exp_plot_recipe *r, const char *path, struct exp_why *why)
{
    size_t n = count_lines(r->text) + 1; /* and the folder of the scripts */

    r->figure = calloc(n, sizeof *r->figure);
    r->variable = calloc(n, sizeof *r->variable);
    if (!r->figure || !r->variable)
        return exp_fail(why, -ENOMEM, "out of memory");
    r->figures.figure = r->figure;
    r->figures.variable = r->variable;
    r->variable[r->figures.n_variables++] =
        (struct exp_plot_variable){ EXP_PLOT_SCRIPTS_VARIABLE, r->figures.scripts_dir };
    return take_lines(r, path, why);
}

int exp_plot_recipe_read(struct exp_plot_recipe *r, const char *folder, const char *scripts_dir, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_PLOT_RECIPE_FILE, folder);
    int err;

    *r = (struct exp_plot_recipe){ 0 };
    r->figures.scripts_dir = scripts_dir;
    r->figures.data_dir = r->figures.out_dir = folder;
    err = path ? read_text(&r->text, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err)
        err = parse(r, path, why);
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
