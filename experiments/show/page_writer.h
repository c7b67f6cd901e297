/*
 * A page for a browser: one file that needs nothing else. It has sections that hold texts, facts, tables and figures,
 * one after the other:
 *
 *     open CHAPTER             a result folder
 *       open PART              a question that it answers
 *         say, facts, figure, table_begin, row ..., table_end
 *       close
 *       open DETAIL            a layer
 *
 * All strings are plain text, as they stand in result files, and are escaped here. They are not kept.
 */
#ifndef EXPERIMENTS_SHOW_PAGE_WRITER_H
#define EXPERIMENTS_SHOW_PAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/*
 * A picture: a file <folder>/<name>.svg or .png, or a drawing made for the page. A file is embedded as it is: as a
 * picture it runs no script and asks for nothing, whoever sent it.
 */
struct exp_page_figure {
    const char *folder, *name;
    const char *drawing; /* SVG of ours; NULL: the file */
    const char *title, *caption;
};

enum { EXP_PAGE_DEPTH = 8 };

struct exp_page_writer {
    char *title; /* as HTML */
    FILE *body;
    char *text;
    size_t text_bytes;
    enum exp_page_level open[EXP_PAGE_DEPTH];
    size_t depth;
    bool has_facts; /* a list of them is open */
    FILE *contents; /* links to chapters and parts */
    char *contents_text;
    size_t contents_bytes;
};

void exp_page_begin(struct exp_page_writer *w, const char *title);
void exp_page_release(struct exp_page_writer *w);

/* Puts the whole together: what was written so far, with its frame. Returns 0 or -errno. */
int exp_page_finish(struct exp_page_writer *w, FILE *out);

void exp_page_open(struct exp_page_writer *w, const struct exp_page_section *section);
void exp_page_close(struct exp_page_writer *w);
void exp_page_text(struct exp_page_writer *w, enum exp_page_text kind, const char *text);

/* Writes a fact, the first of which begins a list; ends the list, if there is one. */
void exp_page_fact(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact);
void exp_page_facts_end(struct exp_page_writer *w);

void exp_page_table_begin(struct exp_page_writer *w, const struct exp_page_table *table);
void exp_page_row(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n);
void exp_page_table_end(struct exp_page_writer *w);
void exp_page_figure(struct exp_page_writer *w, const struct exp_page_figure *figure);

/* Formats a text and writes it. */
void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes text as HTML does, in elements and in quoted attributes. Control characters become blanks. */
void exp_page_escape(const char *text, FILE *out);

/* Writes text with U+FFFD for bytes that are no UTF-8, and for characters that turn the direction of what follows. */
void exp_page_put_clean(const char *text, FILE *out);

#endif
