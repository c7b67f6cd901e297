/* Parts of a report's page: figures that are taken over, numbers, captions, answers. The page itself: report.sh. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/page/exp_page_answer.h"
#include "experiments/page/exp_page_captions.h"
#include "experiments/page/exp_page_coordinates.h"
#include "experiments/page/exp_page_data.h"
#include "experiments/page/exp_page_palette.h"
#include "experiments/page/exp_page_svg.h"
#include "experiments/page/exp_page_writer.h"
#include "tests/failing_alloc.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { TEXT_BYTES = 4096 };

/* ---- figures ---- */

/* Copies a drawing; what is written is in text. */
static int copy(const char *svg, char *text)
{
    char in[TEXT_BYTES];
    struct exp_page_palette palette = { .n = 0 };
    FILE *out = fmemopen(text, TEXT_BYTES, "w");
    int err;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    snprintf(in, sizeof in, "%s", svg);
    memset(text, 0, TEXT_BYTES);
    err = exp_page_svg_copy(in, "a label", &palette, out);
    fclose(out);
    return err;
}

#define SVG(content) "<?xml version=\"1.0\"?><svg width=\"10\" height=\"20\" viewBox=\"0 0 10 20\">" content "</svg>"
#define COPY(content)                                                                                                  \
    "<svg role=\"img\" class=\"plot\" width=\"10\" height=\"20\" viewBox=\"0 0 10 20\" aria-label=\"a "                \
    "label\">" content "</svg>\n"

static const struct {
    const char *what, *svg, *copy;
} drawings[] = {
    { "numbers lose digits", SVG("<path d='M95.00,294.04 L984.99,0.126  '/>"), COPY("<path d=\"M95,294L985,0.13\"/>") },
    { "empty groups go", SVG("<g fill='none' color='black'>\n</g><g><g></g></g>"), COPY("") },
    { "groups that say nothing go", SVG("<g stroke='currentColor'><path d='M1,2'/></g>"), COPY("<path d=\"M1,2\"/>") },
    { "others stay, around what they hold", SVG("<g color='white'><path d='M1,2'/></g>"),
      COPY("<g color=\"var(--card)\"><path d=\"M1,2\"/></g>") },
    { "colours are variables",
      SVG("<path stroke='rgb( 64,  64,  64)'/><path stroke='#0072b2'/><path stroke='rgb(0,114,178)' d='M1,1'/>"),
      COPY("<path stroke=\"var(--axis)\"/><path stroke=\"var(--k0)\"/><path stroke=\"var(--k0)\" d=\"M1,1\"/>") },
    { "bars of one colour are one path",
      SVG("<polygon fill='black' points='1,2 3,4 '/><polygon fill='black' points='5,6 7,8 '/><polygon fill='white' "
          "points='9,9'/>"),
      COPY("<path fill=\"var(--ink)\" d=\"M1,2 3,4zM5,6 7,8z\"/><path fill=\"var(--card)\" d=\"M9,9z\"/>") },
    { "points on each other are one",
      SVG("<g><use xlink:href='#gpPt6' x='1'/><use xlink:href='#gpPt6' x='1'/><use xlink:href='#gpPt6' x='2'/></g>"),
      COPY("<use href=\"#gpPt6\" x=\"1\"/><use href=\"#gpPt6\" x=\"2\"/>") },
    { "points of one colour and size are a group",
      SVG("<use xlink:href='#gpPt6' transform='translate(10,20) scale(2.00)' color='black'/>"
          "<use xlink:href='#gpPt6' transform='translate(11,20) scale(2.00)' color='black'/>"
          "<use xlink:href='#gpPt6' transform='translate(10,20) scale(4.00)' color='black'/>"),
      COPY("<g transform=\"scale(2)\"><use href=\"#gpPt6\" x=\"5\" y=\"10\"/><use href=\"#gpPt6\" x=\"5.5\" "
           "y=\"10\"/></g><g transform=\"scale(4)\"><use href=\"#gpPt6\" x=\"2.5\" y=\"5\"/></g>") },
    { "text stays as it is",
      SVG("<g font-family='x' stroke='none' text-anchor='end'><text>1.500 &lt;b&gt; &amp;</text></g>"),
      COPY("<g text-anchor=\"end\"><text>1.500 &lt;b&gt; &amp;</text></g>") },
    { "scripts do not pass", SVG("<script>alert(1)</script><g onload='x'><path d='M1,2' onclick='x'/></g>"),
      COPY("<path d=\"M1,2\"/>") },
    { "nor styles, pictures, links, other elements",
      SVG("<style>x</style><image href='http://x'/><a href='x'><text>kept "
          "not</text></a><foreignObject><b>x</b></foreignObject>"),
      COPY("") },
    { "nor values of another kind",
      SVG("<path d='url(x)' fill='url(#a)' stroke='javascript:x' transform='matrix(1)&quot;'/>"), COPY("<path/>") },
    { "nor references to anything but points",
      SVG("<use xlink:href='http://x/#gpPt1'/><use xlink:href='#other' x='1'/>"), COPY("<use/><use x=\"1\"/>") },
    { "what is left open is closed", SVG("<g color='white'><text>x</text>"),
      COPY("<g color=\"var(--card)\"><text>x</text></g>") },
};

