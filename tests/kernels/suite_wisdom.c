/* Plans found by timing: choices and files; all readers of a file take equal plans. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/wisdom/choice.h"
#include "kernels/wisdom/wisdom.h"
#include "kernels/wisdom/wisdom_lines.h"
#include "sim/trace/trace.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const struct csa_caches caches = {
    .l1_bytes = 32768,
    .l2_bytes = 1 << 17,
    .l3_bytes = 1 << 22,
    .line_bytes = 64,
    .l2_cycles = 14,
    .l3_cycles = 50,
    .dram_cycles = 200,
};

static struct conv_problem pointwise(size_t c, size_t side, size_t k)
{
    struct conv_problem p = { .n = 1, .c = c, .h = side, .w = side, .k = k, .r = 1, .s = 1, .groups = 1 };
    char why[128];

    p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

static void check_choice(struct kcheck *k, const struct conv_choice *c)
{
    struct conv_mismatch where;
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_choice_plan(c, &k->p, rng_below(2), &plan) == 0);
    test_check(kcheck_run(k, &plan, &where) == 0, "%s, %s: %s", c->ukr->name, csa_schedule_name(c->schedule),
               kcheck_describe(&k->p));
}

/* Every timed choice computes the convolution; no two choices are equal. */
static void choices_are_right(void)
{
    for (unsigned i = 0; i < test_rounds(25); i++) {
        const struct conv_problem p = kcheck_random_problem();
        struct conv_choice choice[CONV_MAX_CHOICES];
        size_t n = conv_choices(&p, &caches, conv_ukr_best()->isa, choice);
        struct kcheck k;

        CU_ASSERT_FATAL(kcheck_init(&k, &p, true) == 0);
        CU_ASSERT(n >= 1 && n < CONV_MAX_CHOICES);
        for (size_t a = 0; a < n; a++) {
            check_choice(&k, &choice[a]);
            for (size_t b = 0; b < a; b++)
                CU_ASSERT(!conv_choice_equal(&choice[a], &choice[b]));
        }
        kcheck_release(&k);
    }
}

static struct conv_wisdom *wisdom_of(const char *path, bool *measures)
{
    struct conv_wisdom *w;
    char why[256];

    CU_ASSERT_FATAL(conv_wisdom_start(&w, CONV_TUNE_MEASURE, path, measures, SIM_WHY(why)) == 0);
    return w;
}

static struct conv_plan plan_by(struct conv_wisdom *w, const struct conv_problem *p, bool measures)
{
    struct conv_plan plan;

    CU_ASSERT_FATAL(
        conv_plan_measured(&plan, p, &caches, &(struct conv_tune_options){ .ukr = conv_ukr_best() }, w, measures) == 0);
    return plan;
}

static const struct conv_choice odd_choice = { .schedule = CSA_IS, .n_c = 5, .k2 = 1, .k3 = 2 };

/* Writes a file with a line that no model would write: odd_choice on the widest micro-kernel. */
static const char *odd_wisdom(const char *name, const struct conv_problem *p)
{
    char key[512], text[1024];

    wisdom_key(p, &caches, conv_ukr_best()->isa, key, sizeof key);
    snprintf(text, sizeof text, "sconv-wisdom 1\n%s %s packed is 5 1 2\n", key, conv_ukr_best()->name);
    return scratch_text(name, text);
}

/* Hashes all accesses of a plan's replay, in order. */
static void hash_access(void *ctx, const struct sim_access *a)
{
    uint64_t *hash = ctx;

    *hash = (*hash ^ a->addr ^ (uint64_t)a->kind << 60 ^ (uint64_t)a->tag << 52) * 0x9e3779b97f4a7c15u;
}

static uint64_t replayed(const struct conv_plan *plan)
{
    struct sim_expander expander;
    struct conv_replay r;
    uint64_t hash = 0;

    sim_expander_init(&expander, hash_access, &hash);
    conv_replay_init(&r, plan, &expander.sink);
    CU_ASSERT_FATAL(conv_nest_run(plan, &r.base) == 0);
    return hash;
}

