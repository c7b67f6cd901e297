/*
 * Chrome's trace event format: "Trace Event Format" of the Chromium project.
 */
#include "experiments/show/trace_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/base/error.h"
#include "experiments/base/program.h"

/* ---- values ---- */

json_t *exp_trace_made(json_t *value)
{
    if (!value)
        exp_program_out_of_memory();
    return value;
}

void exp_trace_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, exp_trace_made(value)))
        exp_program_out_of_memory();
}

void exp_trace_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, exp_trace_made(value)))
        exp_program_out_of_memory();
}

json_t *exp_trace_text(const char *s)
{
    json_t *value = json_string(s);
    char *copy;

    if (value)
        return value;
    copy = exp_copy_text(s);
    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    value = exp_trace_made(json_string(copy));
    free(copy);
    return value;
}

json_t *exp_trace_number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *exp_trace_digits(uint64_t n)
{
    char s[24];

    snprintf(s, sizeof s, "%" PRIu64, n);
    return json_string(s);
}

json_t *exp_trace_numbers(const size_t *n, size_t count)
{
    json_t *list = exp_trace_made(json_array());

    for (size_t i = 0; i < count; i++)
        exp_trace_append(list, exp_trace_number(n[i]));
    return list;
}

/* ---- events ---- */

static void put(struct exp_trace *t, json_t *event)
{
    fputs(t->n++ ? ",\n" : "\n", t->out);
    t->failed |= json_dumpf(event, t->out, JSON_COMPACT) != 0;
    json_decref(event);
}

static json_t *event_of(const char *ph, json_t *name, struct exp_trace_row row, json_t *args)
{
    json_t *event = exp_trace_made(json_object());

    exp_trace_set(event, "ph", exp_trace_text(ph));
    exp_trace_set(event, "name", name);
    exp_trace_set(event, "pid", exp_trace_number(row.process));
    exp_trace_set(event, "tid", exp_trace_number(row.thread));
    exp_trace_set(event, "args", args);
    return event;
}

void exp_trace_put_name(struct exp_trace *t, const char *kind, const char *name, struct exp_trace_row row)
{
    json_t *args = exp_trace_made(json_object());

    exp_trace_set(args, "name", exp_trace_text(name));
    put(t, event_of("M", exp_trace_text(kind), row, args));
}

void exp_trace_put_time(struct exp_trace *t, const char *name, struct exp_trace_row row, double *at_us, double us,
                        json_t *args)
{
    json_t *event = event_of("X", exp_trace_text(name), row, args);

    exp_trace_set(event, "cat", exp_trace_text("Node"));
    exp_trace_set(event, "ts", json_real(*at_us));
    exp_trace_set(event, "dur", json_real(us));
    *at_us += us;
    put(t, event);
}

void exp_trace_put_counter(struct exp_trace *t, struct exp_trace_row row, const char *algo, const char *what,
                           double at_us, json_t *args)
{
    char *name = exp_format("%s: %s", algo, what);
    json_t *event = event_of("C", exp_trace_text(name), row, args);

    exp_trace_set(event, "ts", json_real(at_us));
    put(t, event);
    free(name);
}

/* ---- the file ---- */

void exp_trace_begin(struct exp_trace *t, FILE *out)
{
    *t = (struct exp_trace){ .out = out };
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

int exp_trace_end(struct exp_trace *t, json_t *other)
{
    fputs("\n],\n\"otherData\":", t->out);
    t->failed |= json_dumpf(other, t->out, JSON_COMPACT) != 0;
    fputs("}\n", t->out);
    json_decref(other);
    return t->failed ? -EIO : 0;
}
