/* The findings of a folder, and the chapter of a folder without an experiment: verdict, figures and tables. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/page_run.h"
#include "experiments/show/report.h"

/* ---- verdicts ---- */

/* Beginning of a sentence's later lines; labels of a paragraph stand further left (base/text.h). */
static const char goes_on[] = "    ";

/* Joins a sentence's lines. Returns the start of the next sentence. */
static const char *take_sentence(const char *text, FILE *out)
{
    for (bool is_first = true; *text && *text != '\n'; is_first = false) {
        size_t length;

        if (!is_first && strncmp(text, goes_on, strlen(goes_on)) != 0)
            return text;
        text += strspn(text, " ");
        length = strcspn(text, "\n");
        fprintf(out, "%s%.*s", is_first ? "" : " ", (int)length, text);
        text += length + (text[length] == '\n');
    }
    return text;
}

/*
 * Takes the next sentence of a verdict, from malloc. Drops "VERDICT for somebody: ", because the chapter names the
 * reader, and begins the rest with a capital. A sentence without the prefix stays unchanged, because the first word may
 * be a name.
 */
static char *next_sentence(const char **verdict)
{
    char *sentence, *said;
    size_t bytes;
    FILE *out = exp_memory_open(&sentence, &bytes);

    *verdict = take_sentence(*verdict, out);
    fclose(out);
    said = strncmp(sentence, "VERDICT for ", 12) ? NULL : strstr(sentence, ": ");
    if (said) {
        memmove(sentence, said + 2, strlen(said + 2) + 1);
        *sentence = (char)toupper((unsigned char)*sentence);
    }
    return sentence;
}

/* Tells whether an experiment measured no speed-up: then the verdict's second sentence has the numbers. */
static bool is_untimed(const struct exp_page_csv *model)
{
    const struct exp_model_row *row = model->row;

    for (size_t i = 0; i < model->table.n_rows; i++) {
        if (!row[i].of[M_measured_speedup_vs_base].why)
            return false;
    }
    return model->table.n_rows && exp_page_csv_has(model, measure_at(M_measured_speedup_vs_base)->name);
}

static bool is_question(const char *sentence)
{
    size_t n = strlen(sentence);

    return n && sentence[n - 1] == '?';
}

void exp_page_answer_of(const char *verdict, size_t before, char *text, size_t bytes)
{
    char *sentence = next_sentence(&verdict);

    while (before || is_question(sentence)) {
        before -= before && !is_question(sentence);
        free(sentence);
        sentence = next_sentence(&verdict);
    }
    exp_say(text, bytes, "%s", sentence);
    free(sentence);
}

/* Copies the sentence of a folder's verdict with the answer: without times, the simulated answer. */
static void find_in_verdict(const struct exp_page_folder *f, char *text, size_t bytes)
{
    struct exp_page_csv model;
    char *verdict = exp_text_of(f->path, "verdict.txt");

    if (exp_page_csv_read_rows(&model, f->path, &exp_model_table, NULL))
        model = (struct exp_page_csv){ 0 };
    exp_page_answer_of(verdict, is_untimed(&model), text, bytes);
    exp_page_csv_release(&model);
    free(verdict);
}

void exp_page_verdict_begins(struct exp_page_writer *w, const struct exp_page_folder *f,
                             const struct exp_page_csv *model)
{
    char *verdict = exp_text_of(f->path, "verdict.txt");
    const char *at = verdict;
    const size_t answer = is_untimed(model) ? 1 : 0;

    if (!*verdict)
        exp_page_text(w, EXP_PAGE_PARAGRAPH, "There is no verdict.txt in this folder: an older version made it.");
    for (size_t i = 0; *at && *at != '\n'; i++) {
        char *sentence = next_sentence(&at);

        exp_page_text(w, i == answer ? EXP_PAGE_ANSWER : EXP_PAGE_PARAGRAPH, sentence);
        free(sentence);
    }
    free(verdict);
}

/* ---- findings of a folder ---- */

void exp_page_found(const struct exp_page_folder *f, char *text, size_t bytes)
{
    const struct exp_chapter *c = exp_page_chapter_of(f);

    *text = '\0';
    if (c && c->found)
        c->found(f->path, text, bytes);
    else
        find_in_verdict(f, text, bytes);
}