/*
 * A remembered plan is run and replayed by every reader of the file: the executed (and right) plan and the plan that a
 * second reader replays have equal accesses; the model's plan has different accesses.
 */
static void who_runs_and_who_replays_share_a_plan(void)
{
    const struct conv_problem p = pointwise(24, 12, 64);
    struct conv_choice odd = odd_choice, taken;
    struct conv_plan model, run, replay;
    struct conv_wisdom *writer, *reader;
    struct conv_mismatch where;
    struct kcheck k;
    bool measures;

    odd.ukr = conv_ukr_best();
    writer = wisdom_of(odd_wisdom("wisdom", &p), &measures);
    reader = wisdom_of(scratch_path("wisdom"), &measures);
    model = plan_by(NULL, &p, false);
    run = plan_by(writer, &p, true);
    replay = plan_by(reader, &p, false);
    taken = conv_choice_of(&run);
    CU_ASSERT(measures && conv_choice_equal(&taken, &odd));
    CU_ASSERT_FATAL(kcheck_init(&k, &p, true) == 0);
    CU_ASSERT(kcheck_run(&k, &run, &where) == 0);
    kcheck_release(&k);
    CU_ASSERT(replayed(&run) == replayed(&replay));
    CU_ASSERT(replayed(&run) != replayed(&model));
    conv_wisdom_forget(reader);
    replay = plan_by(reader, &p, false);
    CU_ASSERT(conv_wisdom_count(reader) == 0 && replayed(&replay) == replayed(&model));
    conv_wisdom_release(writer);
    conv_wisdom_release(reader);
}

/* A shape is timed once: the result is in the file, and taken again. */
static void what_was_measured_is_remembered(void)
{
    const struct conv_problem p = pointwise(24, 12, 64);
    struct conv_wisdom *first, *second;
    struct conv_choice found, again;
    struct conv_plan plan;
    bool measures;

    first = wisdom_of(scratch_path("wisdom"), &measures);
    CU_ASSERT(measures && conv_wisdom_count(first) == 0);
    plan = plan_by(first, &p, measures);
    found = conv_choice_of(&plan);
    CU_ASSERT(conv_wisdom_count(first) == 1);
    second = wisdom_of(scratch_path("wisdom"), &measures);
    CU_ASSERT(conv_wisdom_count(second) == 1);
    plan = plan_by(second, &p, false);
    again = conv_choice_of(&plan);
    CU_ASSERT(conv_choice_equal(&found, &again));
    conv_wisdom_release(first);
    conv_wisdom_release(second);
}

/* Four processes write a file at a time: all their lines are there. */
static void writers_merge(void)
{
    const char *path;
    struct conv_wisdom *all;
    char why[256];
    int status;

    path = scratch_path("wisdom");
    for (size_t i = 0; i < 4; i++) {
        if (!fork()) {
            const struct conv_problem p = pointwise(8 + i, 5, 16);
            struct conv_wisdom *w = conv_wisdom_create();
            char text[16];

            snprintf(text, sizeof text, "own%zu", i);
            _exit(!w || conv_wisdom_import(w, odd_wisdom(text, &p), SIM_WHY(why)) ||
                  conv_wisdom_export(w, path, SIM_WHY(why)));
        }
    }
    for (int i = 0; i < 4; i++)
        CU_ASSERT(wait(&status) > 0 && status == 0);
    all = conv_wisdom_create();
    CU_ASSERT_FATAL(all != NULL && conv_wisdom_import(all, path, SIM_WHY(why)) == 0);
    CU_ASSERT(conv_wisdom_count(all) == 4);
    conv_wisdom_release(all);
}

