/* Tables of records: every table is written, read and written again, and the bytes are equal. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/question.h"
#include "experiments/show/counts.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- a table with every kind of field ---- */

#define ROW struct row
struct row {
    const char *name;
    char label[8];
    uint64_t loads;
    uint32_t lines;
    bool is_best;
    double time_ns[2], macs;
    const char *why_no_time;
    char why_no_loads[32];
    double low, high;
    const char *why_no_interval;
};

static double macs_per_ns(const void *row)
{
    const ROW *x = row;

    return x->macs / x->time_ns[0];
}

static const struct rec_field fields[] = {
    { { "name", "", "of the layer", "" }, REC_AT(ROW, name) },
    { { "label", "", "short", "" }, REC_OR(ROW, label, why_no_loads) },
    { { "loads", "", "instructions", "" }, REC_OR(ROW, loads, why_no_loads) },
    { { "lines", "", "of memory", "" }, REC_AT(ROW, lines) },
    { { "is_best", "", "1 or 0", "" }, REC_OR(ROW, is_best, why_no_time) },
    { { "cold_ns", "ns", "cold", "clock" }, REC_OR(ROW, time_ns[0], why_no_time) },
    { { "warm_ns", "ns", "warm", "clock" }, REC_OR(ROW, time_ns[1], why_no_time) },
    { { "macs", "", "multiply-adds", "" }, REC_AT(ROW, macs) },
    { { "macs_per_ns", "", "macs / cold_ns", "" },
      REC_DERIVED(macs_per_ns),
      .missing = REC_IF_WHY,
      REC_REASON(ROW, why_no_time) },
    { { "low", "", "of the interval", "" }, REC_NAN_OR(ROW, low, why_no_interval) },
    { { "high", "", "of the interval", "" }, REC_NAN_AS(ROW, high, "no interval") },
};

static const struct rec_table table = REC_TABLE("t.csv", fields, ROW);

#define HEADER "name,label,loads,lines,is_best,cold_ns,warm_ns,macs,macs_per_ns,low,high"
#define WRITTEN_HEADER HEADER ",why_missing\n"

static const struct row usual = { .name = "conv1",
                                  .label = "a",
                                  .loads = 7,
                                  .lines = 3,
                                  .is_best = true,
                                  .time_ns = { 2, 0.1 },
                                  .macs = 5,
                                  .low = 1,
                                  .high = 2 };

/* ---- a table of values ---- */

struct lake {
    const char *name;
    struct value depth_m, area, boats;
};

static const struct rec_field lake_fields[] = {
    { { "name", "", "of the lake", "" }, REC_AT(struct lake, name) },
    { { "depth_m", "m", "at its deepest", "sonar" }, REC_VALUE(struct lake, depth_m) },
    { { "area", "", "", "" }, REC_VALUE(struct lake, area) },
    { { "boats", "", "", "" }, REC_WHOLE(struct lake, boats) },
};

static const struct rec_table lakes = REC_TABLE("lakes.csv", lake_fields, struct lake);

/* ---- files ---- */

/* Writes rows into a file of the scratch folder. Returns as exp_csv_close(). */
static int write_rows(const char *name, const struct rec_table *t, const void *row, size_t n)
{
    const struct exp_outdir dir = { .path = (char *)(uintptr_t)scratch_path(".") };
    struct exp_csv_file file = t->file;
    struct exp_csv *csv;
    struct exp_why why;

    file.name = name;
    csv = exp_csv_begin(&dir, &file, NULL);
    for (size_t i = 0; i < n; i++)
        rec_put(csv, t, (const char *)row + i * t->row_bytes);
    return exp_csv_close(csv, &why);
}

