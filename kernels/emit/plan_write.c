#include "kernels/emit/plan_json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/emit/plan_facts.h"

/* A caller's text, which may be too short for the plans. */
struct text {
    char *at;
    size_t bytes, length;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *format, ...)
{
    size_t room = t->bytes > t->length ? t->bytes - t->length : 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(room ? t->at + t->length : NULL, room, format, args);
    va_end(args);
    t->length += n < 0 ? 0 : (size_t)n;
}

static void put_text(struct text *t, const char *value)
{
    put(t, "\"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            put(t, "\\%c", *value);
        else if ((unsigned char)*value < ' ')
            put(t, "\\u%04x", (unsigned)*value);
        else
            put(t, "%c", *value);
    }
    put(t, "\"");
}

/* With a point in every locale, and never as a whole number. */
static void put_real(struct text *t, double value)
{
    static const char digits[] = "-+0123456789e";
    char number[64];
    size_t n;

    if (!isfinite(value)) {
        put(t, "null");
        return;
    }
    snprintf(number, sizeof number, "%.17g", value);
    n = strspn(number, digits);
    put(t, "%.*s", (int)n, number);
    if (number[n])
        put(t, ".%s", number + strcspn(number + n, digits) + n);
    else if (!strchr(number, 'e'))
        put(t, ".0");
}

static void put_value(struct text *t, struct conv_plan_facts *f, const struct conv_plan_key *k)
{
    const void *at = conv_fact_at(f, k);

    switch (k->type) {
    case CONV_FACT_IS_TEXT:
        put_text(t, *(const char *const *)at);
        return;
    case CONV_FACT_IS_SIZE:
        put(t, "%zu", *(const size_t *)at);
        return;
    case CONV_FACT_IS_REAL:
        put_real(t, *(const double *)at);
        return;
    default:
        put(t, *(const bool *)at ? "true" : "false");
    }
}

static void put_plan(struct text *t, const struct conv_layer_plan *n)
{
    struct conv_plan_facts f = conv_plan_facts_of(&n->plan, &n->caches, n->layer, n->machine);
    const char *section = "";

    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        const struct conv_plan_key *k = conv_plan_key_at(i);

        if (strcmp(section, k->section) != 0)
            put(t, "%s\n      \"%s\": {", i ? "\n      }," : "    {", k->section);
        put(t, "%s\n        \"%s\": ", strcmp(section, k->section) != 0 ? "" : ",", k->key);
        put_value(t, &f, k);
        for (size_t s = 0; !i && s < CONV_N_FIELDS; s++) /* behind the layer's name */
            put(t, ",\n        \"%s\": %zu", conv_fields[s].name, conv_field(&f.problem, s));
        section = k->section;
    }
    put(t, "\n      }\n    }");
}

size_t conv_plans_write(const struct conv_layer_plan *plan, size_t n, char *text, size_t bytes)
{
    struct text t = { text, bytes, 0 };

    assert(text || !bytes);
    put(&t, "{\n  \"schema\": \"" CONV_PLAN_SCHEMA "\",\n  \"plans\": [\n");
    for (size_t i = 0; i < n; i++) {
        put_plan(&t, &plan[i]);
        put(&t, i + 1 < n ? ",\n" : "\n");
    }
    put(&t, "  ]\n}");
    return t.length;
}
