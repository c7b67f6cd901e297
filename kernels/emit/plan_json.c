#include "kernels/emit/plan_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/emit/plan_facts.h"
#include "sim/base/why.h"

/* ---- writing ---- */

int conv_plans_print(const struct conv_layer_plan *plan, size_t n, FILE *out)
{
    const size_t bytes = conv_plans_write(plan, n, NULL, 0) + 1;
    char *text = malloc(bytes);

    if (!text)
        return -ENOMEM;
    conv_plans_write(plan, n, text, bytes);
    fprintf(out, "%s\n", text);
    free(text);
    return 0;
}

/* ---- reading ---- */

/* A plan of a file that is being read, and the reason of an error. */
struct reader {
    const char *path;
    size_t index;
    json_t *plan;
    struct sim_why why;
};

/* Writes the reason behind the file's name and the plan's number. */
#define REFUSE(r, err, format, ...)                                                                                    \
    sim_fail((r)->why, err, "%s: plans[%zu]: " format, (r)->path, (r)->index, __VA_ARGS__)

static void say_value(const json_t *value, char text[80])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(12));

    snprintf(text, 80, "%s", dump ? dump : "?");
    free(dump);
}

static int wrong_type(const struct reader *r, const char *section, const char *key, const json_t *value,
                      const char *must)
{
    char text[80];

    say_value(value, text);
    return REFUSE(r, -EINVAL, "%s.%s is %s, must be %s", section, key, text, must);
}

static const char *type_name(enum conv_fact_type t)
{
    static const char *const names[] = { "a text", "a whole number, 0 or more", "a number", "true or false" };

    return names[t];
}

/* Puts a value at an address. Returns false for a value of another type. */
static bool take(const json_t *value, enum conv_fact_type t, void *at)
{
    switch (t) {
    case CONV_FACT_IS_TEXT:
        *(const char **)at = json_string_value(value);
        return json_is_string(value);
    case CONV_FACT_IS_SIZE:
        *(size_t *)at = (size_t)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case CONV_FACT_IS_REAL:
        *(double *)at = json_number_value(value);
        return json_is_number(value);
    default:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    }
}

static json_t *find(const struct reader *r, const char *section, const char *key)
{
    return json_object_get(json_object_get(r->plan, section), key);
}

/* Reads the keys. Decided keys must be there; derived keys have their types checked. */
static int read_keys(const struct reader *r, struct conv_plan_facts *f)
{
    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);
        const json_t *value = find(r, k->section, k->key);

        if (!value && k->is_decided)
            return REFUSE(r, -EINVAL, "%s.%s is missing", k->section, k->key);
        if (value && !take(value, k->type, conv_fact_at(f, k)))
            return wrong_type(r, k->section, k->key, value, type_name(k->type));
    }
    return 0;
}

static int read_shape(const struct reader *r, struct conv_problem *p)
{
    char why[256];
    int err;

    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        const json_t *value = find(r, "layer", conv_fields[i].name);
        size_t size = conv_fields[i].fallback;

        if (!value && i && conv_fields[i].low)
            return REFUSE(r, -EINVAL, "layer.%s is missing", conv_fields[i].name);
        if (value && !take(value, CONV_FACT_IS_SIZE, &size))
            return wrong_type(r, "layer", conv_fields[i].name, value, type_name(CONV_FACT_IS_SIZE));
        conv_field_set(p, i, size);
    }
    err = conv_problem_finish(p, SIM_WHY(why));
    return err ? REFUSE(r, err, "layer: %s", why) : 0;
}

static bool is_known(const char *section, const char *key)
{
    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);

        if (!strcmp(k->section, section) && (!key || !strcmp(k->key, key)))
            return true;
    }
    for (size_t i = 0; i < CONV_N_FIELDS && key && !strcmp(section, "layer"); i++) {
        if (!strcmp(conv_fields[i].name, key))
            return true;
    }
    return false;
}

/* Refuses unknown keys: the author of an unknown key may take it for a decision. */
static int check_names(const struct reader *r)
{
    const char *section, *key;
    json_t *object, *value;

    json_object_foreach(r->plan, section, object)
    {
        if (!is_known(section, NULL))
            return REFUSE(r, -EINVAL, "unknown section '%s'; sconv-plan --schema lists them", section);
        if (!json_is_object(object))
            return REFUSE(r, -EINVAL, "%s: must be an object", section);
        json_object_foreach(object, key, value)
        {
            if (!is_known(section, key))
                return REFUSE(r, -EINVAL, "unknown key '%s.%s'; sconv-plan --schema lists them", section, key);
        }
    }
    return 0;
}

static bool is_equal(const struct conv_plan_key *k, const void *a, const void *b)
{
    switch (k->type) {
    case CONV_FACT_IS_TEXT:
        return !strcmp(*(const char *const *)a, *(const char *const *)b);
    case CONV_FACT_IS_SIZE:
        return *(const size_t *)a == *(const size_t *)b;
    case CONV_FACT_IS_REAL:
        return fabs(*(const double *)a - *(const double *)b) <= 1e-9 * fabs(*(const double *)b);
    default:
        return *(const bool *)a == *(const bool *)b;
    }
}

