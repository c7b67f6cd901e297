/* The report of a folder of results: report.html. */
#ifndef EXPERIMENTS_SHOW_PAGE_H
#define EXPERIMENTS_SHOW_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/results.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/show/page_writer.h"

#define EXP_PAGE_FILE "report.html"

/*
 * Writes the page about the results of a folder and its subfolders, into the folder, whole or not at all. name is the
 * folder's later path; NULL: the present path. Only folders of the model are shown; "all": every folder. *n is the
 * number of shown folders. The report names a folder that cannot be read. Returns 0, or with one line in why: -ENOENT
 * without results; -errno of reading folders or writing.
 */
int exp_page_write(const char *results, const char *name, const char *model, size_t *n, struct exp_why *why);

/*
 * Adds the report of a program's results, to the open folder of results, and lists the report on standard output. An
 * error goes to standard error, because no table depends on the report. Returns as exp_page_write.
 */
int exp_page_add(const struct exp_results *r, const char *program);

/*
 * A table of a result folder with the head of the file: "# key: value" lines, and a "# column name [unit]: meaning"
 * line for each column (base/csv.h writes the head).
 */
struct exp_page_csv {
    struct exp_table table; /* without rows if there is no file */
    void *row;              /* [table.n_rows] structs of the record that read the table; NULL */
    char *head;             /* lines, each ended by a line feed; "" */
};

/* Reads <folder>/<file>. Returns 0, also without a file; -errno with one line in why. */
int exp_page_csv_read(struct exp_page_csv *csv, const char *folder, const char *file, struct exp_why *why);

/* Reads a file with a record, of any version. Returns as exp_page_csv_read. */
int exp_page_csv_read_rows(struct exp_page_csv *csv, const char *folder, const struct rec_table *t,
                           struct exp_why *why);
void exp_page_csv_release(struct exp_page_csv *csv);

/* Returns a cell; "" without the row or column. */
const char *exp_page_csv_cell(const struct exp_page_csv *csv, size_t row, const char *column);

/* Tells whether the file has a column. */
bool exp_page_csv_has(const struct exp_page_csv *csv, const char *column);

/* Returns a cell's number; NaN without a number. */
double exp_page_csv_number(const struct exp_page_csv *csv, size_t row, const char *column);

/* Copies the head's value of a key, such as "commit"; "" without the key. */
void exp_page_csv_said(const struct exp_page_csv *csv, const char *key, char *text, size_t bytes);

/* ---- parts of tables on a page ---- */

enum exp_page_format {
    EXP_PAGE_TEXT,
    EXP_PAGE_WHOLE,   /* 1 234 567 */
    EXP_PAGE_DECIMAL, /* at least three significant digits */
};

/* A column of a page's table, made from a column of the CSV file. */
struct exp_page_field {
    const char *column; /* NULL: the column of the measure */
    enum measure measure;
    const char *title; /* "@1" to "@3" stand for the names of levels; NULL: the column's name */
    const char *unit;  /* NULL: the column's */
    enum exp_page_format format;
    double scale;                         /* of numbers; 0 is 1 */
    const char *(*say)(const char *text); /* people's word for a value; NULL */
    bool is_link;                         /* a link to the target of the row */
};

/*
 * Fields: a whole number; a number; a number times a factor; numbers of L1, L2 and L3; a measured speed-up with
 * interval.
 */
#define EXP_PAGE_COUNT(name, its_title)                                                                                \
    {                                                                                                                  \
        .measure = M_##name, .title = (its_title), .format = EXP_PAGE_WHOLE                                            \
    }
#define EXP_PAGE_NUMBER(name, its_title)                                                                               \
    {                                                                                                                  \
        .measure = M_##name, .title = (its_title), .format = EXP_PAGE_DECIMAL                                          \
    }
#define EXP_PAGE_SCALED(name, its_title, its_unit, by)                                                                 \
    {                                                                                                                  \
        .measure = M_##name, .title = (its_title), .unit = (its_unit), .format = EXP_PAGE_DECIMAL, .scale = (by)       \
    }
