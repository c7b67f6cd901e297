/* The CSV reader: valid input, and a line for each kind of bad input. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/csv.h"
#include "experiments/base/text.h"
#include "tests/rng.h"
#include "tests/suites.h"

static int parse(struct exp_table *t, const char *text, struct exp_why *why)
{
    return exp_table_parse(t, "t.csv", text, strlen(text), why);
}

struct reading {
    const char *text;
    size_t n_columns, n_rows;
    const char *fields; /* all fields of all rows, joined by '|' */
};

static const struct reading readings[] = {
    { "a,b\n1,2\n", 2, 1, "1|2" },
    { "a,b\n1,2", 2, 1, "1|2" },
    { "a,b\r\n1,2\r\n3,4", 2, 2, "1|2|3|4" },
    { "a,b\r\n1,2\r", 2, 1, "1|2" },
    { "a,b\r1,2\r\r3,4", 2, 2, "1|2|3|4" },
    { "a\xc2\xa0,b\n\xc2\xa0"
      "1,2\xe2\x80\xaf\t\n\xe3\x80\x80\n",
      2, 1, "1|2" },
    { "a,b\nx\xc2\xa0y,\"\xc2\xa0z\"\n", 2, 1, "x\xc2\xa0y|\xc2\xa0z" },
    { "\xef\xbb\xbf\xef\xbb\xbf# comment\ra,b", 2, 0, "" },
    { "# comment, with comma\n\n  \t\na,b\n#1,2\n  # 5\n3,4\n\n", 2, 1, "3|4" },
    { "\xef\xbb\xbf"
      "a,b\n1,2\n",
      2, 1, "1|2" },
    { " a , b \n 1 ,\t2 \n", 2, 1, "1|2" },
    { "a,b\n,\n", 2, 1, "|" },
    { "a\nx\n\"\"\n", 1, 2, "x|" },
    { "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", 2, 1, "x,y|say \"hi\"" },
    { "a,b\n\"two\r\nlines\" , \" kept \" \n3,4\n", 2, 2, "two\r\nlines| kept |3|4" },
    { "a,b\n\"#1\",2\n", 2, 1, "#1|2" },
    { "a,b\n1,#2\n", 2, 1, "1|#2" },
    { "\"a,1\",b\n1,\"2\"", 2, 1, "1|2" },
    { "a\n", 1, 0, "" },
    { "a,b,why_missing\n1,2,\n,4,\n,,a: x; y: z | b: w\n", 2, 3, "1|2||4|not available: x; y: z|not available: w" },
    { "a,a_b,a_c,d,why_missing\n1,,,,a_*+d+e: no\n,,,,a_c: yes | a*: no\n", 4, 2,
      "1|not available: no|not available: no|not available: no|"
      "not available: no|not available: no|not available: yes|" },
    { "a,why_missing,b\n,a: x,\n", 3, 1, "|a: x|" },
    { "a,b,why_missing\n1,2,a: x\n,,*: x\n,,+:: y\n", 2, 3, "1|2|not available: x|not available: x||" },
    { "why_missing\nx\n", 1, 1, "x" },
};

static void join_fields(const struct exp_table *t, char *out, size_t bytes)
{
    *out = '\0';
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
        size_t used = strlen(out);

        snprintf(out + used, bytes - used, "%s%s", i ? "|" : "", t->field[i]);
    }
}

static void test_readings(void)
{
    for (size_t i = 0; i < COUNT(readings); i++) {
        const struct reading *r = &readings[i];
        struct exp_table t;
        char fields[256];
        struct exp_why why = { "" };
        int err = parse(&t, r->text, &why);

        if (!test_check(!err, "case %zu: %s", i, why.text))
            continue;
        join_fields(&t, fields, sizeof fields);
        test_check(t.n_columns == r->n_columns && t.n_rows == r->n_rows && !strcmp(fields, r->fields),
                   "case %zu: %zu columns, %zu rows, '%s' instead of '%s'", i, t.n_columns, t.n_rows, fields,
                   r->fields);
        exp_table_release(&t);
    }
}

struct refusal {
    const char *text, *why;
};