/* ---- files of words ---- */

/*
 * A file of words becomes one or more parts of a chapter. Tables of Markdown become tables. In a Markdown file,
 * headings begin new parts, lines are paragraphs, and pictures are left out, because the chapter shows the pictures
 * already; in a plain file, lines stay unchanged.
 */

enum { MOST_COLUMNS = 24, LONG_TABLE = 12 };

struct words {
    struct exp_page_writer *w;
    const struct exp_page_folder *f;
    bool is_markdown;
    size_t n_parts;
    char *text;    /* writable: the reader cuts cells out of the text */
    char *plain;   /* the first line not yet written */
    char *caption; /* of a table that may follow: the last line with words; NULL */
};

/* ---- lines ---- */

static bool is_blank(const char *line)
{
    return strchr("\n", line[strspn(line, " ")]) != NULL; /* also at the end of the text */
}

/* Returns the start of the next line; NULL behind the last line. */
static char *next_line(char *line)
{
    char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

/* Tells whether a line separates a table's head from the rows. */
static bool is_separator(const char *line)
{
    size_t n = line ? strcspn(line, "\n") : 0;

    return n > 2 && *line == '|' && strspn(line, "|-: ") == n;
}

/* Cuts a line at its end. */
static void cut(char *line)
{
    line[strcspn(line, "\n")] = '\0';
}

/* ---- tables ---- */

/* Cuts a row of a table into cells. Returns the number of cells. */
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

/* A table: the cells, row by row; the first row is the head. */
struct grid {
    const char **cell;
    size_t n_columns, n_rows;
};

/* Takes a table's rows out of the text into g. Returns the line after the table. */
static char *take_grid(char *line, struct grid *g)
{
    char *cell[MOST_COLUMNS];
    size_t room = 0;

    for (char *at = line; at && *at == '|'; at = next_line(at))
        room++;
    *g = (struct grid){ .cell = exp_new(room * MOST_COLUMNS, sizeof *g->cell) };
    for (size_t i = 0; line && *line == '|'; i++) {
        char *next = next_line(line);
        size_t n = split(line, cell);

        if (!i)
            g->n_columns = n;
        for (size_t k = 0; k < g->n_columns && i != 1; k++)
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
    exp_page_table_begin(w, &(struct exp_page_table){ caption, column, g->n_columns, g->n_rows > LONG_TABLE, false });
    for (size_t i = 1; i < g->n_rows; i++) {
        for (size_t k = 0; k < g->n_columns; k++)
            cell[k] = (struct exp_page_cell){ g->cell[i * g->n_columns + k], NULL };
        exp_page_row(w, cell, g->n_columns);
    }
    exp_page_table_end(w);
}

/* ---- words ---- */

/* Writes the lines before `end` unchanged, without surrounding blank lines. */
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
    char part[32];

    if (v->n_parts++)
        exp_page_close(v->w);
    exp_say(part, sizeof part, v->n_parts > 1 ? "words%zu" : "words", v->n_parts);
    exp_page_part(v->w, v->f, part, title);
}

/* Writes a line of Markdown outside of tables. */
static void write_markdown(struct words *v, char *line)
{
    size_t marks = strspn(line, "#");

    cut(line);
    if (marks > 1)
        open_part(v, line + marks + strspn(line + marks, " "));
    else if (!marks && strncmp(line, "![", 2) != 0)
        exp_page_text(v->w, EXP_PAGE_PARAGRAPH, line);
}

/* Writes a table and, of a plain file, the lines before the table. Returns the line after the table. */
static char *take_table(struct words *v, char *line)
{
    struct grid g;
    char *after;

    if (!v->is_markdown)
        flush_plain(v, v->caption ? v->caption : line);
    if (v->caption)
        cut(v->caption);
    after = take_grid(line, &g);
    write_grid(v->w, &g, v->caption ? v->caption : "");
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

enum { MOST_ROWS = 200 };

/* The page begins with the first existing file. */
static const char *const texts[] = { "paper.md", "study.md", "verdict.txt" };

/* Writes the program's words, if any. */
static void write_texts(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    struct words v = { .w = w, .f = f };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !(v.text && *v.text); i++) {
        free(v.text);
        v.text = v.plain = exp_text_of(f->path, texts[i]);
        v.is_markdown = exp_name_ends_in(texts[i], ".md");
    }
    if (*v.text) {
        open_part(&v, "What it found");
        write_lines(&v);
        exp_page_close(w);
    }
    free(v.text);
}

/* Tells the format of a column: numbers if every cell with a value has a number. */
static enum exp_page_format format_of(const struct exp_page_csv *csv, size_t column)
{
    enum exp_page_format format = EXP_PAGE_TEXT;

    for (size_t r = 0; r < csv->table.n_rows; r++) {
        const char *cell = exp_table_string(&csv->table, r, column);
        double value = exp_page_csv_number(csv, r, csv->table.column[column]);

        if (!isnan(value))
            format = value == floor(value) && format != EXP_PAGE_DECIMAL ? EXP_PAGE_WHOLE : EXP_PAGE_DECIMAL;
        else if (*cell && strncmp(cell, "not available", 13) != 0)
            return EXP_PAGE_TEXT;
    }
    return format;
}

/* Makes fields of all columns: texts first. */
static size_t make_fields(const struct exp_page_csv *csv, struct exp_page_field *field)
{
    size_t n = 0;

    for (int numbers = 0; numbers < 2; numbers++) {
        for (size_t c = 0; c < csv->table.n_columns && n < EXP_PAGE_FIELDS; c++) {
            const enum exp_page_format format = format_of(csv, c);

            if ((format != EXP_PAGE_TEXT) == (numbers != 0))
                field[n++] = (struct exp_page_field){ .column = csv->table.column[c], .format = format };
        }
    }
    return n;
}

static int write_table(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file,
                       struct exp_why *why)
{
    struct exp_page_field field[EXP_PAGE_FIELDS];
    struct exp_page_csv csv;
    int err = exp_page_csv_read(&csv, f->path, file, why);

    if (err)
        return err;
    if (csv.table.n_rows > MOST_ROWS)
        exp_page_say(w, EXP_PAGE_NOTE, "%s has %zu rows: it is in the folder only.", file, csv.table.n_rows);
    else
        exp_page_extract_write(w, &(struct exp_page_extract){ .csv = &csv,
                                                              .caption = file,
                                                              .field = field,
                                                              .n_fields = make_fields(&csv, field),
                                                              .n_rows = csv.table.n_rows,
                                                              .is_long = csv.table.n_rows > 12 });
    exp_page_csv_release(&csv);
    return 0;
}

static int write_tables(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct exp_words files;
    int err = exp_page_files(&files, f->path, ".csv");

    if (err)
        return exp_fail(why, err, "cannot read the folder '%s': %s", f->path, strerror(-err));
    for (size_t i = 0; i < files.n && !err; i++)
        err = write_table(w, f, files.word[i], why);
    exp_words_release(&files);
    return err;
}

/* Writes the question of a verdict, if any, and the first sentence. */
void exp_page_other_begin(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    char answer[640], *verdict = exp_text_of(f->path, "verdict.txt");
    const char *at = verdict;
    char *question = next_sentence(&at);

    if (is_question(question))
        exp_page_say(w, EXP_PAGE_PARAGRAPH, "Asked: %s", question);
    exp_page_found(f, answer, sizeof answer);
    if (*answer)
        exp_page_text(w, EXP_PAGE_ANSWER, answer);
    free(question);
    free(verdict);
}

int exp_page_other_end(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    int err;

    exp_page_folder_figures(w, f, NULL, false);
    write_texts(w, f);
    exp_page_part(w, f, "tables", "Its tables");
    err = write_tables(w, f, why);
    exp_page_close(w);
    exp_page_part(w, f, "origin", "How it was made");
    exp_page_folder_origin(w, f, NULL);
    exp_page_close(w);
    return err;
}

int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    exp_page_other_begin(w, f);
    return exp_page_other_end(w, f, why);
}
