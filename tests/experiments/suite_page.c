/* Parts of a report's page: embedded figures, numbers, captions, answers. The page itself: report.sh. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/page.h"
#include "experiments/show/page_bars.h"
#include "tests/failing_alloc.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { TEXT_BYTES = 65536 };

/* Begins a page; exp_page_finish writes from *out to text. */
static FILE *begin_page(struct exp_page_writer *w, char text[TEXT_BYTES])
{
    FILE *out;

    memset(text, 0, TEXT_BYTES);
    out = fmemopen(text, TEXT_BYTES, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_page_begin(w, "a title");
    return out;
}

/* ---- figures ---- */

#define SVG "<?xml version=\"1.0\"?>\n<svg>\n\t<path d='M1,2' fill=\"#12%\"/>\n<text>a  &amp; \xc3\xa9</text></svg>\n"
#define AS_ADDRESS                                                                                                     \
    "data:image/svg+xml;charset=utf-8,<?xml version=%221.0%22?> <svg> <path d='M1,2' fill=%22%2312%25%22/> "           \
    "<text>a %26amp; %C3%A9</text></svg> \">"

/* Figures: the file in the folder, and the text on the page. */
static const struct {
    const char *what, *file, *content, *on_page;
} embedded[] = {
    { "an SVG is an address without what would end it", "x.svg", SVG,
      "<img class=plot alt=\"a &lt;figure&gt;\" src=\"" AS_ADDRESS },
    { "a PNG is there in base64", "x.png", "\x89PNG\r\n\x1a\nab", "src=\"data:image/png;base64,iVBORw0KGgphYg==\">" },
    { "what is no picture is not embedded", "x.svg", "<script>", "This figure could not be read: No such file" },
    { "nor is what is none by its beginning", "x.png", "GIF89a", "This figure could not be read: Invalid argument" },
    { "where nothing is, that is said", "y.svg", SVG, "This figure could not be read: No such file" },
};

static void test_figures(void)
{
    for (size_t i = 0; i < COUNT(embedded); i++) {
        struct exp_page_writer w;
        char text[TEXT_BYTES], *folder;
        FILE *out;

        scratch_text(embedded[i].file, embedded[i].content);
        folder = strdup(scratch_path(embedded[i].file));
        *strrchr(folder, '/') = '\0';
        out = begin_page(&w, text);
        exp_page_figure(
            &w, &(struct exp_page_figure){ .folder = folder, .name = "x", .title = "a <figure>", .caption = "" });
        CU_ASSERT_EQUAL(exp_page_finish(&w, out), 0);
        exp_page_release(&w);
        fclose(out);
        free(folder);
        test_check(strstr(text, embedded[i].on_page) != NULL, "%s: %s", embedded[i].what, strstr(text, "<figure>"));
        scratch_clear();
    }
}

static void say_words(void *w)
{
    exp_page_say(w, EXP_PAGE_PARAGRAPH, "of %d words", 3);
}

/* A page is whole, or the program ends. */
static void test_page_memory(void)
{
    struct exp_page_writer w;
    char text[TEXT_BYTES];
    FILE *out = begin_page(&w, text);
    size_t after = 0;

    while (failing_alloc_ends(after, say_words, &w))
        after++;
    CU_ASSERT(after > 0);
    say_words(&w);
    CU_ASSERT_EQUAL(exp_page_finish(&w, out), 0);
    exp_page_release(&w);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<main>\n<p>of 3 words</p>\n</main>"));
}

/* Writes a chart with a time of Base, of a slow algorithm, and of an algorithm without a time. */
static void put_chart(struct exp_page_writer *w)
{
    struct exp_page_bars c = { .title = "t", .caption = "c", .unit = "ms", .rate_unit = "r", .saves_title = "s" };
    struct exp_page_bar_group *g = exp_page_bars_group(&c, "a<b");
    struct exp_page_bar *b = exp_page_bars_bar(g, "base");

    b->value = 2;
    b->low = 1.5;
    b->high = 2.5;
    b->part[0] = 3;
    b->part[5] = 1;
    exp_page_bars_bar(g, "slow\"er")->value = 100;
    exp_page_bars_bar(g, "none")->why = "it \"refuses\"";
    exp_page_bars_write(w, &c);
    exp_page_bars_release(&c);
}

/* A chart has the shapes and the numbers of all bars, cuts a bar of a far slower algorithm, and escapes names. */
static void test_bars(void)
{
    static const char *const there[] = {
        "<h5>a&lt;b <small>",
        "data-v=\"2,1.5,2.5,,,,,\" data-s=\"3,0,0,0,0,1,0,0\"><b>Base</b>",
        "<rect class=k y=2 height=12 width=33.33% />",                             /* of three times Base */
        "<line class=i y1=8 y2=8 x1=25% x2=41.67% />",                             /* the interval */
        "<rect class=p0 y=15 height=6 x=0% width=25% />",                          /* three quarters */
        "<rect class=k y=2 height=12 width=100% /><rect class=cut x=96% width=1%", /* the slow bar */
        "data-a=\"slow&quot;er\"",
        "<small>it &quot;refuses&quot;</small>",
        "<span>\xe2\x80\x93</span>",
    };
    struct exp_page_writer w;
    char text[TEXT_BYTES];
    FILE *out = begin_page(&w, text);

    put_chart(&w);
    CU_ASSERT_EQUAL(exp_page_finish(&w, out), 0);
    exp_page_release(&w);
    fclose(out);
    for (size_t i = 0; i < COUNT(there); i++)
        test_check(strstr(text, there[i]) != NULL, "%s: %s", there[i], strstr(text, "<figure"));
}

static const struct {
    const char *text, *clean;
} texts[] = {
    { "plain, \xc3\xa9, \xe2\x80\x93, \xf0\x9f\x98\x80", "plain, \xc3\xa9, \xe2\x80\x93, \xf0\x9f\x98\x80" },
    { "\xff<", "\xef\xbf\xbd<" },
    { "cut: \xe2\x80", "cut: \xef\xbf\xbd\xef\xbf\xbd" },
    { "too long: \xc0\xaf", "too long: \xef\xbf\xbd\xef\xbf\xbd" },
    { "half of a pair: \xed\xa0\x80", "half of a pair: \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "beyond: \xf4\x90\x80\x80", "beyond: \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "turned: \xe2\x80\xae"
      "fdp",
      "turned: \xef\xbf\xbd"
      "fdp" },
};

/* Texts that are no UTF-8 make a valid page. */
static void test_clean(void)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[256] = "";
        FILE *out = fmemopen(text, sizeof text, "w");

        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        exp_page_put_clean(texts[i].text, out);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, texts[i].clean);
    }
}

