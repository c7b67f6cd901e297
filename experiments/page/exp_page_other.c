/* The chapter of a folder that is no experiment: its verdict, its figures and its tables as they are. */
#include "experiments/page/exp_page_other.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/page/exp_page_answer.h"

/* ---- what a program said in words ---- */

/*
 * A file of words becomes a part of a chapter or several. Tables of Markdown become tables. In a file of Markdown
 * headings begin new parts, lines are paragraphs, and pictures are left out, which the chapter has already; of any other
 * file lines stay as they are.
 */

enum { MOST_COLUMNS = 24, LONG_TABLE = 12 };

struct words {
    struct exp_page_writer *w;
    const struct exp_page_folder *f;
    bool is_markdown;
    size_t n_parts;
    char *text;    /* writable: cells are cut out of it */
    char *plain;   /* the first line that is not written yet */
    char *caption; /* of a table that may follow: the last line with words; NULL */
};

/* ---- lines ---- */

static bool is_blank(const char *line)
{
    return strchr("\n", line[strspn(line, " ")]) != NULL; /* also at the end of the text */
}

/* Returns where the line after this one begins; NULL behind the last one. */
static char *next_line(char *line)
{
    char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

/* Tells whether a line parts a table's head from its rows. */
static bool is_separator(const char *line)
{
    size_t n = line ? strcspn(line, "\n") : 0;

    return n > 2 && *line == '|' && strspn(line, "|-: ") == n;
}

/* Cuts a line where it ends. */
static void cut(char *line)
{
    line[strcspn(line, "\n")] = '\0';
}

/* ---- tables ---- */

/* Cuts a row of a table into its cells. Returns how many. */
static size_t split(char *row, char *cell[MOST_COLUMNS])
{
    size_t n = 0;

    cut(row);
    for (char *at = row + 1; n < MOST_COLUMNS && *at;) {
        char *end = at + strcspn(at, "|");
        char *last = end;

        at += strspn(at, " ");
        while (last > at && last[-1] == ' ')
            last--;
        cell[n++] = at;
        at = *end ? end + 1 : end;
        *last = '\0';
    }
    return n;
}

static bool reads_as_number(const char *cell)
{
    return !*cell || !strcmp(cell, "-") || isdigit((unsigned char)cell[*cell == '-' || *cell == '+']);
}

/* A table: its cells, row by row; the head is the first row. */
struct grid {
    const char **cell;
    size_t n_columns, n_rows;
};

/* Takes a table's rows out of the text. Returns the line after it, and what it holds in g; no cells when out of memory. */
static char *take_grid(char *line, struct grid *g)
{
    char *cell[MOST_COLUMNS];
    size_t room = 0;

    for (char *at = line; at && *at == '|'; at = next_line(at))
        room++;
    *g = (struct grid){ .cell = calloc(room * MOST_COLUMNS, sizeof *g->cell) };
    for (size_t i = 0; line && *line == '|'; i++) {
        char *next = next_line(line);
        size_t n = split(line, cell);

        if (!i)
            g->n_columns = n;
        for (size_t k = 0; k < g->n_columns && i != 1 && g->cell; k++)
            g->cell[g->n_rows * g->n_columns + k] = k < n ? cell[k] : "";
        g->n_rows += i != 1;
        line = next;
    }
    return line;
}

static bool has_numbers(const struct grid *g, size_t column)
{
    for (size_t i = 1; i < g->n_rows; i++) {
        if (!reads_as_number(g->cell[i * g->n_columns + column]))
            return false;
    }
    return g->n_rows > 1;
}

static void write_grid(struct exp_page_writer *w, const struct grid *g, const char *caption)
{
    struct exp_page_column column[MOST_COLUMNS];
    struct exp_page_cell cell[MOST_COLUMNS];
    size_t n_texts = g->n_columns;

    while (n_texts && has_numbers(g, n_texts - 1))
        n_texts--;
    for (size_t k = 0; k < g->n_columns; k++)
        column[k] = (struct exp_page_column){ g->cell[k], "", NULL, k >= n_texts };
    exp_page_table_begin(w, &(struct exp_page_table){ caption, column, g->n_columns, g->n_rows > LONG_TABLE });
    for (size_t i = 1; i < g->n_rows; i++) {
        for (size_t k = 0; k < g->n_columns; k++)
            cell[k] = (struct exp_page_cell){ g->cell[i * g->n_columns + k], NULL };
        exp_page_row(w, cell, g->n_columns);
    }
    exp_page_table_end(w);
}

/* ---- words ---- */

/* Writes the lines before a place as they are, without blank ones around them. */
static void flush_plain(struct words *v, char *end)
{
    char kept = *end;

    *end = '\0';
    while (*v->plain == '\n')
        v->plain++;
    for (char *last = end; last > v->plain && last[-1] == '\n'; last--)
        last[-1] = '\0';
    if (*v->plain)
        exp_page_text(v->w, EXP_PAGE_CODE, v->plain);
    *end = kept;
}

static void open_part(struct words *v, const char *title)
{
    char part[32], id[80];

    if (v->n_parts++)
        exp_page_close(v->w);
    exp_say(part, sizeof part, v->n_parts > 1 ? "words%zu" : "words", v->n_parts);
    exp_page_folder_id(v->f, part, id, sizeof id);
    exp_page_open(v->w, &(struct exp_page_section){ EXP_PAGE_PART, id, title, NULL });
}

/* Writes a line of Markdown that is in no table. */
static void write_markdown(struct words *v, char *line)
{
    size_t marks = strspn(line, "#");

    cut(line);
    if (marks > 1)
        open_part(v, line + marks + strspn(line + marks, " "));
    else if (!marks && strncmp(line, "![", 2) != 0)
        exp_page_text(v->w, EXP_PAGE_PARAGRAPH, line);
}

/* Writes a table and, of a file that is no Markdown, what stands before it. Returns the line after it. */
static char *take_table(struct words *v, char *line)
{
    struct grid g;
    char *after;

    if (!v->is_markdown)
        flush_plain(v, v->caption ? v->caption : line);
    if (v->caption)
        cut(v->caption);
    after = take_grid(line, &g);
    if (g.cell)
        write_grid(v->w, &g, v->caption ? v->caption : "");
    else
        exp_page_lacks(v->w);
    free(g.cell);
    v->caption = NULL;
    v->plain = after ? after : strchr(v->plain, '\0');
    return after;
}

static void write_lines(struct words *v)
{
    for (char *line = v->text, *next; line; line = next) {
        next = next_line(line);
        if (*line == '|' && is_separator(next)) {
            next = take_table(v, line);
        } else if (!is_blank(line)) {
            if (v->is_markdown)
                write_markdown(v, line);
            else
                v->caption = line;
        }
    }
    if (!v->is_markdown)
        flush_plain(v, strchr(v->plain, '\0'));
}

/* Writes a text file of the folder. Returns whether it is there. */
static bool write_words(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file)
{
    struct words v = { .w = w, .f = f, .is_markdown = exp_name_ends_in(file, ".md") };
    bool is_there;

    v.text = v.plain = exp_page_folder_text(f, file);
    if (!v.text)
        exp_page_lacks(w);
    is_there = v.text && *v.text;
    if (is_there) {
        open_part(&v, "What it found");
        write_lines(&v);
        exp_page_close(w);
    }
    free(v.text);
    return is_there;
}

enum { MOST_ROWS = 200 };

/* The first of them that is there: a page begins with its verdict. */
static const char *const texts[] = { "paper.md", "study.md", "verdict.txt" };

/* Writes what the program said in words, if anything. */
static void write_texts(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (write_words(w, f, texts[i]))
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