static void test_drawings(void)
{
    char text[TEXT_BYTES];

    for (size_t i = 0; i < sizeof drawings / sizeof drawings[0]; i++) {
        CU_ASSERT_EQUAL(copy(drawings[i].svg, text), 0);
        test_check(!strcmp(text, drawings[i].copy), "%s: %s", drawings[i].what, text);
    }
    CU_ASSERT_EQUAL(copy("no drawing", text), -EINVAL);
    CU_ASSERT_EQUAL(copy("<svg><g>", text), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, "");
}

/* A drawing is whole, or it is refused: nothing of it is left out where memory runs out. */
static void test_memory(void)
{
    for (size_t i = 0; i < sizeof drawings / sizeof drawings[0]; i++) {
        size_t n_refused = 1;

        for (size_t after = 0; n_refused; after++) {
            char text[TEXT_BYTES];
            int err;

            failing_alloc_after(after);
            err = copy(drawings[i].svg, text);
            n_refused = failing_alloc_stop();
            test_check(err == (n_refused ? -ENOMEM : 0), "%s: %d after %zu allocations", drawings[i].what, err, after);
            CU_ASSERT(n_refused || !strcmp(text, drawings[i].copy));
        }
    }
}

/* A page is, too: whatever part of it could not be made. */
static void test_page_memory(void)
{
    size_t n_refused = 1;

    for (size_t after = 0; n_refused; after++) {
        struct exp_page_writer w;
        char text[TEXT_BYTES] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        int err;

        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        CU_ASSERT_EQUAL_FATAL(exp_page_markdown(&w, "a title", ""), 0);
        failing_alloc_after(after);
        exp_page_say(&w, EXP_PAGE_PARAGRAPH, "of %d words", 3);
        n_refused = failing_alloc_stop();
        err = w.ops->finish(&w, out);
        exp_page_release(&w);
        fclose(out);
        CU_ASSERT_EQUAL(err, n_refused ? -ENOMEM : 0);
        CU_ASSERT(n_refused || !strcmp(text, "# a title\nof 3 words\n\n"));
    }
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

/* What is no UTF-8 makes no page that is none. */
static void test_clean(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[256] = "";
        FILE *out = fmemopen(text, sizeof text, "w");

        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        exp_page_put_clean(texts[i].text, out);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, texts[i].clean);
    }
}

/* A deep drawing must not overrun anything. */
static void test_deep(void)
{
    enum { DEPTH = 500 };
    char svg[TEXT_BYTES] = "<svg>", text[TEXT_BYTES];

    for (size_t i = 0; i < DEPTH; i++)
        strcat(svg, "<g>");
    strcat(svg, "<path d='M1,2'/></svg>");
    CU_ASSERT_EQUAL(copy(svg, text), 0);
}

