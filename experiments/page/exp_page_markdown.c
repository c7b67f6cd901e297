/* The same page for terminals and pull requests: Markdown as GitHub has it, without the pages of single layers. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_memory.h"
#include "experiments/page/exp_page_writer.h"

/* Writes text so that none of it means anything to Markdown or HTML, nor ends a table's cell. */
static void put(struct exp_page_writer *w, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_[]<>|#~&", *text))
            fputc('\\', w->body);
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, w->body);
    }
}

static void open_section(struct exp_page_writer *w, const struct exp_page_section *s)
{
    w->open[w->depth++] = s->level;
    if (!exp_page_is_heard(w))
        return;
    fprintf(w->body, "\n%s ", s->level == EXP_PAGE_CHAPTER ? "##" : "###");
    put(w, s->title);
    fputs("\n\n", w->body);
}

static void close_section(struct exp_page_writer *w)
{
    w->depth--;
}

/* Indents the lines of code by four, which nothing in them can end. */
static void put_code(struct exp_page_writer *w, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        fprintf(w->body, "    %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
    fputc('\n', w->body);
}

static void say(struct exp_page_writer *w, enum exp_page_text kind, const char *text)
{
    const char *mark = kind == EXP_PAGE_ANSWER ? "**" : "";

    if (!exp_page_is_heard(w))
        return;
    if (kind == EXP_PAGE_CODE) {
        put_code(w, text);
        return;
    }
    fputs(mark, w->body);
    put(w, text);
    fprintf(w->body, "%s\n\n", mark);
}

static void facts(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact, size_t n)
{
    static const struct exp_page_fact_marks marks = { "- ", "- ", ": ", " ", "", "\n" };

    (void)kind;
    if (exp_page_is_heard(w))
        exp_page_put_facts(w, put, &marks, fact, n);
    fputc('\n', w->body);
}

static void table_begin(struct exp_page_writer *w, const struct exp_page_table *t)
{
    if (!exp_page_is_heard(w))
        return;
    put(w, t->caption);
    fputs("\n\n|", w->body);
    for (size_t i = 0; i < t->n_columns; i++) {
        fputc(' ', w->body);
        put(w, t->column[i].title);
        if (*t->column[i].unit) {
            fputs(", ", w->body);
            put(w, t->column[i].unit);
        }
        fputs(" |", w->body);
    }
    fputs("\n|", w->body);
    for (size_t i = 0; i < t->n_columns; i++)
        fputs(t->column[i].is_number ? "---:|" : "---|", w->body);
    fputc('\n', w->body);
}

static void row(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n)
{
    if (!exp_page_is_heard(w))
        return;
    fputc('|', w->body);
    for (size_t i = 0; i < n; i++) {
        fputc(' ', w->body);
        put(w, cell[i].text);
        fputs(" |", w->body);
    }
    fputc('\n', w->body);
}

static void table_end(struct exp_page_writer *w)
{
    if (exp_page_is_heard(w))
        fputc('\n', w->body);
}

/* Writes a path, in which a blank or a bracket would end the link. */
static void put_path(struct exp_page_writer *w, const char *path)
{
    for (; *path; path++) {
        if (isalnum((unsigned char)*path) || strchr("/._-+", *path))
            fputc(*path, w->body);
        else
            fprintf(w->body, "%%%02X", (unsigned char)*path);
    }
}

/* Returns the part of a folder's path below another one; the whole path if it is not below. */
static const char *below(const char *folder, const char *base)
{
    size_t length = strlen(base);

    while (length && base[length - 1] == '/')
        length--;
    if (strncmp(folder, base, length) != 0 || (folder[length] && folder[length] != '/'))
        return folder;
    folder += length;
    return folder + strspn(folder, "/");
}

static void figure(struct exp_page_writer *w, const struct exp_page_figure *f)
{
    const char *folder;

    if (!exp_page_is_heard(w) || f->drawing)
        return;
    folder = below(f->folder, w->base);
    fputs("![", w->body);
    put(w, f->title);
    fputs("](", w->body);
    put_path(w, folder);
    fputs(*folder ? "/" : "", w->body);
    put_path(w, f->name);
    fputs(".png)\n\n", w->body);
    put(w, f->caption);
    fputs("\n\n", w->body);
}

static int finish(struct exp_page_writer *w, FILE *out)
{
    if (fflush(w->body) || ferror(w->body))
        return -ENOMEM;
    fputs("# ", out);
    exp_page_put_clean(w->title, out);
    fputc('\n', out);
    exp_page_put_clean(w->text, out);
    return w->err;
}

static const struct exp_page_ops markdown_ops = {
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

int exp_page_markdown(struct exp_page_writer *w, const char *title, const char *base)
{
    *w = (struct exp_page_writer){ .ops = &markdown_ops, .title = title, .base = base, .skips_details = true };
    w->body = exp_memory_open(&w->text, &w->text_bytes);
    return w->body ? 0 : -ENOMEM;
}
