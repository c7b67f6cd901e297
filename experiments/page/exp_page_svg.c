#include "experiments/page/exp_page_svg.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_memory.h"
#include "experiments/base/exp_text.h"
#include "experiments/page/exp_page_coordinates.h"
#include "experiments/page/exp_page_writer.h"

enum { MOST_BYTES = 4 << 20, MOST_ATTRIBUTES = 24, RECENT = 32, RECENT_BYTES = 160 };

/* ---- attributes ---- */

struct attribute {
    const char *name, *value;
};

struct copy {
    FILE *out;
    struct exp_page_palette *palette;
    const char *label;
    struct {
        char *attributes;
        bool is_written;
    } group[64];
    size_t depth, pending;             /* pending: groups that were opened and have no content yet */
    char recent[RECENT][RECENT_BYTES]; /* elements that were written since a group was opened */
    size_t n_recent;
    char *run; /* how the element began that is being written, of several that have it in common; NULL */
    const char *run_end;
    bool skips;
    const char *skipped; /* until this element ends */
    bool failed;         /* memory ran out: something is missing */
};

static void copy_numbers(struct copy *c, const struct attribute *a)
{
    if (!exp_page_is_drawn(a->value))
        return;
    fprintf(c->out, " %s=\"", a->name);
    exp_page_put_numbers(a->value, c->out);
    fputc('"', c->out);
}

static void copy_word(struct copy *c, const struct attribute *a)
{
    if (strspn(a->value, "abcdefghijklmnopqrstuvwxyz-") == strlen(a->value))
        fprintf(c->out, " %s=\"%s\"", a->name, a->value);
}

static void copy_colour(struct copy *c, const struct attribute *a)
{
    unsigned rgb;

    if (!strcmp(a->value, "none") || !strcmp(a->value, "currentColor")) {
        fprintf(c->out, " %s=\"%s\"", a->name, a->value);
    } else if (exp_page_palette_read(a->value, &rgb)) {
        fprintf(c->out, " %s=\"", a->name);
        exp_page_palette_put(c->palette, rgb, c->out);
        fputc('"', c->out);
    }
}

/* Refers to a point symbol, and to nothing else. */
static void copy_reference(struct copy *c, const struct attribute *a)
{
    if (!strncmp(a->value, "#gpPt", 5) && strspn(a->value + 5, "0123456789") == strlen(a->value + 5))
        fprintf(c->out, " href=\"%s\"", a->value);
}

/* What passes, and how; a value that is the page's default is left out. */
static const struct rule {
    const char *name, *usual;
    void (*copy)(struct copy *c, const struct attribute *a);
} rules[] = {
    { "d", NULL, copy_numbers },
    { "points", NULL, copy_numbers },
    { "transform", NULL, copy_numbers },
    { "x", NULL, copy_numbers },
    { "y", NULL, copy_numbers },
    { "dx", NULL, copy_numbers },
    { "dy", NULL, copy_numbers },
    { "cx", NULL, copy_numbers },
    { "cy", NULL, copy_numbers },
    { "r", NULL, copy_numbers },
    { "width", NULL, copy_numbers },
    { "height", NULL, copy_numbers },
    { "stroke-width", "1.00", copy_numbers },
    { "stroke-dasharray", NULL, copy_numbers },
    { "fill-opacity", NULL, copy_numbers },
    { "font-size", "14.66", copy_numbers },
    { "text-anchor", "start", copy_word },
    { "font-weight", "normal", copy_word },
    { "color", "black", copy_colour },
    { "fill", "none", copy_colour },
    { "stroke", "currentColor", copy_colour },
    { "xlink:href", NULL, copy_reference },
};

static const char *const elements[] = { "g", "path", "polygon", "rect", "circle", "text", "tspan", "use", "line" };

static bool is_element(const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (!strcmp(elements[i], name))
            return true;
    }
    return false;
}

/* Tells whether attributes are those of a group of text, which has no lines around its letters anyway. */
static bool is_text(const struct attribute *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(a[i].name, "font-family"))
            return true;
    }
    return false;
}

static void copy_attributes(struct copy *c, const struct attribute *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            if (!strcmp(rules[k].name, a[i].name) && !(rules[k].usual && !strcmp(rules[k].usual, a[i].value)))
                rules[k].copy(c, &a[i]);
        }
    }
}

/* Cuts the attributes of a tag's text apart: name='value' or name="value", with blanks between them. */
static size_t cut_attributes(char *text, struct attribute *a)
{
    size_t n = 0;

    while (n < MOST_ATTRIBUTES) {
        char *name = text + strspn(text, " \t\n\r/"), *equals = strchr(name, '='), *value, *end;

        if (!*name || !equals)
            return n;
        value = equals + 1 + strspn(equals + 1, " \t\n");
        end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
        if (!end)
            return n;
        name[strcspn(name, " =\t\n")] = '\0';
        *end = '\0';
        a[n++] = (struct attribute){ name, value + 1 };
        text = end + 1;
    }
    return n;
}

