/* Texts in memory: whole, or known not to be. */
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_text.h"

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* Memory that was short for a while lost a piece, though what follows it could be written. */
static void test_memory(void)
{
    size_t n_refused = 1;

    for (size_t after = 0; n_refused; after++) {
        char *text;
        size_t bytes;
        bool is_told;
        FILE *out;

        failing_alloc_after(after);
        out = exp_memory_open(&text, &bytes);
        if (out) {
            put(out, 'a');
            put(out, 'b');
        }
        n_refused = failing_alloc_stop();
        if (out)
            put(out, 'c');
        is_told = !out || ferror(out);
        CU_ASSERT_EQUAL(is_told, n_refused > 0);
        CU_ASSERT(!out || (fclose(out) != 0) == (n_refused > 0));
        CU_ASSERT(n_refused || bytes == 1500);
        free(text);
    }
}

/* A file that is not there is an empty text; one that memory has no room for is none. */
static void test_file(void)
{
    char *text = exp_text_of("/nowhere", "at-all");

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
    failing_alloc_after(0);
    text = exp_text_of("/nowhere", "at-all");
    CU_ASSERT(failing_alloc_stop() && !text);
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
    { "a text grows, and ends where it does", test_text },
    { "a text that lost a piece says so", test_memory },
    { "a file that is not there is no text", test_file },
    { "a line is found by how it begins", test_line },
    { NULL, NULL },
};

const struct test_suite suite_exp_memory = { "exp_memory", cases };
