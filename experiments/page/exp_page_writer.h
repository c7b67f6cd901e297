/*
 * A report as its writer sees it: sections that hold texts, facts, tables and figures, one after the other. What a
 * report says is written once, against this interface; each writer makes another kind of file of it.
 *
 *     open CHAPTER             a result folder
 *       open PART              a question that it answers
 *         say, facts, figure, table_begin, row ..., table_end
 *       close
 *       open DETAIL            a layer; a writer with skips_details leaves it out
 *
 * All strings are plain text, as they stand in result files: writers escape them. They are not kept.
 */
#ifndef EXPERIMENTS_EXP_PAGE_WRITER_H
#define EXPERIMENTS_EXP_PAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/page/exp_page_palette.h"

enum exp_page_level { EXP_PAGE_CHAPTER, EXP_PAGE_PART, EXP_PAGE_DETAIL };

enum exp_page_text {
    EXP_PAGE_PARAGRAPH,
    EXP_PAGE_ANSWER, /* the sentence that a reader should take away */
    EXP_PAGE_NOTE,   /* small print */
    EXP_PAGE_CODE,   /* lines as they are */
};

struct exp_page_section {
    enum exp_page_level level;
    const char *id; /* letters, digits, '-': the target of links */
    const char *title;
    const char *summary; /* a few words beside the title of a DETAIL; NULL */
};

struct exp_page_column {
    const char *title, *unit; /* "" if it has none */
    const char *meaning;      /* one line; NULL */
    bool is_number;
};

struct exp_page_table {
    const char *caption;
    const struct exp_page_column *column; /* first the texts, then the numbers */
    size_t n_columns;
    bool is_long; /* readers will want to search it */
};

struct exp_page_cell {
    const char *text;   /* "" for nothing */
    const char *target; /* id of a section; NULL: no link */
};

struct exp_page_fact {
    const char *name, *value, *note; /* note: "" for none */
    bool is_faint;                   /* says next to nothing: not to be looked at first */
};

enum exp_page_facts { EXP_PAGE_LIST, EXP_PAGE_CARDS };

/* A picture: a file <folder>/<name>.svg or .png, or a drawing made for the page. */
struct exp_page_figure {
    const char *folder, *name;
    const char *drawing; /* SVG of ours; NULL: the file */
    const char *title, *caption;
};

struct exp_page_writer;

struct exp_page_ops {
    void (*open)(struct exp_page_writer *w, const struct exp_page_section *section);
    void (*close)(struct exp_page_writer *w);
    void (*say)(struct exp_page_writer *w, enum exp_page_text kind, const char *text);
    void (*facts)(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact, size_t n);
    void (*table_begin)(struct exp_page_writer *w, const struct exp_page_table *table);
    void (*row)(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n);
    void (*table_end)(struct exp_page_writer *w);
    void (*figure)(struct exp_page_writer *w, const struct exp_page_figure *figure);
    /* Puts the whole together: what was written so far, with its frame. Returns 0 or -errno. */
    int (*finish)(struct exp_page_writer *w, FILE *out);
};

enum { EXP_PAGE_DEPTH = 8 };

struct exp_page_writer {
    const struct exp_page_ops *ops;
    const char *title;
    const char *assets; /* folder of page.css and page.js */
    const char *base;   /* folder that the page will lie in, for links to files */
    bool skips_details;
    FILE *body;
    char *text;
    size_t text_bytes;
    enum exp_page_level open[EXP_PAGE_DEPTH];
    size_t depth;
    FILE *contents; /* links to chapters and parts */
    char *contents_text;
    size_t contents_bytes;
    struct exp_page_palette palette;
    int err; /* the first -ENOMEM that left something out; finish returns it */
};

/* Begin a page. Return 0 or -ENOMEM. title, assets and base must outlive w. */
int exp_page_html(struct exp_page_writer *w, const char *title, const char *assets, const char *base);
int exp_page_markdown(struct exp_page_writer *w, const char *title, const char *base);

void exp_page_release(struct exp_page_writer *w);

/* What stands around the parts of a fact. */
struct exp_page_fact_marks {
    const char *open, *faint, *value, *note, *note_end, *close; /* faint: opens one that is */
};

/* Writes facts, each text by put. */
void exp_page_put_facts(struct exp_page_writer *w, void (*put)(struct exp_page_writer *w, const char *text),
                        const struct exp_page_fact_marks *marks, const struct exp_page_fact *fact, size_t n);

/* Notes that something is left out because memory ran out: there will be no page. */
void exp_page_lacks(struct exp_page_writer *w);

/* Formats a text and says it. */
void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes text as HTML does, in elements and in quoted attributes. Control characters become blanks. */
void exp_page_escape(const char *text, FILE *out);

/* Writes text with U+FFFD for bytes that are no UTF-8, and for characters that turn the direction of what follows. */
void exp_page_put_clean(const char *text, FILE *out);

/* Tells whether what is said now is kept. */
bool exp_page_is_heard(const struct exp_page_writer *w);

#endif
