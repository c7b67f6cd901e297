/* Tests that hang and crash on purpose: tests/suites.sh checks that they fail, and are named. */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tests/suites.h"

static void passes(void)
{
}

static void hangs(void)
{
    for (;;)
        pause();
}

static void crashes(void)
{
    raise(SIGSEGV);
}

static const struct test_case hanging[] = { { "this one ends", passes }, { "this one hangs", hangs }, { NULL, NULL } };
static const struct test_case crashing[] = { { "this one ends", passes },
                                             { "this one crashes", crashes },
                                             { NULL, NULL } };

const struct test_suite suite_hangs = { "hangs", hanging };
const struct test_suite suite_crashes = { "crashes", crashing };