static char *text_of(const char *name)
{
    char *text = NULL;
    struct exp_why why = { "" };
    size_t bytes;

    test_check(!exp_text_read(&text, &bytes, scratch_path(name), &why), "%s", why.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return text;
}

/* Returns the last line of t.csv with one row, without its line feed, from malloc. */
static char *line_of(const struct row *row)
{
    char *text, *line;

    CU_ASSERT_EQUAL(write_rows("t.csv", &table, row, 1), 0);
    text = text_of("t.csv");
    line = strstr(text, WRITTEN_HEADER);
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    memmove(text, line + strlen(WRITTEN_HEADER), strlen(line + strlen(WRITTEN_HEADER)) + 1);
    text[strcspn(text, "\n")] = '\0';
    scratch_clear();
    return text;
}

static void check_line(const struct row *row, const char *want)
{
    char *line = line_of(row);

    test_check(!strcmp(line, want), "'%s', not '%s'", line, want);
    free(line);
}

/* Names come from files: control characters, and bytes that are no UTF-8, are not written. */
static void test_unclean_texts(void)
{
    struct row row = usual;

    row.name = "a\x1b[31m\r\xff\xc2\x9b\xe2\x80\xae\xc3\xa4";
    snprintf(row.label, sizeof row.label, "%s", "b\a\xc3");
    check_line(&row, "a [31m ? ?\xc3\xa4,b ?,7,3,1,2,0.1,5,2.5,1,2,");
    row = usual;
    row.why_no_time = "\x1b\xff";
    check_line(&row, "conv1,a,7,3,,,,5,,1,2,is_best+cold_ns+warm_ns+macs_per_ns:  ?");
}

/* A value is a number, or a reason; a whole number has no exponent. */
static void test_values(void)
{
    const struct lake lake[] = {
        { "a", { 0.5, NULL }, { 4e15, NULL }, { 0, NULL } },
        { "b", value_none("no sonar, yet"), value_none(REC_DOES_NOT_APPLY), { 0, NULL } },
        { "c", value_ratio(value_of(1), value_of(0), 1), value_of(-1), { 0, NULL } },
    };
    struct rec_rows rows;
    struct exp_why why;
    const struct lake *read;
    char *text;

    CU_ASSERT_EQUAL(write_rows("lakes.csv", &lakes, lake, 3), 0);
    text = text_of("lakes.csv");
    test_check(
        strstr(text, "\na,0.5,4000000000000000,0,\nb,,,0,depth_m: no sonar; yet\nc,,-1,0,depth_m: divided by 0\n") !=
            NULL,
        "%s", text);
    free(text);
    CU_ASSERT_EQUAL_FATAL(rec_read(&rows, &lakes, scratch_path("lakes.csv"), &why), 0);
    read = rows.row;
    CU_ASSERT_TRUE(value_is_known(read[0].area) && read[0].area.number == 4e15);
    CU_ASSERT_STRING_EQUAL(read[1].depth_m.why, "no sonar; yet");
    CU_ASSERT_TRUE(isnan(read[1].depth_m.number) && !strcmp(read[1].area.why, REC_DOES_NOT_APPLY));
    rec_release(&rows);
    scratch_text("old.csv", "name,area\nd,7\n");
    CU_ASSERT_EQUAL_FATAL(rec_read_some(&rows, &lakes, scratch_path("old.csv"), NULL, 0, &why), 0);
    read = rows.row;
    CU_ASSERT_TRUE(read->area.number == 7 && !strcmp(read->depth_m.why, "the file has no such column"));
    rec_release(&rows);
    for (size_t i = 0; i < 2; i++) {
        scratch_text("old.csv", i ? "name,boats\nd,-3\n" : "name,boats\nd,1.5\n");
        CU_ASSERT_EQUAL(rec_read_some(&rows, &lakes, scratch_path("old.csv"), NULL, 0, &why), -EINVAL);
        test_check(strstr(why.text, "is no whole number") != NULL, "%s", why.text);
    }
}

static void test_cells(void)
{
    struct row row = usual;

    check_line(&row, "conv1,a,7,3,1,2,0.1,5,2.5,1,2,");
    row.why_no_time = "TIMING=0, \"off\" | on";
    check_line(&row, "conv1,a,7,3,,,,5,,1,2,is_best+cold_ns+warm_ns+macs_per_ns: TIMING=0; 'off' / on");
    snprintf(row.why_no_loads, sizeof row.why_no_loads, "not replayed");
    check_line(&row, "conv1,,,3,,,,5,,1,2,"
                     "label+loads: not replayed | is_best+cold_ns+warm_ns+macs_per_ns: TIMING=0; 'off' / on");
    row.why_no_time = REC_DOES_NOT_APPLY;
    check_line(&row, "conv1,,,3,,,,5,,1,2,label+loads: not replayed");
    row = usual;
    row.low = row.high = (double)NAN;
    row.why_no_interval = "3 rounds";
    check_line(&row, "conv1,a,7,3,1,2,0.1,5,2.5,,,low: 3 rounds | high: no interval");
    row.low = 1;
    row.name = NULL;
    check_line(&row, ",a,7,3,1,2,0.1,5,2.5,1,,high: no interval");
}

static void check_slip(const struct row *row, const char *column)
{
    test_check(write_rows("t.csv", &table, row, 1) == -EINVAL, "NaN in %s is written", column);
    scratch_clear();
}

static void test_nan(void)
{
    struct row row = usual;

    row.macs = (double)NAN;
    check_slip(&row, "macs");
    row = usual;
    row.time_ns[1] = (double)NAN;
    check_slip(&row, "warm_ns");
    row = usual;
    row.low = (double)INFINITY;
    check_slip(&row, "low");
    row = usual;
    row.time_ns[0] = 0;
    check_slip(&row, "macs_per_ns");
}

static void check_number(const struct row *row, size_t offset, double want)
{
    const struct rec_field *f = rec_field_of(&table, offset);
    const double x = rec_number(f, row);

    test_check(x == want || (isnan(x) && isnan(want)), "%s is %g, not %g", f->column.name, x, want);
}

static void test_numbers(void)
{
    struct row row = usual;

    check_number(&row, offsetof(ROW, loads), 7);
    check_number(&row, offsetof(ROW, lines), 3);
    check_number(&row, offsetof(ROW, is_best), 1);
    check_number(&row, offsetof(ROW, time_ns[1]), 0.1);
    check_number(&row, offsetof(ROW, name), (double)NAN);
    row.why_no_time = "TIMING=0";
    check_number(&row, offsetof(ROW, is_best), (double)NAN);
    check_number(&row, offsetof(ROW, time_ns[1]), (double)NAN);
}

/* ---- every table ---- */

static const char *const texts[] = { "", "conv1", "a, b", "say \"x\"", "#1", " blank ", "two\nlines", "not", "0" };
static const char *const reasons[] = { NULL,         NULL, NULL, "TIMING=0", "a, \"b\" and c", REC_DOES_NOT_APPLY,
                                       "two\nlines", " x " };

#define ANY(array) (array)[rng_below(COUNT(array))]

static void put_chars(char *to, size_t bytes, const char *text)
{
    snprintf(to, bytes, "%s", text ? text : "");
}

static double any_double(void)
{
    return rng_below(4) ? 0.001 + 1000 * rng_unit() : (double)(1 + rng_below(1000000));
}

/* Fills a value; if a reason decides whether the value is known, the value is arbitrary. */
static void fill(const struct rec_field *f, char *row)
{
    const double x = f->missing >= REC_IF_NAN && !rng_below(3) ? (double)NAN
                     : f->is_whole                             ? (double)rng_below(1000)
                                                               : any_double();
    const uint64_t whole = rng_u64() >> rng_below(64);
    const uint32_t half = (uint32_t)whole;
    const char *text = ANY(texts);
    const bool flag = whole & 1;

    switch (f->type) {
    case REC_NUMBER:
    case REC_DOUBLE:
        memcpy(row + f->offset, &x, sizeof x);
        break;
    case REC_U64:
        memcpy(row + f->offset, &whole, sizeof whole);
        break;
    case REC_U32:
        memcpy(row + f->offset, &half, sizeof half);
        break;
    case REC_BOOL:
        memcpy(row + f->offset, &flag, sizeof flag);
        break;
    case REC_TEXT:
        memcpy(row + f->offset, &text, sizeof text);
        break;
    case REC_CHARS:
        put_chars(row + f->offset, f->bytes, text);
        break;
    }
}

static void fill_reason(const struct rec_field *f, char *row)
{
    const char *reason = ANY(reasons);

    if (f->why_bytes)
        put_chars(row + f->why_offset, f->why_bytes, reason);
    else
        memcpy(row + f->why_offset, &reason, sizeof reason);
}

static bool has_reason(const struct rec_field *f, const char *row)
{
    const char *at = row + f->why_offset, *reason = at;

    if (!f->why_bytes)
        memcpy(&reason, at, sizeof(char *));
    return reason && *reason;
}

/* Fills all fields, which may share a reason, and gives a number to each NaN without a reason. */
static void fill_row(const struct rec_table *t, char *row)
{
    const size_t n = t->file.n_columns;

    for (size_t i = 0; i < n; i++) {
        const struct rec_field *f = rec_field_at(t, i);

        if (!f->derive)
            fill(f, row);
        if (f->missing == REC_IF_WHY || f->missing == REC_IF_NAN)
            fill_reason(f, row);
    }
    for (size_t i = 0; i < n; i++) {
        const struct rec_field *f = rec_field_at(t, i);
        const double x = any_double();

        if (f->missing == REC_IF_NAN && !f->derive && !has_reason(f, row))
            memcpy(row + f->offset, &x, sizeof x);
    }
}

static void round_trip(const struct rec_table *t, size_t n_rows)
{
    char *rows = calloc(n_rows, t->row_bytes), *first, *again;
    struct exp_why why = { "" };
    struct rec_rows read;

    CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
    for (size_t i = 0; i < n_rows; i++)
        fill_row(t, rows + i * t->row_bytes);
    test_check(!write_rows("1.csv", t, rows, n_rows), "%s cannot be written", t->file.name);
    test_check(!rec_read(&read, t, scratch_path("1.csv"), &why), "%s: %s", t->file.name, why.text);
    CU_ASSERT_EQUAL(read.n, n_rows);
    CU_ASSERT_EQUAL(write_rows("2.csv", t, read.row, read.n), 0);
    first = text_of("1.csv");
    again = text_of("2.csv");
    test_check(!strcmp(first, again), "%s is not the same when read and written", t->file.name);
    free(first);
    free(again);
    free(rows);
    rec_release(&read);
    scratch_clear();
}

/* Calls a function for every table named by a question's record, and for the table that is only read. */
static void with_tables(void (*look)(const struct rec_table *t, size_t n_rounds))
{
    size_t n = 0;

    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        for (const struct rec_table *const *t = (*q)->tables; *t; t++, n++)
            look(*t, test_rounds(50));
    }
    CU_ASSERT(n > 50);
    look(&exp_times_table, test_rounds(50));
}