/* Title, contents and text may have names from the results: also names that are no UTF-8. */
static void test_clean_page(void)
{
    static const char name[] = "name \xff";
    struct exp_page_writer w;
    char *text = NULL, *at;
    size_t bytes, n = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_page_begin(&w, name);
    exp_page_open(&w, &(struct exp_page_section){ .level = EXP_PAGE_CHAPTER, .id = "x", .title = name });
    exp_page_text(&w, EXP_PAGE_PARAGRAPH, name);
    exp_page_close(&w);
    CU_ASSERT_EQUAL(exp_page_finish(&w, out), 0);
    exp_page_release(&w);
    fclose(out);
    CU_ASSERT_PTR_NULL(memchr(text, 0xff, bytes));
    for (at = text; (at = strstr(at, "name \xef\xbf\xbd")); at++)
        n++;
    test_check(n >= 5, "%zu of: title twice, contents, heading, paragraph", n);
    free(text);
}

/* ---- numbers ---- */

static void test_numbers(void)
{
    static const struct {
        double value;
        enum exp_page_format format;
        const char *text;
    } numbers[] = {
        { 1234567, EXP_PAGE_WHOLE,
          "1\xe2\x80\xaf"
          "234\xe2\x80\xaf"
          "567" },
        { 1234, EXP_PAGE_WHOLE, "1234" },
        { -12345, EXP_PAGE_WHOLE,
          "\xe2\x88\x92"
          "12\xe2\x80\xaf"
          "345" },
        { 0, EXP_PAGE_DECIMAL, "0.00" },
        { 1.525, EXP_PAGE_DECIMAL, "1.52" },
        { 15.25, EXP_PAGE_DECIMAL, "15.2" },
        { 0.0123, EXP_PAGE_DECIMAL, "0.012" },
        { 0.0001, EXP_PAGE_DECIMAL, "1.0e-04" },
        { (double)NAN, EXP_PAGE_DECIMAL, "" },
    };
    char text[64];

    for (size_t i = 0; i < COUNT(numbers); i++) {
        exp_page_print_number(text, sizeof text, numbers[i].value, numbers[i].format);
        test_check(!strcmp(text, numbers[i].text), "%g: '%s', not '%s'", numbers[i].value, text, numbers[i].text);
    }
    exp_page_print_bytes(text, sizeof text, 13824);
    CU_ASSERT_STRING_EQUAL(text, "13.5 KiB");
    exp_page_print_bytes(text, sizeof text, 100);
    CU_ASSERT_STRING_EQUAL(text, "100 B");
}

