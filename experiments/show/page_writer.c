#include "experiments/show/page_writer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"

/* ---- characters ---- */

void exp_page_put_clean(const char *text, FILE *out)
{
    while (*text) {
        bool is_plain;
        const size_t bytes = exp_text_character(text, &is_plain);

        if (is_plain)
            fwrite(text, 1, bytes, out);
        else
            fputs("\xef\xbf\xbd", out);
        text += bytes;
    }
}

void exp_page_escape(const char *text, FILE *out)
{
    static const struct {
        char c;
        const char *as;
    } special[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };

    for (; *text; text++) {
        const char *as = NULL;

        for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
            as = *text == special[i].c ? special[i].as : as;
        if (as)
            fputs(as, out);
        else
            fputc(iscntrl((unsigned char)*text) && *text != '\n' ? ' ' : *text, out);
    }
}

static void put(struct exp_page_writer *w, const char *text)
{
    exp_page_escape(text, w->body);
}

/* Writes escaped text. Lines may break behind the signs between parts of a name. */
static void put_breakable(const char *text, FILE *out)
{
    for (; *text; text++) {
        fputc(*text, out);
        if (strchr("/+,", *text) && text[1])
            fputs("<wbr>", out);
    }
}

static void put_name(struct exp_page_writer *w, const char *text)
{
    char *escaped;
    size_t bytes;
    FILE *out = exp_memory_open(&escaped, &bytes);

    exp_page_escape(text, out);
    fclose(out);
    put_breakable(escaped, w->body);
    free(escaped);
}

/* ---- sections ---- */

static const struct {
    const char *open, *heading, *close;
} levels[] = {
    [EXP_PAGE_CHAPTER] = { "<section class=chapter id=\"", "h2", "</section>\n" },
    [EXP_PAGE_PART] = { "<section class=part id=\"", "h3", "</section>\n" },
    [EXP_PAGE_DETAIL] = { "<details class=layer><summary>", "h4", "</div></details>\n" },
};

void exp_page_open(struct exp_page_writer *w, const struct exp_page_section *s)
{
    const char *heading = levels[s->level].heading;

    fputs(levels[s->level].open, w->body);
    if (s->level == EXP_PAGE_DETAIL) {
        fputs("<b>", w->body);
        put(w, s->title);
        fputs("</b> <span>", w->body);
        put(w, s->summary ? s->summary : "");
        fprintf(w->body,
                "</span> <a class=anchor href=\"#%s\" title=\"the address of this section\">#</a></summary>"
                "<div class=inside id=\"%s\">\n",
                s->id, s->id);
    } else {
        fprintf(w->body, "%s\">\n<%s>", s->id, heading);
        put_name(w, s->title);
        fprintf(w->body, "</%s>\n", heading);
        fprintf(w->contents, "<li class=%s><a href=\"#%s\">", s->level == EXP_PAGE_CHAPTER ? "c" : "p", s->id);
        exp_page_escape(s->title, w->contents);
        fputs("</a></li>\n", w->contents);
    }
    w->open[w->depth++] = s->level;
}

void exp_page_close(struct exp_page_writer *w)
{
    fputs(levels[w->open[--w->depth]].close, w->body);
}

/* ---- text ---- */

void exp_page_text(struct exp_page_writer *w, enum exp_page_text kind, const char *text)
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

void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);
    va_list args;

    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fclose(out);
    exp_page_text(w, kind, text);
    free(text);
}

void exp_page_fact(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact)
{
    if (!w->has_facts)
        fprintf(w->body, "<dl class=%s>\n", kind == EXP_PAGE_CARDS ? "cards" : "facts");
    w->has_facts = true;
    fputs(fact->is_faint ? "<div class=faint><dt>" : "<div><dt>", w->body);
    put(w, fact->name);
    fputs("</dt><dd>", w->body);
    if (fact->target)
        fprintf(w->body, "<a href=\"#%s\">", fact->target);
    put(w, fact->value);
    fputs(fact->target ? "</a>" : "", w->body);
    if (*fact->note) {
        fputs(" <small>", w->body);
        put(w, fact->note);
        fputs("</small>", w->body);
    }
    fputs("</dd></div>\n", w->body);
}

void exp_page_facts_end(struct exp_page_writer *w)
{
    if (w->has_facts)
        fputs("</dl>\n", w->body);
    w->has_facts = false;
}

/* ---- tables ---- */

static size_t count_texts(const struct exp_page_table *t)
{
    size_t n = 0;

    while (n < t->n_columns && !t->column[n].is_number)
        n++;
    return n;
}

void exp_page_table_begin(struct exp_page_writer *w, const struct exp_page_table *t)
{
    fprintf(w->body, "<div class=\"scroll%s\" tabindex=0><table class=%st%zu%s><caption>", t->is_long ? " long" : "",
            t->is_stacked ? "\"stacked " : "", count_texts(t), t->is_stacked ? "\"" : "");
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

enum { LONG_CELL = 48 }; /* bytes; longer cells are broken into lines */

/* End tags of cells and rows may be left out: a page of hundreds of layers has many. */
void exp_page_row(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n)
{
    fputs("<tr>", w->body);
    for (size_t i = 0; i < n; i++) {
        fputs(strlen(cell[i].text) > LONG_CELL ? "<td class=w>" : "<td>", w->body);
        if (cell[i].target)
            fprintf(w->body, "<a href=\"#%s\">", cell[i].target);
        (cell[i].target ? put_name : put)(w, cell[i].text);
        if (cell[i].target)
            fputs("</a>", w->body);
    }
    fputc('\n', w->body);
}

void exp_page_table_end(struct exp_page_writer *w)
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

/* Writes characters forbidden in addresses or in the page's attribute as %XX: a fifth shorter than base64. */
static void put_percent(const unsigned char *data, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (data[i] <= ' ' && (!i || data[i - 1] <= ' '))
            continue; /* blanks between elements; HTML and SVG join blanks in text */
        if (data[i] <= ' ')
            fputc(' ', out);
        else if (data[i] >= 0x7f || strchr("\"#%&", data[i]))
            fprintf(out, "%%%02X", data[i]);
        else
            fputc(data[i], out);
    }
}

