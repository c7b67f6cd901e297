/* Commands to Slurm, and Slurm's answers: tests/experiments/slurm.sh runs whole programs. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Makes a squeue in the scratch folder, and puts the folder into PATH. */
static void make_squeue(const char *script)
{
    const char *path = scratch_text("squeue", script);
    char folder[256];

    chmod(path, 0700);
    snprintf(folder, sizeof folder, "%.*s:/usr/bin:/bin", (int)(strrchr(path, '/') - path), path);
    setenv("PATH", folder, 1);
}

static const struct {
    const char *script; /* of squeue */
    double patience_s;
    int err;
    size_t n_left; /* of 3 before */
    const char *note, *why;
} answers[] = {
    { "#!/bin/sh\necho 7_1; echo 7_2\n", 60, 0, 2, "", "" },
    { "#!/bin/sh\n", 60, 0, 0, "", "" },
    { "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n", 60, 0, 0, "", "" },
    { "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n", 120, 0, 3,
      "squeue does not answer (Unable to contact slurm controller); it is asked again for 2 minutes", "" },
    { "#!/bin/sh\necho 7_1; exit 1\n", 60, 0, 3, "squeue does not answer", "" },
    { "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n", 0, -EIO, 3, "squeue does not answer",
      "Unable to contact slurm controller; job 7 may go on" },
};

static void a_silent_squeue_is_not_the_end(void)
{
    char *before = strdup(getenv("PATH")), note[256];

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct exp_slurm_job job = { .id = "7", .n_left = 3, .patience_s = answers[i].patience_s };
        size_t n_left = 99;

        make_squeue(answers[i].script);
        why.text[0] = '\0';
        test_check(exp_slurm_job_ask(&job, &n_left, note, sizeof note, &why) == answers[i].err, "%zu: another status",
                   i);
        test_check(n_left == answers[i].n_left, "%zu: %zu jobs are left", i, n_left);
        test_check(!strncmp(note, answers[i].note, strlen(answers[i].note)), "%zu: says '%s'", i, note);
        test_check(strstr(why.text, answers[i].why) != NULL, "%zu: because of '%s'", i, why.text);
        scratch_clear();
    }
    setenv("PATH", before, 1);
    free(before);
}

static void an_answer_ends_the_silence(void)
{
    struct exp_slurm_job job = { .id = "7", .n_left = 3, .patience_s = 60 };
    char *before = strdup(getenv("PATH")), note[256];
    size_t n_left;

    make_squeue("#!/bin/sh\nexit 1\n");
    CU_ASSERT_EQUAL(exp_slurm_job_ask(&job, &n_left, note, sizeof note, &why), 0);
    CU_ASSERT_EQUAL(exp_slurm_job_ask(&job, &n_left, note, sizeof note, &why), 0);
    CU_ASSERT_STRING_EQUAL(note, "");
    make_squeue("#!/bin/sh\necho 7\n");
    CU_ASSERT_EQUAL(exp_slurm_job_ask(&job, &n_left, note, sizeof note, &why), 0);
    CU_ASSERT_STRING_EQUAL(note, "squeue answers again");
    CU_ASSERT_EQUAL(n_left, 1);
    setenv("PATH", before, 1);
    free(before);
}

static void wrong_requests_are_refused(void)
{
    struct exp_slurm_request request = { .name = "sweep", .needs = "", .words = "--comment='open" };
    struct exp_slurm_job job;

    CU_ASSERT_EQUAL(exp_slurm_job_prepare(&job, &request, scratch_path("s.sqlite"), &why), -EINVAL);
    CU_ASSERT(strstr(why.text, "SLURM: a quote is not closed: '--comment='open'") != NULL);
    request.words = "";
    CU_ASSERT_EQUAL(exp_slurm_job_prepare(&job, &request, scratch_path("a\\b.sqlite"), &why), -EINVAL);
    CU_ASSERT(strstr(why.text, "cannot have a backslash") != NULL);
}

static const struct test_case cases[] = {
    { "words are split as a shell does", words_are_split_as_a_shell_does },
    { "commas of paths are written twice", commas_of_paths_are_written_twice },
    { "a silent squeue is not the end", a_silent_squeue_is_not_the_end },
    { "an answer ends the silence", an_answer_ends_the_silence },
    { "wrong requests are refused", wrong_requests_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_slurm = { "slurm", cases };
