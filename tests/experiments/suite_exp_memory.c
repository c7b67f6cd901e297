/* Memory: either there is enough, or the program ends. */
#include "experiments/base/error.h"
#include "experiments/base/text.h"
#include "experiments/base/program.h"

#include <CUnit/CUnit.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/failing_alloc.h"
#include "tests/suites.h"

static void test_text(void)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_STRING_EQUAL(text, "");
    fprintf(out, "%d of ", 3);
    CU_ASSERT_EQUAL(fflush(out), 0);
    CU_ASSERT_STRING_EQUAL(text, "3 of ");
    for (int i = 0; i < 20000; i++)
        fputs("words", out);
    CU_ASSERT_EQUAL(fclose(out), 0);
    CU_ASSERT_EQUAL(bytes, 100005);
    CU_ASSERT_EQUAL(strlen(text), bytes);
    CU_ASSERT(!strncmp(text, "3 of wordswords", 15) && !strcmp(text + bytes - 10, "wordswords"));
    free(text);
}

/* Puts a piece and flushes. */
static void put(FILE *out, char piece)
{
    for (int i = 0; i < 500; i++)
        fputc(piece, out);
    fflush(out);
}

/* Makes one of everything: in a child, where memory ends. */
static void use_memory(void *nothing)
{
    char *text, *made = exp_format("%d", 3), *copy = exp_copy_text(made);
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    (void)nothing;
    put(out, 'a');
    fclose(out);
    free(text);
    free(copy);
    free(made);
    free(exp_new(3, 5));
}

/* However much memory there is, the program gets all requested memory, or ends. */
static void test_memory(void)
{
    size_t after = 0;

    while (failing_alloc_ends(after, use_memory, NULL))
        after++;
    CU_ASSERT(after >= 4);
}

static void too_much(void *nothing)
{
    (void)nothing;
    exp_resize(NULL, SIZE_MAX / 4, 8);
}

static void test_overflow(void)
{
    CU_ASSERT(failing_alloc_ends(0, too_much, NULL));
}

static void say_undone(void *fd)
{
    CU_ASSERT_EQUAL(write(*(int *)fd, "u", 1), 1);
}

static int run_out(void *nothing)
{
    (void)nothing;
    exp_new(1, 1);
    return 0;
}

static void within_guards(void *fd)
{
    struct exp_guard whole = { .undo = say_undone, .ctx = fd }, begun = { .undo = say_undone, .ctx = fd };

    exp_guard_begin(&whole, NULL, NULL);
    exp_guard_begin(&begun, run_out, NULL);
}

/* Guarded files are cleared away, also while another guard begins. */
static void test_guards(void)
{
    char undone[8];
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT(failing_alloc_ends(0, within_guards, &ends[1]));
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], undone, sizeof undone), 1);
    close(ends[0]);
}

static void test_append(void)
{
    size_t *number = NULL, n = 0;

    for (size_t i = 0; i < 1000; i++) {
        size_t *next = exp_append(&number, &n, sizeof *number);

        CU_ASSERT(n == i + 1 && next == &number[i] && !*next);
        *next = i;
    }
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(number[i], i);
    free(number);
}

/* A missing file is an empty text. */
static void test_file(void)
{
    char *text = exp_text_of("/nowhere", "at-all");

    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
}

static void test_line(void)
{
    static const char text[] = "\nlimit: 3\n\n limit: 4\nfit: x\nlimit: 5";

    CU_ASSERT_STRING_EQUAL(exp_text_after(text, "limit: "), text + strlen("\nlimit: "));
    CU_ASSERT_STRING_EQUAL(exp_text_after(text, "fit: "), "x\nlimit: 5");
    CU_ASSERT_PTR_NULL(exp_text_after(text, "mit: "));
    CU_ASSERT_PTR_NULL(exp_text_after("", "limit: "));
}

static const struct test_case cases[] = {
    { "a text grows, and ends where it does", test_text }, { "memory that ends ends the program", test_memory },
    { "so does more of it than can be", test_overflow },   { "what is half made goes then", test_guards },
    { "an array grows by what is appended", test_append }, { "a file that is not there is no text", test_file },
    { "a line is found by how it begins", test_line },     { NULL, NULL },
};

const struct test_suite suite_exp_memory = { "exp_memory", cases };