static const struct refusal refusals[] = {
    { "", "t.csv:1: no header line, the file has no content" },
    { "# only\n\n", "t.csv:3: no header line, the file has no content" },
    { "a,b\n1\n", "t.csv:2: b, missing (the row has 1 fields, the header 2)" },
    { "a,b\n1,2\n3,4,5\n", "t.csv:3: a field too many, '5' (the row has 3, the header 2)" },
    { "a,b,a\n", "t.csv:1: column named twice, 'a'" },
    { "#\na,,b\n", "t.csv:2: column 2 has no name, ''" },
    { "a,b\n1,\"2\n3,4\n", "t.csv:2: a quote is not closed, '2 3,4 '" },
    { "a,b\n\"1\"x,2\n", "t.csv:2: text after a closing quote, 'x'" },
    { "a,b\n1x\"y\",2\n", "t.csv:2: a quote inside an unquoted field, after, '1x'" },
    { "a,b\n1\r2,3\n", "t.csv:2: b, missing (the row has 1 fields, the header 2)" },
    { "a;b\n1;2,5\n", "t.csv:1: columns are separated by commas, is ';' a separator here?" },
    { "a\tb\n1\t2,5\n", "t.csv:1: columns are separated by commas, is 'tab' a separator here?" },
    { "a,b,\n1,2,\n", "t.csv:1: column 3 has no name, ''" },
    { "\xff\xfe"
      "a",
      "t.csv:1: the text is in UTF-16, save it as UTF-8: iconv -f UTF-16 -t UTF-8" },
    { "a,why_missing\n1,x\n", "t.csv:2: why_missing does not read 'columns: reason', 'x'" },
    { "a,why_missing\n1,\n,a: x | y\n", "t.csv:3: why_missing does not read 'columns: reason', 'a: x | y'" },
    { "a,b\n\"x\ny\",2\n1\n", "t.csv:4: b, missing (the row has 1 fields, the header 2)" },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct exp_table t;
        struct exp_why why = { "" };
        int err = parse(&t, refusals[i].text, &why);

        test_check(err == -EINVAL && !strcmp(why.text, refusals[i].why), "case %zu: %d, '%s'", i, err, why.text);
        exp_table_release(&t);
    }
}

static void test_nul(void)
{
    static const char text[] = "a\n1\n\0\n";
    struct exp_table t;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_table_parse(&t, "t.csv", text, sizeof text - 1, &why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why.text, "t.csv:3: a NUL byte, this is no text file");
}

/* Files of foreign systems are refused by kind and line: UTF-16 with and without a mark, and data that are no text. */
static void test_encodings(void)
{
    static const struct {
        const char *text;
        size_t bytes;
        int err;
        const char *why;
    } texts[] = {
        { "a\0,\0b\0\n\0", 8, -EINVAL, "t.csv:1: the text is in UTF-16" },
        { "\0a\0,\0b\0\n", 8, -EINVAL, "t.csv:1: the text is in UTF-16" },
        { "\xfe\xff\0a", 4, -EINVAL, "t.csv:1: the text is in UTF-16" },
        { "a,b\n1,\0", 7, -EINVAL, "t.csv:2: a NUL byte, this is no text file" },
        { "a,b\n\"1\",2", 9, 0, "" },
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct exp_table t;
        struct exp_why why = { "" };
        int err = exp_table_parse(&t, "t.csv", texts[i].text, texts[i].bytes, &why);

        test_check(err == texts[i].err && !strncmp(why.text, texts[i].why, strlen(texts[i].why)), "case %zu: %d, '%s'",
                   i, err, why.text);
        exp_table_release(&t);
    }
}

/* All blanks become spaces and all line ends LF; nothing else changes. */
static void test_plain_text(void)
{
    char text[] = "a\xc2\xa0"
                  "b\tc\r\nd\re\n\r\xe2\x80\x89\xc3\xa9\xe2\x82\xac";
    size_t bytes = sizeof text - 1;

    exp_text_plain(text, &bytes);
    CU_ASSERT_STRING_EQUAL(text, "a b\tc\nd\ne\n\n \xc3\xa9\xe2\x82\xac");
    CU_ASSERT_EQUAL(bytes, strlen(text));
    CU_ASSERT_EQUAL(exp_text_trimmed("a \xc2\xa0\t\xe3\x80\x80", 8), 1);
    CU_ASSERT_EQUAL(exp_text_trimmed(" \xc2\xa0", 3), 0);
    CU_ASSERT_EQUAL(exp_text_trimmed("\xc3\xa0", 2), 2);
}