static void test_round_trips(void)
{
    round_trip(&table, test_rounds(200));
    with_tables(round_trip);
}

/* Checks that a value lies in the row, and in no further field. */
static void check_place(const struct rec_table *t, size_t i)
{
    const struct rec_field *f = rec_field_at(t, i);

    test_check(f->offset + f->bytes <= t->row_bytes, "%s: %s is of another row", t->file.name, f->column.name);
    for (size_t k = 0; k < i; k++) {
        const struct rec_field *g = rec_field_at(t, k);

        test_check(g->derive || f->offset + f->bytes <= g->offset || g->offset + g->bytes <= f->offset,
                   "%s: %s and %s are the same number", t->file.name, f->column.name, g->column.name);
        test_check(strcmp(f->column.name, g->column.name) != 0, "%s: two columns %s", t->file.name, f->column.name);
    }
}

static void check_places(const struct rec_table *t, size_t n_rounds)
{
    (void)n_rounds;
    for (size_t k = 0; k < t->file.n_columns; k++) {
        if (!rec_field_at(t, k)->derive)
            check_place(t, k);
    }
}

static void test_places(void)
{
    with_tables(check_places);
}

/* ---- files that are no tables ---- */

static void refuses(const char *text, const char *words)
{
    struct exp_why why = { "" };
    struct rec_rows rows;

    test_check(rec_read(&rows, &table, scratch_text("t.csv", text), &why) == -EINVAL, "taken: %s", text);
    test_check(strstr(why.text, words) && !strchr(why.text, '\n'), "'%s' is not in '%s'", words, why.text);
    CU_ASSERT_PTR_NULL(rows.row);
    scratch_clear();
}

