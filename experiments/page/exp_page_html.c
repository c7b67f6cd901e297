/* A page for a browser: one file that needs nothing else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_memory.h"
#include "experiments/base/exp_text.h"
#include "experiments/page/exp_page_svg.h"
#include "experiments/page/exp_page_writer.h"

static void put(struct exp_page_writer *w, const char *text)
{
    exp_page_escape(text, w->body);
}

/* ---- sections ---- */

static const struct {
    const char *open, *heading, *close;
} levels[] = {
    [EXP_PAGE_CHAPTER] = { "<section class=chapter id=\"", "h2", "</section>\n" },
    [EXP_PAGE_PART] = { "<section class=part id=\"", "h3", "</section>\n" },
    [EXP_PAGE_DETAIL] = { "<details class=layer><summary>", "h4", "</div></details>\n" },
};

static void open_section(struct exp_page_writer *w, const struct exp_page_section *s)
{
    const char *heading = levels[s->level].heading;

    fputs(levels[s->level].open, w->body);
    if (s->level == EXP_PAGE_DETAIL) {
        fputs("<b>", w->body);
        put(w, s->title);
        fputs("</b> <span>", w->body);
        put(w, s->summary ? s->summary : "");
        fprintf(w->body, "</span></summary><div class=inside id=\"%s\">\n", s->id);
    } else {
        fprintf(w->body, "%s\">\n<%s>", s->id, heading);
        put(w, s->title);
        fprintf(w->body, "</%s>\n", heading);
        fprintf(w->contents, "<li class=%s><a href=\"#%s\">", s->level == EXP_PAGE_CHAPTER ? "c" : "p", s->id);
        exp_page_escape(s->title, w->contents);
        fputs("</a></li>\n", w->contents);
    }
    w->open[w->depth++] = s->level;
}

static void close_section(struct exp_page_writer *w)
{
    fputs(levels[w->open[--w->depth]].close, w->body);
}

/* ---- text ---- */

static void say(struct exp_page_writer *w, enum exp_page_text kind, const char *text)
{
    static const struct {
        const char *open, *close;
    } as[] = {
        [EXP_PAGE_PARAGRAPH] = { "<p>", "</p>\n" },
        [EXP_PAGE_ANSWER] = { "<p class=answer>", "</p>\n" },
        [EXP_PAGE_NOTE] = { "<p class=note>", "</p>\n" },
        [EXP_PAGE_CODE] = { "<pre tabindex=0>", "</pre>\n" },
    };

    fputs(as[kind].open, w->body);
    put(w, text);
    fputs(as[kind].close, w->body);
}

static void facts(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact, size_t n)
{
    static const struct exp_page_fact_marks marks = { "<div><dt>", "<div class=faint><dt>", "</dt><dd>", " <small>",
                                                      "</small>",  "</dd></div>\n" };

    fprintf(w->body, "<dl class=%s>\n", kind == EXP_PAGE_CARDS ? "cards" : "facts");
    exp_page_put_facts(w, put, &marks, fact, n);
    fputs("</dl>\n", w->body);
}

/* ---- tables ---- */

static size_t count_texts(const struct exp_page_table *t)
{
    size_t n = 0;

    while (n < t->n_columns && !t->column[n].is_number)
        n++;
    return n;
}

static void table_begin(struct exp_page_writer *w, const struct exp_page_table *t)
{
    fprintf(w->body, "<div class=\"scroll%s\" tabindex=0><table class=t%zu><caption>", t->is_long ? " long" : "",
            count_texts(t));
    put(w, t->caption);
    fputs("</caption><thead><tr>", w->body);
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct exp_page_column *c = &t->column[i];

        fputs("<th", w->body);
        if (c->meaning) {
            fputs(" title=\"", w->body);
            put(w, c->meaning);
            fputc('"', w->body);
        }
        fputc('>', w->body);
        put(w, c->title);
        if (*c->unit) {
            fputs(" <i>", w->body);
            put(w, c->unit);
            fputs("</i>", w->body);
        }
    }
    fputs("</thead><tbody>\n", w->body);
}

enum { LONG_CELL = 48 }; /* bytes; longer ones are broken into lines */

/* End tags of cells and rows may be left out: a page of hundreds of layers has many. */
static void row(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n)
{
    fputs("<tr>", w->body);
    for (size_t i = 0; i < n; i++) {
        fputs(strlen(cell[i].text) > LONG_CELL ? "<td class=w>" : "<td>", w->body);
        if (cell[i].target)
            fprintf(w->body, "<a href=\"#%s\">", cell[i].target);
        put(w, cell[i].text);
        if (cell[i].target)
            fputs("</a>", w->body);
    }
    fputc('\n', w->body);
}

static void table_end(struct exp_page_writer *w)
{
    fputs("</tbody></table></div>\n", w->body);
}

/* ---- figures ---- */

static void put_base64(const unsigned char *data, size_t n, FILE *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        unsigned long three = (unsigned long)data[i] << 16 | (i + 1 < n ? (unsigned long)data[i + 1] << 8 : 0) |
                              (i + 2 < n ? data[i + 2] : 0);

        for (size_t k = 0; k < 4; k++)
            fputc(i + k <= n ? digit[three >> (18 - 6 * k) & 63] : '=', out);
    }
}

enum { MOST_PICTURE_BYTES = 1 << 20 };

