/*
 * The test suites: one per unit, one file each, listed in tests/main_tests.c. A test is a function without arguments
 * that uses CUnit's CU_ASSERT macros; its random numbers (tests/rng.h) start from the printed seed every time.
 */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <stdbool.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct test_case {
    const char *name; /* a sentence that says what holds */
    void (*run)(void);
};

struct test_suite {
    const char *name;
    const struct test_case *cases; /* ends with { NULL, NULL } */
};

/* Tells how many random cases to try: `usual` in `make test`, more with --repeat, fewer (at least one) with --part. */
unsigned test_rounds(unsigned usual);

/* Does the same for a test that fails if its cases are too few to show everything: --part leaves it all of them. */
unsigned test_rounds_all(unsigned usual);

/* Prints "skipped: <why>" for the running test; the test then returns. */
void test_skip(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* Prints what went wrong and records a failure of the running test, when condition is false. Returns condition. */
bool test_check(bool condition, const char *what, ...) __attribute__((format(printf, 2, 3)));

#endif