static void test_refused(void)
{
    refuses("name,label\n", "t.csv:1: column 3 must be 'loads', not ''");
    refuses("# c\nname,loads,label\n", "t.csv:2: column 2 must be 'label', not 'loads'");
    refuses("name,label,loads,lines,is_best,cold_ns,warm_ns,macs,macs_per_ns,low,high,more\n",
            "t.csv:1: unknown column, 'more'");
    refuses(HEADER "\nn,a,x,3,1,2,3,4,5,6,7\n", "t.csv:2: loads, 'x' is not a whole number >= 0");
    refuses(HEADER "\nn,a,1,4294967296,1,2,3,4,5,6,7\n", "t.csv:2: lines, '4294967296' is too large");
    refuses(HEADER "\nn,a,1,3,2,2,3,4,5,6,7\n", "t.csv:2: is_best, '2' is neither 0 nor 1");
    refuses(HEADER "\nn,a,1,3,1,nan,3,4,5,6,7\n", "t.csv:2: cold_ns, 'nan' is not a number");
    refuses(HEADER "\nn,a,1,3,1,2,3,,5,6,7\n", "t.csv:2: macs, '' is empty");
    refuses(HEADER "\nn,a,1,not available: x,1,2,3,4,5,6,7\n", "t.csv:2: lines, 'not available: x' is not a whole");
    refuses(HEADER "\nn,12345678,1,3,1,2,3,4,5,6,7\n", "t.csv:2: label, '12345678' is too long");
    refuses(HEADER "\nn,a,1,3,1,not available: x,3,4,5,6,7\n", "t.csv:2: is_best, '1' stands beside a reason why");
    refuses(HEADER "\nn,a,1,3,,,3,4,5,6,7\n", "t.csv:2: warm_ns, '3' stands beside a reason why");
    refuses(HEADER "\nn,a,1,3,,not available: x,3,4,5,6,7\n",
            "t.csv:2: cold_ns, 'not available: x' is missing for another");
    refuses(HEADER "\nn,a,1,3,1,2,3,4,5,6,not available: x\n",
            "t.csv:2: high, 'not available: x' is missing for another");
}

