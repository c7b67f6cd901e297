/* Plans as JSON: written and read again they are equal; contradictions are refused by key. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/emit/plan_facts.h"
#include "kernels/emit/plan_json.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const struct conv_ukr *ours(void)
{
    return conv_ukr_at(rng_below(conv_ukr_count()));
}

static struct conv_layer_plan random_plan(void)
{
    const struct csa_caches caches = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
    };
    struct conv_layer_plan n = { .layer = "conv \"1\"", .machine = "toy", .caches = caches };
    const struct conv_sconv_options options = kcheck_random_options();
    struct conv_problem p = kcheck_random_problem();
    const struct conv_ukr *u = ours();
    struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);

    CU_ASSERT_FATAL(conv_plan_sconv_with(&n.plan, &p, u, &t, &options) == 0);
    return n;
}

static char *text_of(const struct conv_layer_plan *n)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_FATAL(out && conv_plans_print(n, 1, out) == 0 && fclose(out) == 0);
    return text;
}

static int read_text(struct conv_layer_plans *plans, const char *text, char why[512])
{
    return conv_plans_read(plans, scratch_text("plan.json", text), NULL, (struct sim_why){ why, 512 });
}

static bool same_plan(const struct conv_plan *a, const struct conv_plan *b)
{
    return conv_problem_equal(&a->problem, &b->problem) && a->ukr == b->ukr &&
           a->sconv.tiling.schedule == b->sconv.tiling.schedule && a->sconv.tiling.n_c == b->sconv.tiling.n_c &&
           a->sconv.tiling.k2 == b->sconv.tiling.k2 && a->sconv.tiling.k3 == b->sconv.tiling.k3 &&
           !memcmp(&a->sconv.options, &b->sconv.options, sizeof a->sconv.options) &&
           !memcmp(&a->layout, &b->layout, sizeof a->layout) && a->sconv.pack_windows == b->sconv.pack_windows;
}

static void what_is_written_is_read_again(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        const struct conv_layer_plan n = random_plan();
        struct conv_layer_plans plans;
        char *text = text_of(&n), *again, why[512] = "";
        int err = read_text(&plans, text, why);

        test_check(err == 0, "%s: %s", kcheck_describe(&n.plan.problem), why);
        if (!err) {
            again = text_of(&plans.plan[0]);
            test_check(same_plan(&n.plan, &plans.plan[0].plan), "%s: another plan", kcheck_describe(&n.plan.problem));
            CU_ASSERT_STRING_EQUAL(text, again);
            CU_ASSERT(conv_plans_find(&plans, &n.plan.problem) == &plans.plan[0]);
            free(again);
            conv_plans_release(&plans);
        }
        free(text);
    }
}

static void a_plan_that_was_read_computes_right(void)
{
    for (unsigned i = 0; i < test_rounds(40); i++) {
        const struct conv_layer_plan n = random_plan();
        struct conv_layer_plans plans;
        struct conv_mismatch where;
        struct kcheck k;
        char *text = text_of(&n), why[512];

        CU_ASSERT_FATAL(read_text(&plans, text, why) == 0);
        CU_ASSERT_FATAL(kcheck_init(&k, &n.plan.problem, true) == 0);
        if (conv_plan_runs(&n.plan))
            test_check(kcheck_run(&k, &plans.plan[0].plan, &where) == 0, "%s %s", n.plan.ukr->name,
                       kcheck_describe(&n.plan.problem));
        kcheck_release(&k);
        conv_plans_release(&plans);
        free(text);
    }
}

/* Returns a different value of the type. */
static json_t *other_value(const json_t *v)
{
    if (json_is_string(v))
        return json_string("otherwise");
    if (json_is_integer(v))
        return json_integer(json_integer_value(v) + 1);
    if (json_is_real(v))
        return json_real(2 * json_real_value(v) + 1);
    return json_boolean(!json_is_true(v));
}

/*
 * Changes a key of a written plan and reads the changed text. Returns the reader's result; on success, why gets the
 * line about values derived anew.
 */
