/* Messages: always one line, cut in the middle, and appended to the text before. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "experiments/base/error.h"
#include "tests/suites.h"

static void test_fail(void)
{
    struct exp_why why = { "old" };

    CU_ASSERT_EQUAL(exp_fail(&why, -EINVAL, "line %d: '%s'", 3, "a\nb\tc"), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why.text, "line 3: 'a b c'");
    CU_ASSERT_EQUAL(exp_fail(NULL, -ENOMEM, "nobody asks"), -ENOMEM);
}

static void test_more(void)
{
    char text[64] = "";

    exp_say(text, sizeof text, "known:");
    exp_say_more(text, sizeof text, " %s", "base");
    exp_say_more(text, sizeof text, ", %s", "go\nto");
    CU_ASSERT_STRING_EQUAL(text, "known: base, go to");
    exp_say(text, sizeof text, "%s", "again");
    CU_ASSERT_STRING_EQUAL(text, "again");
    exp_say_more(NULL, 0, "nobody asks");
}

/* However small the buffer is, the text ends in the buffer. */
static void test_cut(void)
{
    char text[41];

    for (size_t bytes = 1; bytes <= sizeof text; bytes++) {
        memset(text, 'x', sizeof text);
        exp_say(text, bytes, "%s", "begins with 0123456789012345678901234567890123456789 and ends");
        test_check(strlen(text) == bytes - 1, "%zu bytes hold '%s'", bytes, text);
        exp_say_more(text, bytes, "%s", "no room");
        test_check(strlen(text) == bytes - 1, "%zu bytes hold '%s'", bytes, text);
    }
    CU_ASSERT_STRING_EQUAL(text, "begins with 012345 ... 23456789 and ends");
}

static const struct test_case cases[] = {
    { "a failure is one line and returns its code", test_fail },
    { "a text is put, and more of it appended", test_more },
    { "a text that does not fit loses its middle", test_cut },
    { NULL, NULL },
};

const struct test_suite suite_exp_error = { "exp_error", cases };
