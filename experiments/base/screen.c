#include "experiments/base/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "experiments/base/error.h"
#include "experiments/base/text.h"

enum { LABEL = 9, LEAST_COLUMNS = 40, LEAST_NAME = 12, BETWEEN = 3, COMMAND = 57 };

/* ---- filling ---- */

#define TEXT_OF(format, text)                                                                                          \
    do {                                                                                                               \
        va_list args;                                                                                                  \
        va_start(args, format);                                                                                        \
        (text) = exp_format_list(format, args);                                                                        \
        va_end(args);                                                                                                  \
        exp_text_clean(text);                                                                                          \
    } while (0)

void exp_screen_title(struct exp_screen *s, const char *format, ...)
{
    free(s->title);
    TEXT_OF(format, s->title);
}

/* Adds a line that owns the text. An empty text adds nothing. */
static void add(struct exp_screen_line **lines, size_t *n, const char *label, char *text, enum exp_tone tone)
{
    struct exp_screen_line *l;

    if (!*text) {
        free(text);
        return;
    }
    l = exp_append(lines, n, sizeof *l);
    *l = (struct exp_screen_line){ .label = exp_copy_text(label), .text = text, .tone = tone };
}

void exp_screen_say(struct exp_screen *s, enum exp_tone tone, const char *format, ...)
{
    char *text;

    TEXT_OF(format, text);
    add(&s->line, &s->n_lines, "", text, tone);
}

void exp_screen_note(struct exp_screen *s, const char *label, const char *format, ...)
{
    char *text;

    TEXT_OF(format, text);
    add(&s->line, &s->n_lines, label, text, EXP_PLAIN);
}

void exp_screen_row(struct exp_screen *s, const char *format, ...)
{
    struct exp_screen_row *row = exp_append(&s->row, &s->n_rows, sizeof *row);

    TEXT_OF(format, row->cell[0].text);
    row->n = 1;
}

void exp_screen_cell(struct exp_screen *s, enum exp_tone tone, const char *format, ...)
{
    struct exp_screen_row *row = &s->row[s->n_rows - 1];

    if (row->n == EXP_SCREEN_CELLS)
        return;
    TEXT_OF(format, row->cell[row->n].text);
    row->cell[row->n++].tone = tone;
}

int exp_screen_digits(double x)
{
    return x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.9995 ? 2 : 3;
}

void exp_screen_number(struct exp_screen *s, enum exp_tone tone, double x)
{
    if (isnan(x))
        exp_screen_cell(s, EXP_PLAIN, "-");
    else if (fabs(x) < 0.0005)
        exp_screen_cell(s, EXP_PLAIN, "0");
    else
        exp_screen_cell(s, tone, "%.*f", exp_screen_digits(fabs(x)), x);
}

void exp_screen_block(struct exp_screen *s, char *lines)
{
    free(s->block);
    s->block = lines;
}

void exp_screen_open(struct exp_screen *s, const char *format, ...)
{
    char *text;

    TEXT_OF(format, text);
    add(&s->end, &s->n_ends, "open", text, EXP_PLAIN);
}

void exp_screen_next(struct exp_screen *s, const char *command, const char *purpose)
{
    char *text = strlen(command) > COMMAND ? exp_copy_text(command) : exp_format("%-*s %s", COMMAND, command, purpose);

    exp_text_clean(text);
    add(&s->end, &s->n_ends, s->n_ends && strcmp(s->end[s->n_ends - 1].label, "open") != 0 ? " " : "next", text,
        EXP_PLAIN);
}

/* ---- the terminal ---- */

struct exp_terminal exp_terminal_of(FILE *out)
{
    struct exp_terminal t = { .columns = EXP_SCREEN_COLUMNS };
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    struct winsize size;

    if (!isatty(fileno(out)))
        return t;
    t.has_colours = !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
    if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col && size.ws_col < t.columns)
        t.columns = size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
    return t;
}

/* ---- printing ---- */

struct printer {
    const struct exp_terminal *terminal;
    FILE *out;
};

