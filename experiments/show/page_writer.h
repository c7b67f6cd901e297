/*
 * A page for a browser: one file without dependencies. The page has sections with texts, facts, tables and figures:
 *
 *     open CHAPTER             a result folder
 *       open PART              a question about the folder
 *         say, facts, figure, table_begin, row ..., table_end
 *       close
 *       open DETAIL            a layer
 *
 * All strings are plain text, as in result files; the writer escapes the strings, and keeps none.
 */
#ifndef EXPERIMENTS_SHOW_PAGE_WRITER_H
#define EXPERIMENTS_SHOW_PAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum exp_page_level { EXP_PAGE_CHAPTER, EXP_PAGE_PART, EXP_PAGE_DETAIL };

enum exp_page_text {
    EXP_PAGE_PARAGRAPH,
    EXP_PAGE_ANSWER, /* the main sentence for the reader */
    EXP_PAGE_NOTE,   /* small print */
    EXP_PAGE_CODE,   /* lines without changes */
};

struct exp_page_section {
    enum exp_page_level level;
    const char *id; /* letters, digits, '-': the target of links */
    const char *title;
    const char *summary; /* a few words beside the title of a DETAIL; NULL */
};

struct exp_page_column {
    const char *title, *unit; /* "" without a unit */
    const char *meaning;      /* one line; NULL */
    bool is_number;
};

struct exp_page_table {
    const char *caption;
    const struct exp_page_column *column; /* first the texts, then the numbers */
    size_t n_columns;
    bool is_long;    /* long enough for a search field */
    bool is_stacked; /* on a phone, the cells of a row stand below each other */
};

struct exp_page_cell {
    const char *text;   /* "" for nothing */
    const char *target; /* id of a section; NULL: no link */
};

struct exp_page_fact {
    const char *name, *value, *note; /* note: "" without a note */
    bool is_faint;                   /* of little interest at first */
    const char *target;              /* id of a section to which the value leads; NULL: no link */
};

enum exp_page_facts { EXP_PAGE_LIST, EXP_PAGE_CARDS };

/*
 * A picture: a file <folder>/<name>.svg or .png, or a drawing made for the page. A file is embedded without changes: a
 * picture runs no script and loads nothing, whoever sent the file.
 */
struct exp_page_figure {
    const char *folder, *name;
    const char *drawing; /* SVG of this program; NULL: the file */
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
    bool has_facts; /* a list of facts is open */
    FILE *contents; /* links to chapters and parts */
    char *contents_text;
    size_t contents_bytes;
    size_t contents_at; /* bytes of the text before the links */
};

void exp_page_begin(struct exp_page_writer *w, const char *title);
void exp_page_release(struct exp_page_writer *w);

/* Writes the whole page: the frame, and everything written until now. Returns 0 or -errno. */
int exp_page_finish(struct exp_page_writer *w, FILE *out);

void exp_page_open(struct exp_page_writer *w, const struct exp_page_section *section);
void exp_page_close(struct exp_page_writer *w);
void exp_page_text(struct exp_page_writer *w, enum exp_page_text kind, const char *text);

/* Write a fact, the first of which begins a list; end an open list. */
void exp_page_fact(struct exp_page_writer *w, enum exp_page_facts kind, const struct exp_page_fact *fact);
void exp_page_facts_end(struct exp_page_writer *w);

void exp_page_table_begin(struct exp_page_writer *w, const struct exp_page_table *table);
void exp_page_row(struct exp_page_writer *w, const struct exp_page_cell *cell, size_t n);
void exp_page_table_end(struct exp_page_writer *w);
void exp_page_figure(struct exp_page_writer *w, const struct exp_page_figure *figure);

/* Puts the links to all chapters here instead of before the page's text. */
void exp_page_contents_here(struct exp_page_writer *w);

/* Formats a text and writes it. */
void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes text as HTML does, in elements and in quoted attributes. Control characters become blanks. */
void exp_page_escape(const char *text, FILE *out);

/* Writes text with U+FFFD for invalid UTF-8, and for characters that change the direction of text. */
void exp_page_put_clean(const char *text, FILE *out);

#endif