static int read_changed(const char *text, const struct conv_plan_key *k, json_t *value, char why[512])
{
    json_t *root = json_loads(text, 0, NULL), *plan = json_array_get(json_object_get(root, "plans"), 0);
    struct conv_layer_plans plans;
    char *changed;
    int err;

    CU_ASSERT_FATAL(root != NULL);
    if (value)
        json_object_set_new(json_object_get(plan, k->section), k->key, value);
    else
        json_object_del(json_object_get(plan, k->section), k->key);
    changed = json_dumps(root, 0);
    err = read_text(&plans, changed, why);
    if (!err)
        snprintf(why, 512, "%s", plans.derived_anew);
    conv_plans_release(&plans);
    free(changed);
    json_decref(root);
    return err;
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

/* A changed decision changes the values that follow from the decision. */
static void decisions_take_along_what_follows(void)
{
    struct conv_layer_plans plans;
    char why[512] = "", *text;
    struct conv_layer_plan n;
    json_t *root, *plan;

    n = random_plan();
    while (conv_group_channels(&n.plan.problem) < 4 || n.plan.sconv.tiling.n_c == 2)
        n = random_plan();
    text = text_of(&n);
    root = json_loads(text, 0, NULL);
    CU_ASSERT_FATAL(root != NULL);
    plan = json_array_get(json_object_get(root, "plans"), 0);
    json_object_set_new(json_object_get(plan, "tiling"), "n_c", json_integer(2));
    free(text);
    text = json_dumps(root, 0);
    json_decref(root);
    CU_ASSERT_EQUAL_FATAL(read_text(&plans, text, why), 0);
    CU_ASSERT_EQUAL(plans.plan[0].plan.sconv.tiling.n_c, 2);
    CU_ASSERT_EQUAL(plans.plan[0].plan.sconv.tiling.channel_sets, (conv_group_channels(&n.plan.problem) + 1) / 2);
    test_check(strstr(plans.derived_anew, "tiling.channel_sets") && !strstr(plans.derived_anew, "tiling.n_c"), "%s",
               plans.derived_anew);
    conv_plans_release(&plans);
    free(text);
}

static const json_t *value_in(const json_t *root, const struct conv_plan_key *k)
{
    const json_t *plan = json_array_get(json_object_get(root, "plans"), 0);

    return json_object_get(json_object_get(plan, k->section), k->key);
}

/* Values that follow from further keys are derived anew, with a line that says so; no key may have a wrong type. */
static void contradictions_are_named(void)
{
    const struct conv_layer_plan n = random_plan();
    char *text = text_of(&n), why[512], key[64], said[200];
    json_t *root = json_loads(text, 0, NULL);

    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);
        int changed = read_changed(text, k, other_value(value_in(root, k)), why);

        snprintf(key, sizeof key, "%s.%s", k->section, k->key);
        snprintf(said, sizeof said, "plan.json: plans[0]: derived anew from its layer and decisions: %s", key);
        test_check(k->is_decided || (!changed && ends_with(why, said)), "%s changed: %d, %s", key, changed, why);
        test_check(read_changed(text, k, json_array(), why) == -EINVAL && strstr(why, key) && strstr(why, "[]"),
                   "%s of another type: %s", key, why);
        changed = read_changed(text, k, NULL, why);
        test_check(changed == (k->is_decided ? -EINVAL : 0), "%s removed: %d, %s", key, changed, why);
    }
    json_decref(root);
    free(text);
}

static void refused(const char *text, const char *words)
{
    struct conv_layer_plans plans;
    char why[512] = "";

    test_check(read_text(&plans, text, why) == -EINVAL && strstr(why, words), "'%s': %s", text, why);
}

static void files_that_are_no_plans_are_refused(void)
{
    struct conv_layer_plans plans;
    char why[512];

    refused("{", "plan.json:1: ");
    refused("\xff\xfe{", "plan.json:1: the text is not in UTF-8; is it in UTF-16?");
    refused("\xef\xbb{", "plan.json:1: the text is not in UTF-8");
    refused("\xef\xbb\xbf{}", "schema is missing"); /* a byte order mark is no JSON */
    refused("[]", "schema is missing");
    refused("{\"schema\": \"sconv-plan/2\"}", "schema is \"sconv-plan/2\", must be \"sconv-plan/1\"");
    refused("{\"schema\": \"sconv-plan/1\", \"plans\": []}", "at least one plan");
    refused("{\"schema\": \"sconv-plan/1\", \"plans\": [7]}", "plans[0]: must be an object");
    refused("{\"schema\": \"sconv-plan/1\", \"plans\": [{}]}", "layer.name is missing");
    refused("{\"schema\": \"sconv-plan/1\", \"plans\": [{\"tile\": {}}]}", "unknown section 'tile'");
    refused("{\"schema\": \"sconv-plan/1\", \"plans\": [{\"tiling\": {\"nc\": 1}}]}", "unknown key 'tiling.nc'");
    refused("{\"schema\": \"sconv-plan/1\", \"schema\": \"sconv-plan/1\"}", "duplicate");
    CU_ASSERT(conv_plans_read(&plans, scratch_path("none.json"), NULL, SIM_WHY(why)) == -ENOENT);
}

/* A JSON library without memory for the n-th wish, and for all later wishes. */
static size_t wishes_left;

static void *grant(size_t bytes)
{
    if (wishes_left && wishes_left--)
        return malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

/* The text is right: the reason is want of memory and nothing else. */
static void want_of_memory_is_no_wrong_text(void)
{
    const struct conv_layer_plan n = random_plan();
    char *text = text_of(&n), why[512] = "";
    struct conv_layer_plans plans;
    int err = -ENOMEM;

    for (size_t i = 0; i < 100000 && err; i += 1 + i / 20) {
        wishes_left = i;
        json_set_alloc_funcs(grant, free);
        err = read_text(&plans, text, why);
        conv_plans_release(&plans);
        test_check(!err || (err == -ENOMEM && strstr(why, "out of memory")), "%zu wishes: %d, '%s'", i, err, why);
    }
    json_set_alloc_funcs(malloc, free);
    CU_ASSERT_EQUAL(err, 0);
    free(text);
}

static const struct test_case cases[] = {
    { "want of memory is no wrong text", want_of_memory_is_no_wrong_text },
    { "what is written is read again", what_is_written_is_read_again },
    { "a plan that was read computes right", a_plan_that_was_read_computes_right },
    { "contradictions are named", contradictions_are_named },
    { "a decision that is changed takes what follows along", decisions_take_along_what_follows },
    { "files that are no plans are refused", files_that_are_no_plans_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_plan_json = { "plan_json", cases };
