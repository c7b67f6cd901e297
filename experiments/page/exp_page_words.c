#include "experiments/page/exp_page_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"

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

static bool is_number(const char *cell)
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
        if (!is_number(g->cell[i * g->n_columns + column]))
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
static char *write_table(struct words *v, char *line)
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
            next = write_table(v, line);
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

bool exp_page_words_write(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file)
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