static void test_files(void)
{
    struct exp_table t;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_table_read(&t, "no/such.csv", &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot open 'no/such.csv': No such file or directory");
    CU_ASSERT_EQUAL(exp_table_read(&t, "/", &why), -EISDIR);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot read '/': Is a directory");
    CU_ASSERT_EQUAL(exp_table_read(&t, "/dev/zero", &why), -EINVAL);
    CU_ASSERT_EQUAL(exp_table_read(&t, "/dev/null", &why), -EINVAL);
    exp_table_release(&t);
}

static void test_columns_and_lines(void)
{
    struct exp_table t;
    struct exp_why why = { "" };
    size_t column = 99;

    CU_ASSERT_EQUAL_FATAL(parse(&t, "# c\na,b\n1,2\n\n\"x\ny\",4\n5,6\n", &why), 0);
    CU_ASSERT_EQUAL(exp_table_column(&t, "b", &column, &why), 0);
    CU_ASSERT_EQUAL(column, 1);
    CU_ASSERT_EQUAL(exp_table_column(&t, "B", &column, &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why.text, "t.csv:2: column missing, 'B'");
    CU_ASSERT_EQUAL(t.line[0], 3);
    CU_ASSERT_EQUAL(t.line[1], 5);
    CU_ASSERT_EQUAL(t.line[2], 7);
    exp_table_release(&t);
}

struct number {
    const char *text;
    int u64_err, double_err;
    uint64_t u64;
    double real;
};

static const struct number numbers[] = {
    { "0", 0, 0, 0, 0.0 },
    { "007", 0, 0, 7, 7.0 },
    { "18446744073709551615", 0, 0, UINT64_MAX, 18446744073709551615.0 },
    { "18446744073709551616", -ERANGE, 0, 0, 18446744073709551616.0 },
    { "", -EINVAL, -EINVAL, 0, 0.0 },
    { "-1", -EINVAL, 0, 0, -1.0 },
    { "+1", -EINVAL, 0, 0, 1.0 },
    { "1.5", -EINVAL, 0, 0, 1.5 },
    { "1e3", -EINVAL, 0, 0, 1000.0 },
    { "1e999", -EINVAL, -ERANGE, 0, 0.0 },
    { "0x10", -EINVAL, -EINVAL, 0, 0.0 },
    { "12x", -EINVAL, -EINVAL, 0, 0.0 },
    { "1 2", -EINVAL, -EINVAL, 0, 0.0 },
    { "nan", -EINVAL, -EINVAL, 0, 0.0 },
    { "inf", -EINVAL, -EINVAL, 0, 0.0 },
    { "e", -EINVAL, -EINVAL, 0, 0.0 },
};

static void test_numbers(void)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct number *n = &numbers[i];
        struct exp_table t;
        char text[64];
        struct exp_why why = { "" };
        uint64_t u64 = 42;
        double real = 42.0;

        snprintf(text, sizeof text, "v\n\"%s\"\n", n->text);
        CU_ASSERT_EQUAL_FATAL(parse(&t, text, &why), 0);
        test_check(exp_table_u64(&t, 0, 0, &u64, &why) == n->u64_err, "'%s' as u64: %s", n->text, why.text);
        test_check(u64 == (n->u64_err ? 42 : n->u64), "'%s' as u64: %llu", n->text, (unsigned long long)u64);
        test_check(exp_table_double(&t, 0, 0, &real, &why) == n->double_err, "'%s' as double: %s", n->text, why.text);
        test_check(real == (n->double_err ? 42.0 : n->real), "'%s' as double: %g", n->text, real);
        exp_table_release(&t);
    }
}

static void test_number_messages(void)
{
    struct exp_table t;
    struct exp_why why = { "" };
    uint64_t value;

    CU_ASSERT_EQUAL_FATAL(parse(&t, "in_c,in_h\n1,2\n3,12x\n99999999999999999999,\n", &why), 0);
    exp_table_u64(&t, 1, 1, &value, &why);
    CU_ASSERT_STRING_EQUAL(why.text, "t.csv:3: in_h, '12x' is not a whole number >= 0");
    exp_table_u64(&t, 2, 0, &value, &why);
    CU_ASSERT_STRING_EQUAL(why.text, "t.csv:4: in_c, '99999999999999999999' is too large");
    exp_table_u64(&t, 2, 1, &value, &why);
    CU_ASSERT_STRING_EQUAL(why.text, "t.csv:4: in_h, '' is empty");
    exp_table_release(&t);
}

/* Every prefix and every single-byte damage of a valid table: an error or a consistent table, never a crash. */
static void test_damaged(void)
{
    static const char text[] = "# c\r\na,\"b\"\"\",c,why_missing\n1,\"x,\ny\",3,\n\"4\",,,a+c: no | *: yes\n";
    static const char junk[] = { '"', ',', '\n', '\r', '#', ' ', 'x', '\0', ':', '|', '+', '*' };

    for (unsigned round = 0; round < test_rounds(2000); round++) {
        struct exp_table t;
        char copy[sizeof text];
        struct exp_why why = { "" };
        size_t bytes = rng_below(sizeof text);

        memcpy(copy, text, sizeof text);
        for (unsigned i = 0; i < 3 && bytes; i++)
            copy[rng_below(bytes)] = junk[rng_below(sizeof junk)];
        if (exp_table_parse(&t, "t.csv", copy, bytes, &why)) {
            test_check(*why.text, "round %u: an error without a line", round);
        } else {
            for (size_t i = 0; i < t.n_rows * t.n_columns; i++)
                test_check(strlen(t.field[i]) < sizeof text + strlen(EXP_CSV_MISSING), "round %u: field %zu", round, i);
        }
        exp_table_release(&t);
    }
}

static const struct test_case cases[] = {
    { "texts in other encodings are named", test_encodings },
    { "blanks and line ends of other systems are made plain", test_plain_text },
    { "quotes, comments, line ends, blanks and a byte order mark are read", test_readings },
    { "each malformed table is refused with its line", test_refusals },
    { "a NUL byte is refused", test_nul },
    { "files that are missing, folders, endless or empty are refused", test_files },
    { "columns are found by name and rows know their lines", test_columns_and_lines },
    { "numbers are taken whole or refused", test_numbers },
    { "a bad number is reported with file, line, column and value", test_number_messages },
    { "random damage gives an error or a table", test_damaged },
    { NULL, NULL },
};

const struct test_suite suite_exp_table = { "exp_table", cases };