/* Damaged or foreign files are refused in a line that names the place; nothing is taken from a refused file. */
static void bad_files_are_refused(void)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "", "the file is empty" },
        { "sconv-wisdom 2\n", ":1: the line is not 'sconv-wisdom 1'" },
        { "fftw-wisdom 1\n", ":1: the line is not 'sconv-wisdom 1'" },
        { "sconv-wisdom 1\na b c d e f packed is 1 2 3", ":2: the line is too long, or is cut" },
        { "sconv-wisdom 1\na b c d e f packed is 1 2 3\na b\n", ":3: the line is not eleven words" },
        { "sconv-wisdom 1\na b c d e f packed is 1 2  3\n", ":2: the line is not eleven words" },
        { "sconv-wisdom 1\na b c d e f packed is 0 2 3\n", ":2: the line does not end in" },
        { "sconv-wisdom 1\na b c d e f packed is -1 2 3\n", ":2: the line does not end in" },
        { "sconv-wisdom 1\na b c d e f somewhere is 1 2 3\n", ":2: the line does not end in" },
        { "sconv-wisdom 1\na b c d e f packed both 1 2 3\n", ":2: the line does not end in" },
    };
    struct conv_wisdom *w = conv_wisdom_create();
    char why[512];

    CU_ASSERT_FATAL(w != NULL);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CU_ASSERT(conv_wisdom_import(w, scratch_text("bad", bad[i].text), SIM_WHY(why)) == -EINVAL);
        test_check(strstr(why, bad[i].why) && !strchr(why, '\n'), "said '%s', not '%s'", why, bad[i].why);
        CU_ASSERT(conv_wisdom_export(w, scratch_path("bad"), SIM_WHY(why)) == -EINVAL);
        CU_ASSERT(conv_wisdom_count(w) == 0);
    }
    CU_ASSERT(conv_wisdom_import(w, scratch_path("none"), SIM_WHY(why)) == -ENOENT && strstr(why, "none: "));
    CU_ASSERT(conv_wisdom_export(w, "/nowhere/wisdom", SIM_WHY(why)) == -ENOENT);
    conv_wisdom_release(w);
}

/* Lines of foreign CPUs and unknown micro-kernels are kept, and not used. */
static void foreign_lines_are_kept(void)
{
    const struct conv_problem p = pointwise(24, 12, 64);
    struct conv_plan model = plan_by(NULL, &p, false), plan;
    char text[2048], key[512], why[256];
    struct conv_wisdom *w = conv_wisdom_create();

    CU_ASSERT_FATAL(w != NULL);
    wisdom_key(&p, &caches, conv_ukr_best()->isa, key, sizeof key);
    snprintf(text, sizeof text,
             "sconv-wisdom 1\nother%s f32_16x24__ref packed is 5 1 2\n%s f32_9x9__new packed is 5 1 2\n", key, key);
    CU_ASSERT(conv_wisdom_import(w, scratch_text("wisdom", text), SIM_WHY(why)) == 0);
    plan = plan_by(w, &p, false);
    CU_ASSERT(conv_wisdom_count(w) == 2 && replayed(&plan) == replayed(&model));
    conv_wisdom_release(w);
}

static void words_of_the_environment_are_checked(void)
{
    struct conv_wisdom *w;
    bool measures;
    char why[128];

    CU_ASSERT(conv_wisdom_start(&w, "guess", "", &measures, SIM_WHY(why)) == -EINVAL && !w);
    CU_ASSERT(strstr(why, "SCONV_TUNE is 'guess'") != NULL);
}

static const struct test_case cases[] = {
    { "whatever is timed computes the convolution", choices_are_right },
    { "who runs and who replays share a plan", who_runs_and_who_replays_share_a_plan },
    { "what was measured is remembered", what_was_measured_is_remembered },
    { "processes that write one file keep each other's plans", writers_merge },
    { "damaged and foreign files are refused with their line", bad_files_are_refused },
    { "lines of others are kept and not used", foreign_lines_are_kept },
    { "words of the environment are checked", words_of_the_environment_are_checked },
    { NULL, NULL },
};

const struct test_suite suite_wisdom = { "wisdom", cases };