/* ---- elements ---- */

/* Ends the element of several that are alike. */
static void end_run(struct copy *c)
{
    if (c->run)
        fputs(c->run_end, c->out);
    free(c->run);
    c->run = NULL;
}

/* Takes note of it when memory runs out: then there is no drawing. */
static char *noted(struct copy *c, char *text)
{
    c->failed |= !text;
    return text;
}

/* Writes attributes into a string from malloc, all but one; NULL when out of memory, which is noted. */
static char *attributes_but(struct copy *c, const char *name, const struct attribute *a, size_t n)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = c->out, *said = exp_memory_open(&text, &bytes);
    bool failed;

    if (!said)
        return noted(c, NULL);
    c->out = said;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(a[i].name, name) != 0)
            copy_attributes(c, &a[i], 1);
    }
    c->out = out;
    failed = ferror(said) != 0;
    if (!fclose(said) && !failed)
        return noted(c, text);
    free(text);
    return noted(c, NULL);
}

/* Writes the groups that were opened and had no content until now; one that says nothing is not written at all. */
static void write_groups(struct copy *c)
{
    for (size_t i = c->depth - c->pending; i < c->depth; i++) {
        struct attribute a[MOST_ATTRIBUTES];
        size_t n = cut_attributes(c->group[i].attributes, a);
        char *text = attributes_but(c, is_text(a, n) ? "stroke" : "", a, n);

        c->group[i].is_written = text && *text;
        if (c->group[i].is_written)
            fprintf(c->out, "<g%s>", text);
        free(text);
    }
    c->pending = 0;
}

static void open_group(struct copy *c, char *attributes)
{
    if (c->depth == sizeof c->group / sizeof c->group[0]) {
        c->skips = true; /* no drawing of ours is that deep */
        c->skipped = "svg";
        return;
    }
    memset(c->recent, 0, sizeof c->recent);
    c->group[c->depth].is_written = false;
    c->group[c->depth++].attributes = attributes;
    c->pending++;
}

static void close_group(struct copy *c)
{
    if (!c->depth)
        return;
    end_run(c);
    c->depth--;
    if (c->pending)
        c->pending--;
    else if (c->group[c->depth].is_written)
        fputs("</g>", c->out);
}

/* Points of layers of one shape lie on each other. Tells whether such an element was written a moment ago; notes it. */
static bool is_repeated(struct copy *c, const char *element, size_t bytes)
{
    if (bytes >= RECENT_BYTES)
        return false;
    for (size_t i = 0; i < RECENT; i++) {
        if (!strcmp(c->recent[i], element))
            return true;
    }
    memcpy(c->recent[c->n_recent++ % RECENT], element, bytes + 1);
    return false;
}

static const char *value_of(const char *name, const struct attribute *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(a[i].name, name))
            return a[i].value;
    }
    return "";
}

/* Sees to it that an element that begins like this is open; takes the beginning over, which is from malloc. */
static void begin_run(struct copy *c, char *begins, const char *ends)
{
    if (c->run && !strcmp(c->run, begins)) {
        free(begins);
        return;
    }
    end_run(c);
    write_groups(c);
    fputs(begins, c->out);
    c->run = begins;
    c->run_end = ends;
    memset(c->recent, 0, sizeof c->recent);
}

/* Bars are polygons: those of one colour that follow each other become one path. */
static void copy_polygon(struct copy *c, const struct attribute *a, size_t n)
{
    const char *points = value_of("points", a, n);
    char *rest = attributes_but(c, "points", a, n), *begins = rest ? noted(c, exp_format("<path%s d=\"", rest)) : NULL;

    free(rest);
    if (!begins || !exp_page_is_drawn(points)) {
        free(begins);
        return;
    }
    begin_run(c, begins, "\"/>");
    fputc('M', c->out);
    exp_page_put_numbers(points, c->out);
    fputc('z', c->out);
}

struct point {
    double x, y, scale;
    unsigned symbol;
};

/* Reads a point as gnuplot writes it. Returns whether it is one. */
static bool read_point(struct point *p, const struct attribute *a, size_t n)
{
    char end;

    return sscanf(value_of("transform", a, n), "translate(%lf,%lf) scale(%lf%c", &p->x, &p->y, &p->scale, &end) == 4 &&
           end == ')' && p->scale > 0.01 && p->scale < 100 && fabs(p->x) < 1e5 && fabs(p->y) < 1e5 &&
           sscanf(value_of("xlink:href", a, n), "#gpPt%2u%c", &p->symbol, &end) == 1;
}

