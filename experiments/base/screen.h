/*
 * The answer of a question on one screen: a title, a headline in whole sentences, labelled notes, a table of at most 12
 * rows, the place of the results, and the next commands to type.
 *
 *     vgg16, 13 convolutions, on this computer
 *
 *     SConv is 1.25 times as fast as im2col + OpenBLAS.
 *     why      Base spends 23 % of its time on im2col and packing, SConv 5 %.
 *
 *     layer       Base ms   SConv   saves ms
 *     conv1_2        63.7   1.60x       24.0
 *
 *     open     results/host/vgg16/report.html
 *     next     make plugin NAME=mine    a kernel of your own beside these
 *
 * A question fills the struct, and the course prints the struct (MORE=1: the whole output instead). Texts are copied,
 * cleaned of control characters, and cut where the screen ends: at EXP_SCREEN_LINES lines of EXP_SCREEN_COLUMNS columns.
 */
#ifndef EXPERIMENTS_BASE_SCREEN_H
#define EXPERIMENTS_BASE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXP_SCREEN_LINES = 25, EXP_SCREEN_COLUMNS = 100, EXP_SCREEN_ROWS = 12, EXP_SCREEN_CELLS = 10 };

/* The meaning of a text, shown by its colour where the terminal has colours. */
enum exp_tone { EXP_PLAIN, EXP_GOOD, EXP_BAD, EXP_STRONG };

struct exp_screen_line {
    char *label; /* "" for a headline */
    char *text;
    enum exp_tone tone;
};

struct exp_screen_cell {
    char *text;
    enum exp_tone tone;
};

struct exp_screen_row {
    size_t n;
    struct exp_screen_cell cell[EXP_SCREEN_CELLS];
};

struct exp_screen {
    char *title;
    struct exp_screen_line *line; /* headlines and notes, in their order */
    size_t n_lines;
    struct exp_screen_row *row; /* the first row is the table's head */
    size_t n_rows;
    char *block;                 /* lines that the user asked for, in place of the table; NULL */
    bool is_brief;               /* one of several answers: title, headlines and place are printed alone */
    struct exp_screen_line *end; /* where the results are, and the next commands */
    size_t n_ends;
};

void exp_screen_title(struct exp_screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a headline: whole sentences. The first headline is the answer. */
void exp_screen_say(struct exp_screen *s, enum exp_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a note behind a label of at most 8 letters: "why", "trust". An empty text adds nothing. */
void exp_screen_note(struct exp_screen *s, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Begins a row of the table with its first cell, which is aligned to the left; further cells are aligned to the right.
 * The first row is the head. Rows beyond the screen are counted in a last line.
 */
void exp_screen_row(struct exp_screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void exp_screen_cell(struct exp_screen *s, enum exp_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the digits behind the point that show a number, which is not below 0, with three digits. */
int exp_screen_digits(double x);

/* Adds a cell with a number of three digits; "-" for NaN. */
void exp_screen_number(struct exp_screen *s, enum exp_tone tone, double x);

/* Replaces the table by lines of any number, from malloc, which the screen owns. */
void exp_screen_block(struct exp_screen *s, char *lines);

/* Adds a line of the end: the page or folder of the results, or a command and its purpose. A long command is alone. */
void exp_screen_open(struct exp_screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void exp_screen_next(struct exp_screen *s, const char *command, const char *purpose);

/* The place where a screen is printed. */
struct exp_terminal {
    size_t columns; /* at most EXP_SCREEN_COLUMNS are used */
    bool has_colours;
};

/* Describes a stream: 100 columns without colours for a file or pipe; NO_COLOR and TERM=dumb are heeded. */
struct exp_terminal exp_terminal_of(FILE *out);

void exp_screen_print(const struct exp_screen *s, const struct exp_terminal *terminal, FILE *out);

void exp_screen_release(struct exp_screen *s); /* leaves { 0 } */

#endif