static void test_other_versions(void)
{
    const size_t needed[] = { offsetof(ROW, name), offsetof(ROW, time_ns[1]) };
    struct exp_why why = { "" };
    struct rec_rows rows;
    const struct row *row;

    CU_ASSERT_FATAL(!rec_read_some(&rows, &table, scratch_text("t.csv", "old,warm_ns,is_best,name\n1,2.5,1,conv1\n"),
                                   needed, COUNT(needed), &why));
    row = rows.row;
    CU_ASSERT_EQUAL(rows.n, 1);
    CU_ASSERT_STRING_EQUAL(row->name, "conv1");
    CU_ASSERT(row->time_ns[1] == 2.5 && isnan(row->time_ns[0]) && row->is_best && !row->loads && !*row->label);
    CU_ASSERT(rec_has(&rows.table, rec_field_of(&table, offsetof(ROW, is_best))));
    CU_ASSERT_FALSE(rec_has(&rows.table, rec_field_of(&table, offsetof(ROW, loads))));
    rec_release(&rows);
    CU_ASSERT_EQUAL(rec_read_some(&rows, &table, scratch_text("t.csv", "name\nconv1\n"), needed, COUNT(needed), &why),
                    -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "t.csv:1: column missing, 'warm_ns'"));
}

static const struct test_case cases[] = {
    { "cells are those of the row", test_cells },
    { "values are numbers or their own reasons", test_values },
    { "texts are written without what is no text", test_unclean_texts },
    { "a number that is none needs a reason", test_nan },
    { "members are numbers of any type, or missing", test_numbers },
    { "every table is the same when read and written", test_round_trips },
    { "every column has a place of its own", test_places },
    { "other files are refused", test_refused },
    { "files of other versions are read as far as known", test_other_versions },
    { NULL, NULL },
};

const struct test_suite suite_record = { "record", cases };