/* Embeds a picture as it is, where there is no SVG. */
static int embed_png(const char *path, const char *label, FILE *out)
{
    static const unsigned char magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    FILE *in = fopen(path, "rb");
    unsigned char *data = in ? malloc(MOST_PICTURE_BYTES + 1) : NULL;
    size_t n = data ? fread(data, 1, MOST_PICTURE_BYTES + 1, in) : 0;
    int err = !in ? -errno : !data ? -ENOMEM : n > MOST_PICTURE_BYTES ? -EFBIG : n < sizeof magic ? -EINVAL : 0;

    if (!err && memcmp(data, magic, sizeof magic) != 0)
        err = -EINVAL;
    if (!err) {
        fputs("<img class=plot alt=\"", out);
        exp_page_escape(label, out);
        fputs("\" src=\"data:image/png;base64,", out);
        put_base64(data, n, out);
        fputs("\">\n", out);
    }
    free(data);
    if (in)
        fclose(in);
    return err;
}

static int embed(struct exp_page_writer *w, const struct exp_page_figure *f)
{
    char *svg = exp_format("%s/%s.svg", f->folder, f->name), *png = exp_format("%s/%s.png", f->folder, f->name);
    int err = svg && png ? exp_page_svg_embed(svg, f->title, &w->palette, w->body) : -ENOMEM;

    if (err == -ENOENT || err == -EFBIG || err == -EINVAL)
        err = embed_png(png, f->title, w->body);
    free(svg);
    free(png);
    return err;
}

static void figure(struct exp_page_writer *w, const struct exp_page_figure *f)
{
    int err = 0;

    fputs("<figure>", w->body);
    if (*f->title) {
        fputs("<h4>", w->body);
        put(w, f->title);
        fputs("</h4>", w->body);
    }
    fputs("<div class=scroll tabindex=0>", w->body);
    if (f->drawing)
        fputs(f->drawing, w->body);
    else
        err = embed(w, f);
    if (err) {
        fputs("<p class=note>This figure could not be read: ", w->body);
        put(w, strerror(-err));
        fputs(".</p>", w->body);
    }
    if (err == -ENOMEM)
        exp_page_lacks(w);
    fputs("</div><figcaption>", w->body);
    put(w, f->caption);
    fputs("</figcaption></figure>\n", w->body);
}

/* ---- the whole ---- */

static int put_asset(const struct exp_page_writer *w, const char *name, FILE *out)
{
    char *path = exp_format("%s/%s", w->assets, name), *text = NULL;
    size_t bytes;
    int err = path ? exp_text_read(&text, &bytes, path, NULL, 0) : -ENOMEM;

    if (!err)
        fputs(text, out);
    free(text);
    free(path);
    return err;
}

/* Writes the title, as a part of HTML. */
static int put_title(const struct exp_page_writer *w, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *said = exp_memory_open(&text, &bytes);
    bool failed;

    if (!said)
        return -ENOMEM;
    exp_page_escape(w->title, said);
    failed = ferror(said) != 0;
    failed |= fclose(said) != 0;
    if (!failed)
        exp_page_put_clean(text, out);
    free(text);
    return failed ? -ENOMEM : 0;
}

static int finish(struct exp_page_writer *w, FILE *out)
{
    int err;

    if (fflush(w->body) || fflush(w->contents) || ferror(w->body) || ferror(w->contents))
        return -ENOMEM;
    if (w->err)
        return w->err;
    fputs("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
          "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=color-scheme content=\"light dark\">\n"
          "<meta http-equiv=Content-Security-Policy content=\"default-src 'none';style-src 'unsafe-inline';"
          "script-src 'unsafe-inline';img-src data:\">\n<link rel=icon href=\"data:,\">\n<title>",
          out);
    err = put_title(w, out);
    fputs("</title>\n<style>\n", out);
    if (!err)
        err = put_asset(w, "page.css", out);
    fputs(":root{", out);
    exp_page_palette_print(&w->palette, 0, out);
    fputs("}\n@media screen and (prefers-color-scheme:dark){:root{", out);
    exp_page_palette_print(&w->palette, 1, out);
    fprintf(out, "}}\n</style>\n</head>\n<body>\n%s<header><p>Convolution on the bench</p><h1>", exp_page_symbols);
    if (!err)
        err = put_title(w, out);
    fputs("</h1></header>\n<nav aria-label=Contents><ul>\n", out);
    exp_page_put_clean(w->contents_text, out);
    fputs("</ul></nav>\n<main>\n", out);
    exp_page_put_clean(w->text, out);
    fputs("</main>\n<script>\n", out);
    if (!err)
        err = put_asset(w, "page.js", out);
    fputs("</script>\n</body>\n</html>\n", out);
    return err;
}

static const struct exp_page_ops html_ops = {
    .open = open_section,
    .close = close_section,
    .say = say,
    .facts = facts,
    .table_begin = table_begin,
    .row = row,
    .table_end = table_end,
    .figure = figure,
    .finish = finish,
};

int exp_page_html(struct exp_page_writer *w, const char *title, const char *assets, const char *base)
{
    *w = (struct exp_page_writer){ .ops = &html_ops, .title = title, .assets = assets, .base = base };
    w->body = exp_memory_open(&w->text, &w->text_bytes);
    w->contents = exp_memory_open(&w->contents_text, &w->contents_bytes);
    if (w->body && w->contents)
        return 0;
    exp_page_release(w);
    return -ENOMEM;
}