static void test_palette(void)
{
    struct exp_page_palette p = { .n = 0 };
    char text[256] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    unsigned rgb;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_page_palette_put(&p, 0x003959, out);
    exp_page_palette_put(&p, 0xffffff, out);
    exp_page_palette_print(&p, 0, out);
    exp_page_palette_print(&p, 1, out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "var(--k0)var(--card)--k0:#003959;--k0:#4c748a;");
    CU_ASSERT_FALSE(exp_page_palette_read("rgb(1,2,256)", &rgb));
    CU_ASSERT_FALSE(exp_page_palette_read("#12345", &rgb));
    CU_ASSERT_FALSE(exp_page_palette_read("red;x", &rgb));
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

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        exp_page_print_number(text, sizeof text, numbers[i].value, numbers[i].format);
        test_check(!strcmp(text, numbers[i].text), "%g: '%s', not '%s'", numbers[i].value, text, numbers[i].text);
    }
    exp_page_print_bytes(text, sizeof text, 13824);
    CU_ASSERT_STRING_EQUAL(text, "13.5 KiB");
    exp_page_print_bytes(text, sizeof text, 100);
    CU_ASSERT_STRING_EQUAL(text, "100 B");
}

/* ---- what files say ---- */

static void test_heads(void)
{
    struct exp_page_csv csv;
    char text[64], why[256] = "";

    scratch_open();
    scratch_text("t.csv",
                 "# commit: abc\n# commit of another: x\n# column a [ns]: time\na,b\n1,x\n,\"not available: y\"\n");
    CU_ASSERT_EQUAL_FATAL(exp_page_csv_read(&csv, "/nowhere", "t.csv", why, sizeof why), 0);
    CU_ASSERT_EQUAL(csv.table.n_rows, 0);
    CU_ASSERT_STRING_EQUAL(exp_page_csv_cell(&csv, 0, "a"), "");
    exp_page_csv_release(&csv);
    {
        char *folder = strdup(scratch_path("t.csv"));

        *strrchr(folder, '/') = '\0';
        CU_ASSERT_EQUAL_FATAL(exp_page_csv_read(&csv, folder, "t.csv", why, sizeof why), 0);
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
    scratch_close();
}

static void test_answers(void)
{
    char text[128];

    exp_page_answer_of("VERDICT for x (3 convolutions): sconv is\n    faster: 1.5x\nMeasured here.\n", 0, text,
                       sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "Sconv is faster: 1.5x");
    exp_page_answer_of("VERDICT for y: right\n  label      more\n", 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "Right");
    exp_page_answer_of("VERDICT for x: not timed\nBy misses\n    alone.\n\nx\n", 1, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "By misses alone.");
    exp_page_answer_of("Which is best?\nThe first.\nBy much.\n", 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "The first.");
    exp_page_answer_of("Which is best?\nNot timed.\nThe first.\n", 1, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "The first.");
    exp_page_answer_of("Which is best?\n\nx\n", 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    exp_page_answer_of("", 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
}

/* Every figure that a program draws has its caption. */
static void test_captions(void)
{
    static const char *const figures[] = { "miss_rates_model", "observed_vs_replayed", "judge_speedups",
                                           "peers_roofline",   "paper_figure8",        "paper_figure9",
                                           "study_tilings",    "compare_layers",       "speedup_layers",
                                           "peers_speedups",   "simulated_vs_measured" };
    struct exp_page_captions c;
    char why[256] = "";

    CU_ASSERT_EQUAL_FATAL(exp_page_captions_read(&c, "experiments/figures", why, sizeof why), 0);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct exp_page_caption *caption = exp_page_captions_find(&c, figures[i]);

        test_check(caption && *caption->question && *caption->reading, "%s has no caption", figures[i]);
    }
    CU_ASSERT_PTR_NULL(exp_page_captions_find(&c, "figure of `make experiment`"));
    exp_page_captions_release(&c);
    CU_ASSERT_EQUAL(exp_page_captions_read(&c, "nowhere", why, sizeof why), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "nowhere/README.md"));
}

static const struct test_case cases[] = {
    { "drawings: what passes, and how", test_drawings },
    { "drawings: deeper ones than any of ours do no harm", test_deep },
    { "drawings: where memory runs out, there is none", test_memory },
    { "page: where memory runs out, there is none", test_page_memory },
    { "page: bytes that are no UTF-8, and turned text, are replaced", test_clean },
    { "colours follow the screen", test_palette },
    { "numbers are written for people", test_numbers },
    { "heads of tables are read, and cells that are not there", test_heads },
    { "a verdict's first sentence is its answer", test_answers },
    { "figures have captions", test_captions },
    { NULL, NULL },
};

const struct test_suite suite_page = { "page", cases };
