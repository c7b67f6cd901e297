#include "sim/programs/cachesim_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/base/access.h"
#include "sim/report/json.h"

void cachesim_rows_init(struct cachesim_rows *r, FILE *out, bool is_json)
{
    *r = (struct cachesim_rows){ .out = out, .is_json = is_json };
}

void cachesim_rows_column(struct cachesim_rows *r, const char *name)
{
    assert(r->n_columns < CACHESIM_MAX_COLUMNS);
    snprintf(r->column[r->n_columns++], sizeof r->column[0], "%s", name);
}

void cachesim_rows_tag_column(struct cachesim_rows *r, const char *what, unsigned tag)
{
    assert(r->n_columns < CACHESIM_MAX_COLUMNS && tag < SIM_MAX_TAGS);
    snprintf(r->column[r->n_columns++], sizeof r->column[0], "%s_tag%u", what, tag);
}

void cachesim_rows_head(struct cachesim_rows *r, const char *trace, const char *analysis, uint32_t line_bytes,
                        const char *note)
{
    if (r->is_json) {
        fputs("{\n  \"trace\": { \"name\": ", r->out);
        sim_json_string(trace, r->out);
        fprintf(r->out, " },\n  \"analysis\": \"%s\",\n  \"line_bytes\": %" PRIu32 ",\n  \"note\": ", analysis,
                line_bytes);
        sim_json_string(note, r->out);
        fputs(",\n  \"rows\": [", r->out);
        return;
    }
    fputs("# trace ", r->out);
    sim_line_text(trace, r->out);
    fprintf(r->out, ": %s, lines of %" PRIu32 " bytes: %s\n", analysis, line_bytes, note);
    for (size_t i = 0; i < r->n_columns; i++)
        fprintf(r->out, "%s%s", i ? "," : "", r->column[i]);
    fputc('\n', r->out);
}

void cachesim_rows_end(struct cachesim_rows *r, bool is_partial)
{
    if (r->is_json)
        fprintf(r->out, "\n  ]%s\n}\n", is_partial ? ",\n  \"partial\": true" : "");
    else if (is_partial)
        fputs("# interrupted: these counts are partial\n", r->out);
}

/* Prints the text before a value, and after the last value of a row. */
static void start_value(const struct cachesim_rows *r)
{
    if (!r->is_json)
        fputs(r->next ? "," : "", r->out);
    else if (r->next)
        fprintf(r->out, ", \"%s\": ", r->column[r->next]);
    else
        fprintf(r->out, "%s\n    { \"%s\": ", r->n_rows ? "," : "", r->column[0]);
}

static void end_value(struct cachesim_rows *r)
{
    if (++r->next < r->n_columns)
        return;
    fputs(r->is_json ? " }" : "\n", r->out);
    r->next = 0;
    r->n_rows++;
}

void cachesim_rows_count(struct cachesim_rows *r, uint64_t value)
{
    assert(r->n_columns);
    start_value(r);
    fprintf(r->out, "%" PRIu64, value);
    end_value(r);
}

void cachesim_rows_ratio(struct cachesim_rows *r, double value)
{
    start_value(r);
    fprintf(r->out, "%.6f", value);
    end_value(r);
}

/* Writes a text as a CSV field: in quotes, if the text has characters that end a field. */
static void put_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void cachesim_rows_text(struct cachesim_rows *r, const char *value)
{
    start_value(r);
    if (r->is_json)
        sim_json_string(value, r->out);
    else
        put_field(r->out, value);
    end_value(r);
}