#define EXP_PAGE_MISSES(name, its_title, more)                                                                         \
    EXP_PAGE_NUMBER(name##_l1_miss_percent, its_title " @1" more),                                                     \
        EXP_PAGE_NUMBER(name##_l2_miss_percent, its_title " @2" more),                                                 \
        EXP_PAGE_NUMBER(name##_l3_miss_percent, its_title " @3" more)
#define EXP_PAGE_SPEEDUP                                                                                               \
    EXP_PAGE_NUMBER(measured_speedup_vs_base, "times Base's speed"),                                                   \
        EXP_PAGE_NUMBER(measured_speedup_low, "at least"), EXP_PAGE_NUMBER(measured_speedup_high, "at most")

enum { EXP_PAGE_FIELDS = 32, EXP_PAGE_LEVELS = 3 };

struct exp_page_extract {
    const struct exp_page_csv *csv;
    const char *caption;
    const struct exp_page_field *field; /* first texts, then numbers */
    size_t n_fields;
    const size_t *row; /* [n_rows]; NULL: the first rows */
    size_t n_rows;
    const char *const *level;                           /* [EXP_PAGE_LEVELS] names; NULL if no title has a level */
    const char *(*target)(const void *ctx, size_t row); /* id of a section, or NULL */
    const void *ctx;
    bool is_long;
    bool is_brief; /* meanings and missing columns are explained elsewhere */
};

/*
 * Writes an extract. Columns without a single value are left out; a line below gives the reasons of missing columns.
 * Writes nothing if no column is left.
 */
void exp_page_extract_write(struct exp_page_writer *w, const struct exp_page_extract *x);

/* Writes a number with enough digits for a reader, thousands apart by narrow blanks; "" for NaN. */
void exp_page_print_number(char *text, size_t bytes, double value, enum exp_page_format format);

/* Writes bytes as "4.5 KiB". */
void exp_page_print_bytes(char *text, size_t bytes, double value);

/* ---- a result folder as a chapter of a page ---- */

struct exp_page_folder {
    const char *path;
    const char *name; /* for people: the place below the folder of all results */
    char id[24];      /* of the chapter: unique within a page */
};

/* Lists the files of a folder that end in suffix, by name. Returns 0 or -errno. */
int exp_page_files(struct exp_words *names, const char *folder, const char *suffix);

/* Opens a part of the chapter, with the id "<id>-<part>". */
void exp_page_part(struct exp_page_writer *w, const struct exp_page_folder *f, const char *part, const char *title);

/*
 * Writes the folder's figures, each with a caption, in the order of figures.txt, else of the names. first[] ends with
 * NULL. With only_first, only the first existing figure of first[]; else all figures but this one.
 */
void exp_page_folder_figures(struct exp_page_writer *w, const struct exp_page_folder *f, const char *const *first,
                             bool only_first);

/* Writes the origin of the folder's results: host.txt and the head of a table; NULL: no table. */
void exp_page_folder_origin(struct exp_page_writer *w, const struct exp_page_folder *f, const struct exp_page_csv *csv);

/*
 * The heads of the scripts in experiments/figures, and nothing else, say in words what figures show:
 *
 *     # question How many loads miss in each level?
 *     # caption In % of all loads.
 *     # caption Solid bars are simulated, hatched ones measured.
 *
 * Lines of one kind are joined by blanks.
 */

struct exp_page_caption {
    char *question, *reading; /* NULL unless the script has both */
};

/* Reads the head of a figure's script (exp_plot_script_path). Returns 0, or -errno, why and nothing to release. */
int exp_page_caption_read(struct exp_page_caption *c, const char *scripts, const char *name, struct exp_why *why);
void exp_page_caption_release(struct exp_page_caption *c);

/* Writes a figure of the folder, with its caption. */
void exp_page_folder_figure(struct exp_page_writer *w, const struct exp_page_folder *f, const char *name);

/* ---- chapters ---- */

/* Returns the chapter about a folder: the first chapter whose file exists; else the last. */
const struct exp_chapter *exp_page_chapter_of(const struct exp_page_folder *f);

/* Write the chapter of an experiment, a network, a sweep, any further folder. Return 0, or -errno with a line in why. */
int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
int exp_page_network_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
int exp_page_sweep_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

/* Draws a sweep with sliders, if the folder has one. Returns 0, or -errno with a line in why. */
int exp_page_sweep_chart(struct exp_page_writer *w, const char *folder, struct exp_why *why);

/* Write the answer of any folder, and the rest of the chapter. */
void exp_page_other_begin(struct exp_page_writer *w, const struct exp_page_folder *f);
int exp_page_other_end(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

/*
 * Copies the findings of a folder of results, in a sentence or two: for the overview of many folders, and for the
 * folder's chapter; "" without findings.
 */
void exp_page_found(const struct exp_page_folder *f, char *text, size_t bytes);

/*
 * Copies the sentence number `before` (from 0) of a verdict's first paragraph, without the addressee; "" without a
 * sentence. Questions do not count.
 */
void exp_page_answer_of(const char *verdict, size_t before, char *text, size_t bytes);

/* Returns the title of an algorithm in tables. */
const char *exp_page_algo_title(const char *name);

#endif
