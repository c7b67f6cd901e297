/*
 * The test suites: one per unit, one file each, listed in tests/main_tests.c. A test is a function without arguments
 * that uses CUnit's CU_ASSERT macros; a test's random numbers (tests/rng.h) start from the printed seed every time.
 */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <stdbool.h>

#ifndef __has_feature
#define __has_feature(feature) 0 /* gcc */
#endif
#if __has_feature(memory_sanitizer)
#define TEST_FROM_LIBRARY __attribute__((no_sanitize("memory"))) /* of functions: arguments come from the C library */
#else
#define TEST_FROM_LIBRARY
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(memory_sanitizer)
#define TEST_IS_SLOWED /* sanitized loops are slower, some more than others */
#endif

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct test_case {
    const char *name; /* a sentence: the claim that the test checks */
    void (*run)(void);
};

struct test_suite {
    const char *name;
    const struct test_case *cases; /* ends with { NULL, NULL } */
};

/*
 * Returns the number of random cases to try: `usual` in `make test`, more with --repeat, fewer (at least one) with
 * --part.
 */
unsigned test_rounds(unsigned usual);

/* The number of cases for a test that needs all cases to show everything: --part does not reduce them. */
unsigned test_rounds_all(unsigned usual);

/* Prints "skipped: <why>" for the running test; the test then returns. */
void test_skip(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* If condition is false, prints the message and records a failure of the running test. Returns condition. */
bool test_check(bool condition, const char *what, ...) __attribute__((format(printf, 2, 3)));

#endif