/* Points of one colour and size become one group. */
static void copy_point(struct copy *c, const struct point *p, const struct attribute *a, size_t n)
{
    struct attribute colour = { "color", value_of("color", a, n) };
    char *rest = attributes_but(c, "", &colour, 1), text[RECENT_BYTES];
    char *begins = rest ? noted(c, exp_format("<g%s transform=\"scale(%.3g)\">", rest, p->scale)) : NULL;

    free(rest);
    if (!begins)
        return;
    begin_run(c, begins, "</g>");
    snprintf(text, sizeof text, "<use href=\"#gpPt%u\" x=\"%.5g\" y=\"%.5g\"/>", p->symbol, p->x / p->scale,
             p->y / p->scale);
    if (!is_repeated(c, text, strlen(text)))
        fputs(text, c->out);
}

static void copy_element(struct copy *c, const char *name, const struct attribute *a, size_t n, bool is_empty)
{
    char *attributes = attributes_but(c, "", a, n);
    char *text = attributes ? noted(c, exp_format("<%s%s%s>", name, attributes, is_empty ? "/" : "")) : NULL;

    if (text && !(is_empty && is_repeated(c, text, strlen(text)))) {
        end_run(c);
        write_groups(c);
        fputs(text, c->out);
    }
    free(text);
    free(attributes);
}

static void copy_tag(struct copy *c, const char *name, char *attributes, bool is_empty)
{
    struct attribute a[MOST_ATTRIBUTES];
    size_t n = cut_attributes(attributes, a);
    struct point point;

    if (is_empty && !strcmp(name, "polygon"))
        copy_polygon(c, a, n);
    else if (is_empty && !strcmp(name, "use") && read_point(&point, a, n))
        copy_point(c, &point, a, n);
    else
        copy_element(c, name, a, n, is_empty);
}

static void open_svg(struct copy *c, char *attributes)
{
    struct attribute a[MOST_ATTRIBUTES];
    size_t n = cut_attributes(attributes, a);

    fputs("<svg role=\"img\" class=\"plot\"", c->out);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(a[i].name, "viewBox") && exp_page_is_drawn(a[i].value))
            fprintf(c->out, " viewBox=\"%s\"", a[i].value);
        else if ((!strcmp(a[i].name, "width") || !strcmp(a[i].name, "height")))
            copy_numbers(c, &a[i]);
    }
    fputs(" aria-label=\"", c->out);
    exp_page_escape(c->label, c->out);
    fputs("\">", c->out);
}

/* Takes one tag, from behind its '<'. */
static void take_tag(struct copy *c, char *tag)
{
    bool closes = *tag == '/', is_empty = *tag && tag[strlen(tag) - 1] == '/';
    char *name = tag + closes, *rest = name + strcspn(name, " \t\r\n/");
    char *attributes = *rest ? rest + 1 : rest;

    if (*tag == '?' || *tag == '!')
        return;
    *rest = '\0';
    if (c->skips) {
        c->skips = !(closes && !strcmp(name, c->skipped));
    } else if (!strcmp(name, "svg")) {
        if (!closes)
            open_svg(c, attributes);
    } else if (!is_element(name)) {
        c->skips = !closes && !is_empty;
        c->skipped = name;
    } else if (!strcmp(name, "g")) {
        closes ? close_group(c) : open_group(c, attributes);
    } else if (closes) {
        end_run(c);
        fprintf(c->out, "</%s>", name);
    } else {
        copy_tag(c, name, attributes, is_empty);
    }
}

/* Takes text between tags: it is escaped in the file already, and '>' alone does no harm. */
static void take_text(struct copy *c, const char *text)
{
    if (c->skips || !text[strspn(text, " \t\r\n")])
        return;
    end_run(c);
    fputs(text, c->out);
}

int exp_page_svg_copy(char *text, const char *label, struct exp_page_palette *palette, FILE *out)
{
    struct copy c = { .out = out, .palette = palette, .label = label };
    char *at = strstr(text, "<svg"), *end;

    if (!at || !strstr(at, "</svg>"))
        return -EINVAL;
    for (at++; at && (end = strchr(at, '>'));) {
        char *next = strchr(end, '<');

        *end = '\0';
        if (next)
            *next = '\0';
        take_tag(&c, at);
        take_text(&c, end + 1);
        at = next ? next + 1 : NULL;
    }
    while (c.depth)
        close_group(&c);
    end_run(&c);
    fputs("</svg>\n", out);
    return c.failed ? -ENOMEM : 0;
}

int exp_page_svg_embed(const char *path, const char *label, struct exp_page_palette *palette, FILE *out)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, NULL, 0);

    if (err)
        return err;
    err = bytes > MOST_BYTES ? -EFBIG : exp_page_svg_copy(text, label, palette, out);
    free(text);
    return err;
}
