#include "experiments/page/exp_page_svg.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_text.h"
#include "experiments/page/exp_page_writer.h"

enum { MOST_BYTES = 4 << 20, MOST_ATTRIBUTES = 24, RECENT = 32, RECENT_BYTES = 160 };

#define OPEN_SYMBOL(number, element, shape)                                                                            \
    "<" element " id=\"gpPt" #number "\" fill=\"none\" stroke=\"currentColor\" stroke-width=\".242\" " shape "/>"
#define FULL_SYMBOL(number, element, shape)                                                                            \
    "<" element " id=\"gpPt" #number "\" fill=\"currentColor\" stroke=\"none\" " shape "/>"
#define BOTH_SYMBOLS(open, full, element, shape) OPEN_SYMBOL(open, element, shape) FULL_SYMBOL(full, element, shape)

/* clang-format off */
const char exp_page_symbols[] =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"symbols\"><defs>"
    OPEN_SYMBOL(0, "path", "d=\"M-1,0h2M0,-1v2\"")
    OPEN_SYMBOL(1, "path", "d=\"M-1,-1L1,1M1,-1L-1,1\"")
    OPEN_SYMBOL(2, "path", "d=\"M-1,0L1,0M0,-1L0,1M-1,-1L1,1M-1,1L1,-1\"")
    BOTH_SYMBOLS(3, 4, "rect", "x=\"-1\" y=\"-1\" width=\"2\" height=\"2\"")
    BOTH_SYMBOLS(5, 6, "circle", "r=\"1\"")
    BOTH_SYMBOLS(7, 8, "path", "d=\"M0,-1.33L-1.33,.67L1.33,.67z\"")
    BOTH_SYMBOLS(9, 10, "path", "d=\"M0,1.33L-1.33,-.67L1.33,-.67z\"")
    BOTH_SYMBOLS(11, 12, "path", "d=\"M0,-1.41L1.41,0L0,1.41L-1.41,0z\"")
    BOTH_SYMBOLS(13, 14, "path", "d=\"M0,1.33L1.27,.41L.78,-1.07L-.78,-1.08L-1.27,.41z\"")
    "</defs></svg>\n";
/* clang-format on */

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
    bool skips;
    const char *skipped; /* until this element ends */
};

/* Prints a number with at most one digit after the point where it is above 10, two otherwise. */
static const char *put_number(const char *text, FILE *out)
{
    char *end, digits[32];
    double value = strtod(text, &end);

    if (!strchr("+-.0123456789", *text) || end == text || value > 1e7 || value < -1e7) {
        fputc(*text, out);
        return text + 1;
    }
    snprintf(digits, sizeof digits, "%.*f", value >= 10 || value <= -10 ? 1 : 2, value);
    if (strchr(digits, '.')) {
        char *last = digits + strlen(digits) - 1;

        while (*last == '0')
            *last-- = '\0';
        if (*last == '.')
            *last = '\0';
    }
    fputs(!strcmp(digits, "-0") ? "0" : digits, out);
    return end;
}

static bool is_drawn(const char *value)
{
    return strspn(value, "0123456789.,+- \t\nMmLlHhVvCcQqZzAaeEtranslcoikwX()Y") == strlen(value);
}

static void put_numbers(const char *value, FILE *out)
{
    const char *end = value + strlen(value);

    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    while (value < end) {
        if (isspace((unsigned char)*value)) {
            while (value < end && isspace((unsigned char)*value))
                value++;
            if (value < end && !isalpha((unsigned char)*value))
                fputc(' ', out);
        } else {
            value = put_number(value, out);
        }
    }
}

static void copy_numbers(struct copy *c, const struct attribute *a)
{
    if (!is_drawn(a->value))
        return;
    fprintf(c->out, " %s=\"", a->name);
    put_numbers(a->value, c->out);
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
    { "font-size", "11.00", copy_numbers },
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
    const bool of_text = is_text(a, n);

    for (size_t i = 0; i < n; i++) {
        if (of_text && !strcmp(a[i].name, "stroke"))
            continue;
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

/* Writes the groups that were opened and had no content until now; one that says nothing is not written at all. */
static void write_groups(struct copy *c)
{
    for (size_t i = c->depth - c->pending; i < c->depth; i++) {
        struct attribute a[MOST_ATTRIBUTES];
        size_t n = cut_attributes(c->group[i].attributes, a);
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = c->out, *said = open_memstream(&text, &bytes);

        if (!said)
            continue;
        c->out = said;
        copy_attributes(c, a, n);
        c->out = out;
        c->group[i].is_written = !fclose(said) && bytes;
        if (c->group[i].is_written)
            fprintf(out, "<g%s>", text);
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

static void copy_tag(struct copy *c, const char *name, char *attributes, bool is_empty)
{
    struct attribute a[MOST_ATTRIBUTES];
    char *text = NULL;
    size_t n = cut_attributes(attributes, a), bytes = 0;
    FILE *out = c->out, *element = open_memstream(&text, &bytes);

    if (!element)
        return;
    fprintf(element, "<%s", name);
    c->out = element;
    copy_attributes(c, a, n);
    c->out = out;
    fputs(is_empty ? "/>" : ">", element);
    if (!fclose(element) && !(is_empty && is_repeated(c, text, bytes))) {
        write_groups(c);
        fputs(text, out);
    }
    free(text);
}

static void open_svg(struct copy *c, char *attributes)
{
    struct attribute a[MOST_ATTRIBUTES];
    size_t n = cut_attributes(attributes, a);

    fputs("<svg role=\"img\" class=\"plot\"", c->out);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(a[i].name, "viewBox") && is_drawn(a[i].value))
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
        fprintf(c->out, "</%s>", name);
    } else {
        copy_tag(c, name, attributes, is_empty);
    }
}

/* Takes text between tags: it is escaped in the file already, and '>' alone does no harm. */
static void take_text(struct copy *c, const char *text)
{
    if (!c->skips && text[strspn(text, " \t\r\n")])
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
    fputs("</svg>\n", out);
    return 0;
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