enum { MOST_PICTURE_BYTES = 4 << 20 };

/* Kinds of files, the better kind first: first bytes, and type. */
static const struct picture {
    const char *suffix, *magic, *address;
    void (*put)(const unsigned char *data, size_t n, FILE *out);
} pictures[] = {
    { "svg", "<?xml", "image/svg+xml;charset=utf-8,", put_percent },
    { "png", "\x89PNG\r\n\x1a\n", "image/png;base64,", put_base64 },
};

static int embed_file(struct exp_page_writer *w, const struct exp_page_figure *f, const struct picture *as)
{
    char *path = exp_format("%s/%s.%s", f->folder, f->name, as->suffix), *data = NULL;
    size_t n;
    int err = exp_text_read(&data, &n, path, NULL);

    free(path);
    if (!err)
        err = n > MOST_PICTURE_BYTES ? -EFBIG : strncmp(data, as->magic, strlen(as->magic)) != 0 ? -EINVAL : 0;
    if (!err) {
        fputs("<img class=plot alt=\"", w->body);
        put(w, f->title);
        fprintf(w->body, "\" src=\"data:%s", as->address);
        as->put((const unsigned char *)data, n, w->body);
        fputs("\">\n", w->body);
    }
    free(data);
    return err;
}

static int embed(struct exp_page_writer *w, const struct exp_page_figure *f)
{
    int err = -ENOENT;

    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0] && err; i++)
        err = embed_file(w, f, &pictures[i]);
    return err;
}

void exp_page_figure(struct exp_page_writer *w, const struct exp_page_figure *f)
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
    fputs("</div><figcaption>", w->body);
    put(w, f->caption);
    fputs("</figcaption></figure>\n", w->body);
}

/* ---- the whole ---- */

static int put_asset(const char *path, FILE *out)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, NULL);

    if (!err)
        fputs(text, out);
    free(text);
    return err;
}

/* Writes an escaped title for people: clean, and with possible line breaks where names are joined. */
static void put_title(const char *title, FILE *to)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    put_breakable(title, out);
    fclose(out);
    exp_page_put_clean(text, to);
    free(text);
}

void exp_page_contents_here(struct exp_page_writer *w)
{
    fflush(w->body);
    w->contents_at = w->text_bytes;
}

static void put_contents(const struct exp_page_writer *w, FILE *out)
{
    if (!*w->contents_text)
        return;
    fputs("<nav aria-label=Contents><ul>\n", out);
    exp_page_put_clean(w->contents_text, out);
    fputs("</ul></nav>\n", out);
}

/* Writes the text, with the contents in the middle. */
static void put_body(const struct exp_page_writer *w, FILE *out)
{
    const char kept = w->text[w->contents_at];

    w->text[w->contents_at] = '\0';
    exp_page_put_clean(w->text, out);
    w->text[w->contents_at] = kept;
    put_contents(w, out);
    exp_page_put_clean(w->text + w->contents_at, out);
}

int exp_page_finish(struct exp_page_writer *w, FILE *out)
{
    int err;

    fflush(w->body);
    fflush(w->contents);
    fputs("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
          "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=color-scheme content=\"light dark\">\n"
          "<meta http-equiv=Content-Security-Policy content=\"default-src 'none';style-src 'unsafe-inline';script-src "
          "'unsafe-inline';img-src data:\">\n<link rel=icon href=\"data:,\">\n<title>",
          out);
    exp_page_put_clean(w->title, out);
    fputs("</title>\n<style>\n", out);
    err = put_asset(EXP_EXPERIMENTS_DIR "/show/page.css", out);
    fputs("</style>\n</head>\n<body>\n<header><p>Convolution on the bench</p><h1>", out);
    put_title(w->title, out);
    fputs("</h1></header>\n<main>\n", out);
    put_body(w, out);
    fputs("</main>\n<script>\n", out);
    if (!err)
        err = put_asset(EXP_EXPERIMENTS_DIR "/show/page.js", out);
    fputs("</script>\n</body>\n</html>\n", out);
    return err;
}

void exp_page_begin(struct exp_page_writer *w, const char *title)
{
    size_t bytes;
    FILE *out;

    *w = (struct exp_page_writer){ 0 };
    w->body = exp_memory_open(&w->text, &w->text_bytes);
    w->contents = exp_memory_open(&w->contents_text, &w->contents_bytes);
    out = exp_memory_open(&w->title, &bytes);
    exp_page_escape(title, out);
    fclose(out);
}

void exp_page_release(struct exp_page_writer *w)
{
    fclose(w->body);
    fclose(w->contents);
    free(w->text);
    free(w->contents_text);
    free(w->title);
    *w = (struct exp_page_writer){ 0 };
}
