/* The screen of an answer: what fits, what is cut, and colours. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/screen.h"
#include "tests/rng.h"
#include "tests/suites.h"

static char *printed(const struct exp_screen *s, size_t columns, bool has_colours)
{
    const struct exp_terminal terminal = { columns, has_colours };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_screen_print(s, &terminal, out);
    fclose(out);
    return text;
}

static void is_printed(const struct exp_screen *s, size_t columns, bool has_colours, const char *wanted)
{
    char *text = printed(s, columns, has_colours);

    test_check(!strcmp(text, wanted), "the screen is\n%s\nand not\n%s", text, wanted);
    free(text);
}

static void fill(struct exp_screen *s)
{
    exp_screen_title(s, "%s, 2 convolutions", "toy");
    exp_screen_say(s, EXP_STRONG, "Mine is 1.25 times as fast as yours.");
    exp_screen_note(s, "why", "it packs %d %% less", 30);
    exp_screen_note(s, "empty", "%s", "");
    exp_screen_row(s, "layer");
    exp_screen_cell(s, EXP_PLAIN, "ms");
    exp_screen_cell(s, EXP_PLAIN, "mine");
    exp_screen_row(s, "conv1");
    exp_screen_cell(s, EXP_PLAIN, "%.1f", 12.5);
    exp_screen_cell(s, EXP_GOOD, "1.50x");
    exp_screen_row(s, "conv_of_a_long_name");
    exp_screen_cell(s, EXP_PLAIN, "%.1f", 1.5);
    exp_screen_cell(s, EXP_BAD, "0.90x");
    exp_screen_open(s, "results/toy/report.html");
}

static void test_parts(void)
{
    struct exp_screen s = { 0 };

    fill(&s);
    is_printed(&s, 100, false,
               "toy, 2 convolutions\n"
               "\n"
               "Mine is 1.25 times as fast as yours.\n"
               "why      it packs 30 % less\n"
               "\n"
               "layer                   ms    mine\n"
               "conv1                 12.5   1.50x\n"
               "conv_of_a_long_name    1.5   0.90x\n"
               "\n"
               "open     results/toy/report.html\n");
    s.is_brief = true;
    is_printed(&s, 100, false,
               "toy, 2 convolutions\nMine is 1.25 times as fast as yours.\nopen     results/toy/report.html\n\n");
    exp_screen_release(&s);
    CU_ASSERT_PTR_NULL(s.title);
    is_printed(&s, 100, false, "");
}

static void test_colours(void)
{
    struct exp_screen s = { 0 };

    exp_screen_say(&s, EXP_STRONG, "Yes.");
    exp_screen_row(&s, "layer");
    exp_screen_cell(&s, EXP_PLAIN, "x");
    exp_screen_row(&s, "a");
    exp_screen_cell(&s, EXP_GOOD, "2");
    exp_screen_row(&s, "b");
    exp_screen_cell(&s, EXP_BAD, "0.5");
    is_printed(&s, 100, true,
               "\033[1mYes.\033[0m\n\nlayer     x\na         \033[32m2\033[0m\nb       \033[31m0.5\033[0m\n");
    exp_screen_release(&s);
}

/* A text that the user gave may hold anything; a line break in the text must not break the screen. */
static void test_foreign_text(void)
{
    struct exp_screen s = { 0 };

    exp_screen_title(&s, "a\nb\033[2Jc");
    exp_screen_row(&s, "%s", "\xff\xc3\xa4");
    is_printed(&s, 100, false, "a b [2Jc\n\n\n?\xc3\xa4\n");
    exp_screen_release(&s);
}

/* A narrow terminal gets shorter names first, and then fewer columns. */
static void test_narrow(void)
{
    struct exp_screen s = { 0 };

    exp_screen_row(&s, "a_name_of_thirty_characters_here");
    for (int i = 0; i < 4; i++)
        exp_screen_cell(&s, EXP_PLAIN, "column%d", i);
    is_printed(&s, 60, false, "\na_name_of_thirty_cha   column0   column1   column2   column3\n");
    is_printed(&s, 40, false, "\na_name_of_th   column0   column1\n");
    exp_screen_release(&s);
}

static char *random_text(char *text, size_t most)
{
    const size_t n = rng_below(most);

    for (size_t i = 0; i < n; i++)
        text[i] = rng_below(6) ? (char)('a' + rng_below(26)) : ' ';
    text[n] = '\0';
    return text;
}

/* Whatever a question fills in, the screen keeps its size, except a path, which stays whole to be copied. */
static void test_size(void)
{
    char text[200];

    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct exp_screen s = { 0 };
        const size_t columns = 40 + rng_below(61);
        size_t n_lines = 0, widest = 0;
        char *screen;

        exp_screen_title(&s, "%.*s", (int)columns, random_text(text, 40));
        exp_screen_say(&s, EXP_STRONG, "x%s", random_text(text, 100));
        for (size_t n = rng_below(4); n; n--)
            exp_screen_note(&s, "why", "%s", random_text(text, 100));
        for (size_t n = rng_below(40); n; n--) {
            exp_screen_row(&s, "%s", random_text(text, 60));
            for (size_t c = rng_below(12); c; c--)
                exp_screen_cell(&s, EXP_GOOD, "%s", random_text(text, 12));
        }
        exp_screen_open(&s, "%s", random_text(text, 30));
        exp_screen_next(&s, "make", "more");
        screen = printed(&s, columns, false);
        for (char *at = screen, *end; (end = strchr(at, '\n')); at = end + 1, n_lines++)
            widest = strncmp(at, "open ", 5) != 0 && (size_t)(end - at) > widest ? (size_t)(end - at) : widest;
        test_check(n_lines <= EXP_SCREEN_LINES && widest <= columns, "%zu lines of %zu columns, not %zu:\n%s", n_lines,
                   widest, columns, screen);
        free(screen);
        exp_screen_release(&s);
    }
}

static void test_rows_are_counted(void)
{
    struct exp_screen s = { 0 };
    char *text;

    for (int i = 0; i < 30; i++)
        exp_screen_row(&s, "row%d", i);
    text = printed(&s, 100, false);
    test_check(strstr(text, "row11\n... and 18 more rows, in the tables\n") != NULL, "%s", text);
    free(text);
    exp_screen_release(&s);
}

static const struct test_case cases[] = {
    { "a screen has its parts, and empty notes are left out", test_parts },
    { "colours show what is good and bad", test_colours },
    { "a foreign text stays one line", test_foreign_text },
    { "a narrow terminal gets shorter names, then fewer columns", test_narrow },
    { "a screen keeps its size", test_size },
    { "rows that do not fit are counted", test_rows_are_counted },
    { NULL, NULL },
};

const struct test_suite suite_screen = { "screen", cases };