/* ---- heads of files ---- */

static void test_heads(void)
{
    struct exp_page_csv csv;
    char text[64];
    struct exp_why why = { "" };

    scratch_text("t.csv",
                 "# commit: abc\n# commit of another: x\n# column a [ns]: time\na,b\n1,x\n,\"not available: y\"\n");
    CU_ASSERT_EQUAL_FATAL(exp_page_csv_read(&csv, "/nowhere", "t.csv", &why), 0);
    CU_ASSERT_EQUAL(csv.table.n_rows, 0);
    CU_ASSERT_STRING_EQUAL(exp_page_csv_cell(&csv, 0, "a"), "");
    exp_page_csv_release(&csv);
    {
        char *folder = strdup(scratch_path("t.csv"));

        *strrchr(folder, '/') = '\0';
        CU_ASSERT_EQUAL_FATAL(exp_page_csv_read(&csv, folder, "t.csv", &why), 0);
        free(folder);
    }
    exp_page_csv_said(&csv, "commit", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "abc");
    exp_page_csv_said(&csv, "date", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_DOUBLE_EQUAL(exp_page_csv_number(&csv, 0, "a"), 1, 0);
    CU_ASSERT(isnan(exp_page_csv_number(&csv, 1, "b")));
    CU_ASSERT_STRING_EQUAL(exp_page_csv_cell(&csv, 2, "a"), "");
    CU_ASSERT_STRING_EQUAL(exp_page_csv_cell(&csv, 0, "c"), "");
    exp_page_csv_release(&csv);
}

static void test_answers(void)
{
    static const struct {
        const char *verdict;
        size_t before;
        const char *want;
    } answers[] = {
        { "VERDICT for x (3 convolutions): on this computer:\n    1.5x\nMeasured here.\n", 0,
          "On this computer: 1.5x" },
        { "resnet18, im2col: 1.5x\n", 0, "resnet18, im2col: 1.5x" }, /* a name keeps its case */
        { "VERDICT for y: right\n  label      more\n", 0, "Right" },
        { "VERDICT for x: not timed\nBy misses\n    alone.\n\nx\n", 1, "By misses alone." },
        { "Which is best?\nThe first.\nBy much.\n", 0, "The first." },
        { "Which is best?\nNot timed.\nThe first.\n", 1, "The first." },
        { "Which is best?\n\nx\n", 0, "" },
        { "", 0, "" },
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        char text[128];

        exp_page_answer_of(answers[i].verdict, answers[i].before, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, answers[i].want);
    }
}

/* Every figure of a program has its caption. */
static void test_captions(void)
{
    static const char *const figures[] = { "miss_rates_model", "observed_vs_replayed", "judge_speedups",
                                           "peers_roofline",   "paper_figure8",        "paper_figure9",
                                           "study_tilings",    "compare_layers",       "speedup_layers",
                                           "peers_speedups",   "simulated_vs_measured" };
    struct exp_page_caption c;
    struct exp_why why = { "" };

    for (size_t i = 0; i < COUNT(figures); i++) {
        CU_ASSERT_EQUAL_FATAL(exp_page_caption_read(&c, "experiments/figures", figures[i], &why), 0);
        test_check(c.question && *c.question && *c.reading, "%s has no caption", figures[i]);
        exp_page_caption_release(&c);
    }
    CU_ASSERT_EQUAL_FATAL(exp_page_caption_read(&c, "experiments/figures", "miss_rates_model", &why), 0);
    test_check(strstr(c.reading, "of the caches alone where the machine has more than caches"),
               "lines of a caption are joined");
    exp_page_caption_release(&c);
    CU_ASSERT_EQUAL(exp_page_caption_read(&c, "experiments/figures", "common", &why), 0);
    CU_ASSERT_PTR_NULL(c.question);
    CU_ASSERT_EQUAL(exp_page_caption_read(&c, "nowhere", "common", &why), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "nowhere/common.gp"));
}

static const struct test_case cases[] = {
    { "figures are embedded as they are", test_figures },
    { "page: where memory runs out, there is none", test_page_memory },
    { "page: a chart has the shapes and numbers of its bars", test_bars },
    { "page: bytes that are no UTF-8, and turned text, are replaced", test_clean },
    { "page: they are in no part of it", test_clean_page },
    { "numbers are written for people", test_numbers },
    { "heads of tables are read, and cells that are not there", test_heads },
    { "a verdict's first sentence is its answer", test_answers },
    { "figures have captions", test_captions },
    { NULL, NULL },
};

const struct test_suite suite_page = { "page", cases };
