/* Commands to Slurm, and Slurm's answers: tests/experiments/slurm.sh runs whole programs. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/base/slurm.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static struct exp_why why;

static const struct {
    const char *text;
    int err;
    const char *words[5];
} splits[] = {
    { "", 0, { NULL } },
    { "  \t", 0, { NULL } },
    { "--partition=long --time=60", 0, { "--partition=long", "--time=60" } },
    { " a\tb \n", 0, { "a", "b" } },
    { "--comment='two words' x", 0, { "--comment=two words", "x" } },
    { "\"a 'b' \\\"c\\\"\" ''", 0, { "a 'b' \"c\"", "" } },
    { "it\\'s a\\ b", 0, { "it's", "a b" } },
    { "$HOME; `id` $(id) * > x|y", 0, { "$HOME;", "`id`", "$(id)", "*", ">" } },
    { "'\\'", 0, { "\\" } },
    { "a\\", 0, { "a\\" } },
    { "it's", -EINVAL, { NULL } },
    { "a \"b", -EINVAL, { "a" } },
};

static void words_are_split_as_a_shell_does(void)
{
    for (size_t i = 0; i < COUNT(splits); i++) {
        struct exp_words w = { 0 };
        size_t n = 0;

        test_check(exp_words_split(&w, splits[i].text) == splits[i].err, "'%s': an error", splits[i].text);
        for (; n < 5 && splits[i].words[n]; n++)
            test_check(n < w.n && !strcmp(w.word[n], splits[i].words[n]), "'%s': word %zu is not '%s'", splits[i].text,
                       n, splits[i].words[n]);
        test_check(n == 5 || w.n == n, "'%s': %zu words", splits[i].text, w.n);
        test_check(!w.n || !w.word[w.n], "'%s': no end", splits[i].text);
        exp_words_release(&w);
    }
}

/* QEMU splits an option at single commas. */
static void commas_of_paths_are_written_twice(void)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_option_print(out, "", "/a b,c/o.so");
    exp_option_print(out, ",out=", ",/x,");
    fclose(out);
    test_check(!strcmp(text, "/a b,,c/o.so,out=,,/x,,"), "'%s'", text);
    free(text);
}

static void wrong_requests_are_refused(void)
{
    char name[] = "sweep", *const argv[] = { name, NULL };
    struct exp_slurm s = {
        .argv = argv, .name = "sweep", .needs = "", .words = "--comment='open", .known = "", .n_shares = 2
    };

    s.part = scratch_path("parts-");
    CU_ASSERT_EQUAL(exp_slurm_run(&s, &why), -EINVAL);
    CU_ASSERT(strstr(why.text, "SLURM: a quote is not closed: '--comment='open'") != NULL);
    s.words = "";
    s.part = scratch_path("a\\b-");
    CU_ASSERT_EQUAL(exp_slurm_run(&s, &why), -EINVAL);
    CU_ASSERT(strstr(why.text, "Slurm's logs cannot be called") != NULL);
    scratch_clear();
}

static const struct test_case cases[] = {
    { "words are split as a shell does", words_are_split_as_a_shell_does },
    { "commas of paths are written twice", commas_of_paths_are_written_twice },
    { "wrong requests are refused", wrong_requests_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_slurm = { "slurm", cases };