/* Names the keys of the file, `given`, that contradict the derived facts, `made`; only for the first plan with any. */
static void note_derived(const struct reader *r, struct conv_plan_facts *given, struct conv_plan_facts *made,
                         struct conv_layer_plans *plans)
{
    char names[320] = "";
    const struct sim_why all = { names, sizeof names };

    for (size_t i = 0; i < conv_plan_key_count() && !*plans->derived_anew; i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);

        if (find(r, k->section, k->key) && !is_equal(k, conv_fact_at(given, k), conv_fact_at(made, k)))
            sim_why_add(all, "%s%s.%s", *names ? ", " : "", k->section, k->key);
    }
    if (*names)
        snprintf(plans->derived_anew, sizeof plans->derived_anew,
                 "%s: plans[%zu]: derived anew from its layer and decisions: %s", r->path, r->index, names);
}

static int check_caches(const struct reader *r, const struct conv_plan_facts *f)
{
    if (f->machine_line_bytes > 0 && isfinite(f->machine_line_bytes))
        return 0;
    return REFUSE(r, -EINVAL, "machine.line_bytes is %g, must be above 0", f->machine_line_bytes);
}

static int read_plan(const struct reader *r, const struct conv_ukr *other, struct conv_layer_plans *plans)
{
    struct conv_plan_facts given = { 0 }, made;
    struct conv_layer_plan n;
    char why[256];
    int err = json_is_object(r->plan) ? check_names(r) : REFUSE(r, -EINVAL, "%s", "must be an object");

    if (!err)
        err = read_keys(r, &given);
    if (!err)
        err = read_shape(r, &given.problem);
    if (!err)
        err = check_caches(r, &given);
    if (err)
        return err;
    err = conv_plan_of_facts(&n.plan, &given, other, SIM_WHY(why));
    if (err)
        return REFUSE(r, err, "%s", why);
    n.caches = conv_plan_facts_caches(&given);
    n.layer = given.layer_name;
    n.machine = given.machine_name;
    made = conv_plan_facts_of(&n.plan, &n.caches, n.layer, n.machine);
    note_derived(r, &given, &made, plans);
    return conv_plans_add(plans, &n) ? REFUSE(r, -ENOMEM, "%s", "out of memory") : 0;
}

/* Skips a UTF-8 byte order mark, which some editors write. Returns false if a text is not in UTF-8. */
static bool skip_mark(FILE *in)
{
    const int first = getc(in);

    if (first == 0xef)
        return getc(in) == 0xbb && getc(in) == 0xbf;
    return first == EOF || (first != 0xfe && first != 0xff && ungetc(first, in) == first);
}

static int load(const char *path, json_t **root, struct sim_why why)
{
    json_error_t error;
    FILE *in = fopen(path, "r");
    int err = errno;

    if (!in)
        return sim_fail(why, -err, "cannot open '%s': %s", path, strerror(err));
    if (!skip_mark(in)) {
        fclose(in);
        return sim_fail(why, -EINVAL, "%s:1: the text is not in UTF-8; is it in UTF-16? Save it as UTF-8", path);
    }
    errno = 0;
    *root = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
    err = errno;
    fclose(in);
    if (*root)
        return 0;
    if (err == ENOMEM) /* jansson's own message then calls the text wrong */
        return sim_fail(why, -ENOMEM, "%s: out of memory", path);
    return sim_fail(why, -EINVAL, "%s:%d: %s", path, error.line, error.text);
}

static int check_frame(const json_t *root, const char *path, struct sim_why why)
{
    const json_t *schema = json_object_get(root, "schema");

    if (!json_is_string(schema) || strcmp(json_string_value(schema), CONV_PLAN_SCHEMA) != 0) {
        char is[80] = "missing";

        if (schema)
            say_value(schema, is);
        return sim_fail(why, -EINVAL, "%s: schema is %s, must be \"" CONV_PLAN_SCHEMA "\"", path, is);
    }
    if (json_array_size(json_object_get(root, "plans")))
        return 0;
    return sim_fail(why, -EINVAL, "%s: plans must be an array of at least one plan", path);
}

int conv_plans_read(struct conv_layer_plans *plans, const char *path, const struct conv_ukr *other, struct sim_why why)
{
    json_t *root = NULL;
    int err = load(path, &root, why);

    *plans = (struct conv_layer_plans){ 0 };
    if (err)
        return err;
    err = check_frame(root, path, why);
    for (size_t i = 0; !err && i < json_array_size(json_object_get(root, "plans")); i++) {
        const struct reader r = { path, i, json_array_get(json_object_get(root, "plans"), i), why };

        err = read_plan(&r, other, plans);
    }
    json_decref(root);
    if (err)
        conv_plans_release(plans);
    return err;
}

/* ---- the schema ---- */

static void print_key(const char *section, const char *key, enum conv_fact_type type, bool is_decided,
                      const char *meaning, FILE *out)
{
    fprintf(out, "| `%s.%s` | %s | %s | %s |\n", section, key, type_name(type), is_decided ? "decided" : "derived",
            meaning);
}

void conv_plan_schema_print(FILE *out)
{
    fprintf(out, "| key | value | role | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);

        print_key(k->section, k->key, k->type, k->is_decided, k->meaning, out);
        for (size_t f = 0; f < CONV_N_FIELDS && !i; f++)
            print_key("layer", conv_fields[f].name, CONV_FACT_IS_SIZE, true, conv_fields[f].what, out);
    }
}
