/* The chapter of a folder that is no experiment: its verdict, its figures and its tables as they are. */
#include "experiments/page/exp_page_other.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"
#include "experiments/page/exp_page_answer.h"
#include "experiments/page/exp_page_found.h"
#include "experiments/page/exp_page_words.h"

enum { MOST_ROWS = 200 };

/* The first of them that is there: a page begins with its verdict. */
static const char *const texts[] = { "paper.md", "study.md", "verdict.txt" };

/* Writes what the program said in words, if anything. */
static void write_texts(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (exp_page_words_write(w, f, texts[i]))
            return;
    }
}

/* Tells whether a column has numbers only, and cells that say nothing. */
static bool is_number(const struct exp_page_csv *csv, size_t column)
{
    bool any = false;

    for (size_t r = 0; r < csv->table.n_rows; r++) {
        const char *cell = exp_table_string(&csv->table, r, column);

        if (!isnan(exp_page_csv_number(csv, r, csv->table.column[column])))
            any = true;
        else if (*cell && strncmp(cell, "not available", 13) != 0)
            return false;
    }
    return any;
}

/* Tells how a column of numbers is written. */
static enum exp_page_format format_of(const struct exp_page_csv *csv, size_t column)
{
    for (size_t r = 0; r < csv->table.n_rows; r++) {
        double value = exp_page_csv_number(csv, r, csv->table.column[column]);

        if (!isnan(value) && value != floor(value))
            return EXP_PAGE_DECIMAL;
    }
    return EXP_PAGE_WHOLE;
}

/* Makes fields of all columns: texts first. */
static size_t make_fields(const struct exp_page_csv *csv, struct exp_page_field *field)
{
    size_t n = 0;

    for (int numbers = 0; numbers < 2; numbers++) {
        for (size_t c = 0; c < csv->table.n_columns && n < EXP_PAGE_FIELDS; c++) {
            if (is_number(csv, c) == (numbers != 0))
                field[n++] = (struct exp_page_field){ .column = csv->table.column[c],
                                                      .format = numbers ? format_of(csv, c) : EXP_PAGE_TEXT };
        }
    }
    return n;
}

static int write_table(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file,
                       struct exp_why *why)
{
    struct exp_page_field field[EXP_PAGE_FIELDS];
    size_t row[MOST_ROWS];
    struct exp_page_csv csv;
    int err = exp_page_csv_read(&csv, f->path, file, why);

    if (err)
        return err;
    for (size_t r = 0; r < MOST_ROWS; r++)
        row[r] = r;
    if (csv.table.n_rows > MOST_ROWS)
        exp_page_say(w, EXP_PAGE_NOTE, "%s has %zu rows: it is in the folder only.", file, csv.table.n_rows);
    else
        exp_page_extract_write(w, &(struct exp_page_extract){ .csv = &csv,
                                                              .caption = file,
                                                              .field = field,
                                                              .n_fields = make_fields(&csv, field),
                                                              .row = row,
                                                              .n_rows = csv.table.n_rows,
                                                              .is_long = csv.table.n_rows > 12 });
    exp_page_csv_release(&csv);
    return 0;
}

static int is_table(const struct dirent *entry)
{
    return exp_name_ends_in(entry->d_name, ".csv");
}

static int write_tables(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct dirent **entry;
    int n = scandir(f->path, &entry, is_table, alphasort), err = 0;

    if (n < 0)
        return exp_fail(why, -errno, "cannot read the folder '%s': %s", f->path, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!err)
            err = write_table(w, f, entry[i]->d_name, why);
        free(entry[i]);
    }
    free(entry);
    return err;
}

/* Says what a verdict asks, where it does, and its first sentence. */
static void write_answer(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    char question[640], answer[640];

    exp_page_question_of_folder(f, question, sizeof question);
    if (*question)
        exp_page_say(w, EXP_PAGE_PARAGRAPH, "Asked: %s", question);

    if (exp_page_found(f, answer, sizeof answer))
        exp_page_lacks(w);
    if (*answer)
        exp_page_text(w, EXP_PAGE_ANSWER, answer);
}

int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct exp_page_csv none = { 0 };
    char id[80];
    int err;

    write_answer(w, f);
    exp_page_folder_figures(w, f, NULL, false);
    write_texts(w, f);
    exp_page_folder_id(f, "tables", id, sizeof id);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, id, "Its tables", NULL });
    err = write_tables(w, f, why);
    exp_page_close(w);
    exp_page_folder_id(f, "origin", id, sizeof id);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, id, "How it was made", NULL });
    exp_page_folder_origin(w, f, &none);
    exp_page_close(w);
    return err;
}