/* Returns the number of characters of a UTF-8 text. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (const char *at = text; *at; at++)
        n += ((unsigned char)*at & 0xc0) != 0x80;
    return n;
}

/* Returns the number of bytes of the first `width` characters. */
static size_t bytes_of(const char *text, size_t width)
{
    const char *at = text;

    while (*at && width) {
        do
            at++;
        while (((unsigned char)*at & 0xc0) == 0x80);
        width--;
    }
    return (size_t)(at - text);
}

static void begin_tone(const struct printer *p, enum exp_tone tone)
{
    static const char *const codes[] = { [EXP_GOOD] = "\033[32m", [EXP_BAD] = "\033[31m", [EXP_STRONG] = "\033[1m" };

    if (p->terminal->has_colours && tone != EXP_PLAIN)
        fputs(codes[tone], p->out);
}

static void end_tone(const struct printer *p, enum exp_tone tone)
{
    if (p->terminal->has_colours && tone != EXP_PLAIN)
        fputs("\033[0m", p->out);
}

/* Returns the bytes of a text that fit into a line: whole words, or a part of a word that is longer than the line. */
static size_t fitting(const char *text, size_t columns)
{
    const size_t most = bytes_of(text, columns);
    size_t end = most;

    if (!text[most])
        return most;
    while (end && text[end] != ' ')
        end--;
    return end ? end : most;
}

/* Prints a text in lines of the terminal's width, behind an indent from the second line on. Returns the lines. */
static size_t print_wrapped(const struct printer *p, const char *text, size_t indent, enum exp_tone tone)
{
    const size_t columns = p->terminal->columns - indent;
    size_t n = 0;

    for (const char *at = text; *at || !n; n++) {
        const size_t bytes = fitting(at, columns);

        if (p->out) {
            fprintf(p->out, "%*s", n ? (int)indent : 0, "");
            begin_tone(p, tone);
            fwrite(at, 1, bytes, p->out);
            end_tone(p, tone);
            fputc('\n', p->out);
        }
        at += bytes;
        at += strspn(at, " ");
    }
    return n;
}

/* Shortens runs of blanks to two blanks, in place: a narrow terminal has no columns of commands and purposes. */
static void close_up(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (*at != ' ' || to < text + 2 || to[-1] != ' ' || to[-2] != ' ')
            *to++ = *at;
    }
    *to = '\0';
}

/* Prints a line on a narrow terminal; returns as print_wrapped. */
static size_t print_narrow(const struct printer *p, const struct exp_screen_line *l)
{
    char *text = exp_copy_text(l->text);
    size_t n;

    close_up(text);
    n = print_wrapped(p, text, LABEL, l->tone);
    free(text);
    return n;
}

/* Prints a line with its label; returns the number of printed lines. A printer without a stream only counts. */
static size_t print_line(const struct printer *p, const struct exp_screen_line *l)
{
    if (!*l->label)
        return print_wrapped(p, l->text, 0, l->tone);
    if (p->out)
        fprintf(p->out, "%-*s", LABEL, l->label);
    if (!strcmp(l->label, "open")) { /* a path stays whole, for copying */
        if (p->out)
            fprintf(p->out, "%s\n", l->text);
        return 1;
    }
    return p->terminal->columns < EXP_SCREEN_COLUMNS ? print_narrow(p, l) : print_wrapped(p, l->text, LABEL, l->tone);
}

static size_t count_lines(const struct exp_terminal *terminal, const struct exp_screen_line *l, size_t n)
{
    const struct printer counter = { .terminal = terminal };
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += print_line(&counter, &l[i]);
    return sum;
}

/* ---- the table ---- */

struct columns {
    size_t n, width[EXP_SCREEN_CELLS];
};

/* Gives each column the width of its widest cell. Columns beyond the terminal are left out, the last ones first. */
static struct columns columns_of(const struct exp_screen *s, const struct exp_terminal *terminal)
{
    struct columns c = { 0 };
    size_t sum = 0, others = 0;

