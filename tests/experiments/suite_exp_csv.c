/* The CSV writer: a written file reads back; slips of the caller and failed writes are reported. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/csv.h"
#include "experiments/base/text.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const struct exp_csv_column columns[] = {
    { "layer", "", "name of the layer", "" },
    { "loads", "", "load instructions", "simulated" },
    { "time_ns", "ns", "median", "clock,\nmonotonic" },
};

/* All columns but the first may be missing. */
static struct exp_csv_kind kind_of(const struct exp_csv_column *c)
{
    return (struct exp_csv_kind){ c == columns ? "string" : "number", c != columns };
}

static const struct exp_csv_file all_columns = { "t.csv", columns, COUNT(columns), sizeof *columns, kind_of };
static const struct exp_csv_file one_column = { "t.csv", columns, 1, sizeof *columns, NULL };
static const struct exp_csv_file no_columns = { "t.csv", columns, 0, sizeof *columns, NULL };
static const struct exp_csv_file full_disk = { "full", columns, COUNT(columns), sizeof *columns, NULL };
static const struct exp_csv_file every_second = { "t.csv", columns, 2, 2 * sizeof *columns, NULL };

/* In a scratch folder, as the writer spells temporary names. */
static const char *temp_path(void)
{
    scratch_clear();
    return scratch_path("./t.csv");
}

/* Begins a file in a folder. */
static struct exp_csv *begin(const char *folder, const struct exp_csv_file *file)
{
    return exp_csv_begin(&(struct exp_outdir){ .path = (char *)(uintptr_t)folder }, file, NULL);
}

static void write_row(struct exp_csv *csv, const char *layer, uint64_t loads, double time_ns)
{
    exp_csv_string(csv, layer);
    exp_csv_u64(csv, loads);
    exp_csv_double(csv, time_ns);
    exp_csv_end_row(csv);
}

static void test_exact_text(void)
{
    static const char want[] =
        "# experiment: vgg16 on x\n"
        "# two: a b\n"
        "# column layer: name of the layer\n"
        "# column loads: load instructions (simulated)\n"
        "# column time_ns [ns]: median (clock, monotonic)\n"
        "# column why_missing: why cells are empty: columns joined by +, a colon, the reason; a bar divides reasons; "
        "x_* stands for names with x_\n"
        "layer,loads,time_ns,why_missing\n"
        "conv1_1,18446744073709551615,0.1,\n"
        "\"a, \"\"b\"\"\",,,loads: refused | time_ns: no PMU; none\n"
        "\"#1\",,1e+300,loads: refused\n";
    const char *path = temp_path();
    struct exp_csv *csv = begin(scratch_path("."), &all_columns);
    char text[1024] = "";
    struct exp_why why = { "" };
    FILE *in;

    exp_csv_header(csv, "experiment", "%s on %s", "vgg16", "x");
    exp_csv_header(csv, "two", "a\nb");
    write_row(csv, "conv1_1", UINT64_MAX, 0.1);
    exp_csv_string(csv, "a, \"b\"");
    exp_csv_missing(csv, "refused");
    exp_csv_missing(csv, "no PMU, none");
    exp_csv_end_row(csv);
    exp_csv_string(csv, "#1");
    exp_csv_missing(csv, "refused");
    exp_csv_double(csv, 1e300);
    exp_csv_end_row(csv);
    test_check(!exp_csv_close(csv, &why), "%s", why.text);
    in = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    CU_ASSERT_STRING_EQUAL(text, want);
}

/* columns.json has each table once, however often the table is written. */
static void test_schema(void)
{
    const char *path = (temp_path(), scratch_path(EXP_CSV_SCHEMA));
    const struct exp_csv_file *const files[] = { &all_columns, &every_second, &all_columns };
    struct exp_why why = { "" };
    char *text = NULL;
    size_t bytes;

    for (size_t i = 0; i < COUNT(files); i++)
        CU_ASSERT_EQUAL(exp_csv_close(begin(scratch_path("."), files[i]), &why), 0);
    test_check(!exp_text_read(&text, &bytes, path, &why), "%s", why.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    test_check(strstr(text, "\"path\": \"t.csv\"") && !strstr(strstr(text, "\"path\"") + 1, "\"path\""), "%s", text);
    test_check(strstr(text, "\"unit\": \"ns\"") && strstr(text, "\"why_missing\""), "%s", text);
    free(text);
}

static double random_double(void)
{
    double x = ldexp(rng_unit() - 0.5, (int)rng_range(-1070, 1023));

    return rng_below(4) ? x : (double)rng_range(-1000000, 1000000) / 1000.0;
}

static void random_text(char *text, size_t bytes)
{
    static const char letters[] = "ab,\"\n\r# \t'\\%;";
    size_t length = rng_below(bytes);

    for (size_t i = 0; i < length; i++)
        text[i] = letters[rng_below(sizeof letters - 1)];
    text[length] = '\0';
}

enum { N_ROWS = 200 };

struct random_row {
    char text[12];
    uint64_t loads;
    double time_ns;
};

static void check_rows(const struct exp_table *t, const struct random_row *row)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        struct exp_why why = { "" };
        uint64_t loads = 0;
        double time_ns = 0.0;

        exp_table_u64(t, i, 1, &loads, &why);
        exp_table_double(t, i, 2, &time_ns, &why);
        test_check(!strcmp(exp_table_string(t, i, 0), row[i].text), "row %zu: '%s'", i, row[i].text);
        test_check(loads == row[i].loads && time_ns == row[i].time_ns, "row %zu: %a %s", i, row[i].time_ns, why.text);
    }
}