    for (size_t r = 0; r < s->n_rows; r++) {
        for (size_t i = 0; i < s->row[r].n; i++) {
            const size_t width = width_of(s->row[r].cell[i].text);

            c.n = i + 1 > c.n ? i + 1 : c.n;
            c.width[i] = width > c.width[i] ? width : c.width[i];
        }
    }
    for (size_t i = 1; i < c.n; i++)
        others += c.width[i] + BETWEEN;
    if (c.width[0] + others > terminal->columns)
        c.width[0] = terminal->columns > others + LEAST_NAME
                         ? terminal->columns - others
                         : (c.width[0] < LEAST_NAME ? c.width[0] : (size_t)LEAST_NAME);
    sum = c.width[0];
    for (size_t i = 1; i < c.n; i++) {
        sum += c.width[i] + BETWEEN;
        if (sum > terminal->columns)
            c.n = i;
    }
    return c;
}

static void print_row(const struct printer *p, const struct columns *c, const struct exp_screen_row *row)
{
    for (size_t i = 0; i < c->n && i < row->n; i++) {
        const struct exp_screen_cell *cell = &row->cell[i];
        const size_t width = width_of(cell->text), shown = width < c->width[i] ? width : c->width[i];
        const int pad = (int)(c->width[i] - shown);

        fprintf(p->out, "%*s", i ? BETWEEN + pad : 0, "");
        begin_tone(p, cell->tone);
        fwrite(cell->text, 1, bytes_of(cell->text, shown), p->out);
        end_tone(p, cell->tone);
        if (!i && row->n > 1)
            fprintf(p->out, "%*s", pad, "");
    }
    fputc('\n', p->out);
}

/* Prints the table in at most `lines` lines, head and the count of rows that are left out included. */
static void print_table(const struct printer *p, const struct exp_screen *s, size_t lines)
{
    const struct columns c = columns_of(s, p->terminal);
    size_t n = s->n_rows, most = 1 + EXP_SCREEN_ROWS;

    if (!n || lines < 3)
        return;
    most = most < lines - 1 ? most : lines - 1;
    fputc('\n', p->out);
    if (n > most)
        n = most - 1;
    for (size_t r = 0; r < n; r++)
        print_row(p, &c, &s->row[r]);
    if (n < s->n_rows)
        fprintf(p->out, "... and %zu more rows, in the tables\n", s->n_rows - n);
}

/* Prints one of several answers, without notes and table. */
static void print_brief(const struct printer *p, const struct exp_screen *s)
{
    if (s->title)
        print_wrapped(p, s->title, 0, EXP_PLAIN);
    for (size_t i = 0; i < s->n_lines; i++) {
        if (!*s->line[i].label && s->line[i].tone == EXP_STRONG)
            print_line(p, &s->line[i]);
    }
    for (size_t i = 0; i < s->n_ends; i++)
        print_line(p, &s->end[i]);
    fputc('\n', p->out);
}

void exp_screen_print(const struct exp_screen *s, const struct exp_terminal *terminal, FILE *out)
{
    const struct printer p = { terminal, out };
    const size_t used =
        (s->title ? 2 : 0) + count_lines(terminal, s->line, s->n_lines) + 1 + count_lines(terminal, s->end, s->n_ends);

    if (s->is_brief) {
        print_brief(&p, s);
        return;
    }
    if (s->title) {
        print_wrapped(&p, s->title, 0, EXP_PLAIN);
        fputc('\n', out);
    }
    for (size_t i = 0; i < s->n_lines; i++)
        print_line(&p, &s->line[i]);
    if (s->block)
        fprintf(out, "\n%s", s->block);
    else
        print_table(&p, s, used < EXP_SCREEN_LINES ? EXP_SCREEN_LINES - used : 0);
    if (s->n_ends)
        fputc('\n', out);
    for (size_t i = 0; i < s->n_ends; i++)
        print_line(&p, &s->end[i]);
}

/* ---- the end ---- */

static void release_lines(struct exp_screen_line *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(l[i].label);
        free(l[i].text);
    }
    free(l);
}

void exp_screen_release(struct exp_screen *s)
{
    for (size_t r = 0; r < s->n_rows; r++) {
        for (size_t i = 0; i < s->row[r].n; i++)
            free(s->row[r].cell[i].text);
    }
    free(s->row);
    release_lines(s->line, s->n_lines);
    release_lines(s->end, s->n_ends);
    free(s->title);
    free(s->block);
    *s = (struct exp_screen){ 0 };
}