static void test_reads_back(void)
{
    static const double edges[] = { 0.0, -0.0, DBL_MIN, DBL_MAX, DBL_EPSILON, 1.0 / 3.0, 4.9e-324 };
    const char *path = temp_path();
    struct exp_csv *csv = begin(scratch_path("."), &all_columns);
    struct random_row row[N_ROWS];
    struct exp_table t;
    struct exp_why why = { "" };

    for (size_t i = 0; i < N_ROWS; i++) {
        random_text(row[i].text, sizeof row[i].text);
        row[i].loads = rng_u64() >> rng_below(64);
        row[i].time_ns = i < COUNT(edges) ? edges[i] : random_double();
        write_row(csv, row[i].text, row[i].loads, row[i].time_ns);
    }
    test_check(!exp_csv_close(csv, &why), "%s", why.text);
    if (test_check(!exp_table_read(&t, path, &why), "%s", why.text)) {
        CU_ASSERT_EQUAL(t.n_rows, N_ROWS);
        check_rows(&t, row);
    }
    exp_table_release(&t);
}

static void test_lone_empty_field(void)
{
    const char *path = temp_path();
    struct exp_csv *csv = begin(scratch_path("."), &one_column);
    struct exp_table t;
    struct exp_why why = { "" };

    exp_csv_string(csv, "");
    exp_csv_end_row(csv);
    CU_ASSERT_EQUAL(exp_csv_close(csv, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_table_read(&t, path, &why), 0);
    CU_ASSERT_EQUAL(t.n_rows, 1);
    exp_table_release(&t);
}

static void slip_nan(struct exp_csv *csv)
{
    write_row(csv, "x", 1, (double)NAN);
}

static void slip_header(struct exp_csv *csv)
{
    write_row(csv, "x", 1, 1.0);
    exp_csv_header(csv, "late", "x");
}

struct slip_case {
    void (*run)(struct exp_csv *csv);
    const char *why; /* after the path */
};

static const struct slip_case slips[] = {
    { slip_nan, ": row 1: not a finite number, 'time_ns'" },
    { slip_header, ": row 2: a header line after the first row, 'late'" },
};

static void test_slips(void)
{
    for (size_t i = 0; i < COUNT(slips); i++) {
        const char *path = temp_path();
        struct exp_csv *csv = begin(scratch_path("."), &all_columns);
        struct exp_why why = { "" };
        int err;

        slips[i].run(csv);
        write_row(csv, "after", 1, 1.0); /* does not hide the first error */
        err = exp_csv_close(csv, &why);
        test_check(err == -EINVAL, "slip %zu: %d", i, err);
        test_check(!strncmp(why.text, path, strlen(path)) && !strcmp(why.text + strlen(path), slips[i].why),
                   "slip %zu: %s", i, why.text);
        scratch_clear();
    }
}

/* Writes to /dev/full, which takes no byte: with few rows the buffer hides the error until the end. */
static void check_full(size_t n_rows)
{
    struct exp_csv *csv = begin("/dev", &full_disk);
    struct exp_why why = { "" };

    for (size_t i = 0; i < n_rows; i++)
        write_row(csv, "conv", i, 1.0);
    CU_ASSERT_EQUAL(exp_csv_close(csv, &why), -ENOSPC);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot write '/dev/full': No space left on device");
}

static void test_full_disk(void)
{
    if (access("/dev/full", W_OK)) {
        test_skip("no /dev/full here");
        return;
    }
    check_full(0);
    check_full(1);
    check_full(100000);
}

/* Columns may be parts of a larger struct: the writer skips the bytes in between. */
static void test_stride(void)
{
    const char *path = temp_path();
    struct exp_csv *csv = begin(scratch_path("."), &every_second);
    struct exp_table t;
    struct exp_why why = { "" };

    exp_csv_string(csv, "a");
    exp_csv_double(csv, 2.5);
    exp_csv_end_row(csv);
    CU_ASSERT_EQUAL(exp_csv_close(csv, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_table_read(&t, path, &why), 0);
    CU_ASSERT(t.n_columns == 2 && !strcmp(t.column[1], "time_ns"));
    CU_ASSERT_STRING_EQUAL(exp_table_string(&t, 0, 1), "2.5");
    exp_table_release(&t);
}

static void test_open_errors(void)
{
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_csv_close(begin("no/such", &all_columns), &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot create 'no/such/t.csv': No such file or directory");
    CU_ASSERT_EQUAL(exp_csv_close(begin(".", &no_columns), &why), -EINVAL);
    CU_ASSERT_EQUAL(exp_csv_close(NULL, &why), 0);
}

static const struct test_case cases[] = {
    { "a file has exactly this text", test_exact_text },
    { "any text and number reads back as it was", test_reads_back },
    { "a lone empty field is still a row", test_lone_empty_field },
    { "numbers that are none and late headers are reported", test_slips },
    { "a full disk is reported", test_full_disk },
    { "columns.json has each table once", test_schema },
    { "columns may stand apart", test_stride },
    { "a file that cannot be created is reported", test_open_errors },
    { NULL, NULL },
};

const struct test_suite suite_exp_csv = { "exp_csv", cases };
