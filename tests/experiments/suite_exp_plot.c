/* Running gnuplot: gnuplot's message reaches the user as one line, and no half-drawn file is left. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/plot_data.h"
#include "experiments/base/text.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* The scratch folder with a script, and perhaps with a program that calls itself gnuplot; PATH as it was before. */
struct fixture {
    char top[64], script[96], output[96];
    char *path;
};

/* Makes the folder. fake is the text of a shell script in place of gnuplot, NULL for the real gnuplot. */
static void set_up(struct fixture *f, const char *script, const char *fake)
{
    char path[4096];

    snprintf(f->top, sizeof f->top, "%s", scratch_path("."));
    snprintf(f->script, sizeof f->script, "%s", scratch_text("x.gp", script));
    snprintf(f->output, sizeof f->output, "%s", scratch_path("x.png"));
    f->path = strdup(getenv("PATH"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->path);
    if (fake) {
        chmod(scratch_text("gnuplot", fake), 0755);
        snprintf(path, sizeof path, "%s:%s", f->top, f->path);
        setenv("PATH", path, 1);
    }
}

static bool exists(const char *name)
{
    return !access(scratch_path(name), F_OK);
}

static void tear_down(struct fixture *f)
{
    setenv("PATH", f->path, 1);
    free(f->path);
    scratch_clear();
}

static bool has_gnuplot(void)
{
    return !system("command -v gnuplot >/dev/null 2>&1");
}

struct fake_case {
    const char *fake; /* shell script; the variables' text is $3, the script's path $4 */
    int err;
    const char *why;
};

static const struct fake_case fake_cases[] = {
    { "#!/bin/sh\necho >&2; echo 'set foo' >&2; echo '    ^' >&2; echo '\"x.gp\" line 3: unrecognized option ' >&2; "
      "echo >&2; exit 1\n",
      -EIO, "gnuplot failed: \"x.gp\" line 3: unrecognized option" },
    { "#!/bin/sh\nexit 5\n", -EIO, "gnuplot failed: " },
    { "#!/bin/sh\necho 'timing is off' >&2; exit 77\n", -ENODATA, "timing is off" },
    { "#!/bin/sh\nexit 77\n", -ENODATA, "nothing to draw" },
    { "#!/bin/sh\nexit 0\n", -EIO, "gnuplot wrote no complete png file" },
    { "#!/bin/sh\neval \"$3\"; printf 'half a picture, long enough' >\"$output\"; exit 0\n", -EIO,
      "gnuplot wrote no complete png file" },
    { "#!/bin/sh\nkill -TERM $$\n", -EINTR, "gnuplot was ended by signal 15" },
};

static void test_failures(void)
{
    for (size_t i = 0; i < COUNT(fake_cases); i++) {
        const struct fake_case *c = &fake_cases[i];
        struct fixture f;
        struct exp_why why = { "" };
        int err;

        set_up(&f, "", c->fake);
        err = exp_plot_draw(f.script, f.output, NULL, 0, 60, &why);
        test_check(err == c->err && !strncmp(why.text, c->why, strlen(c->why)), "case %zu: %d, '%s'", i, err, why.text);
        test_check(!exists("x.png") && !exists("x.png.partial"), "case %zu leaves a file", i);
        tear_down(&f);
    }
}

static void test_old_file_stays(void)
{
    struct fixture f;
    struct exp_why why = { "" };

    set_up(&f, "", "#!/bin/sh\nexit 1\n");
    scratch_text("x.png", "old");
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, 60, &why), -EIO);
    CU_ASSERT(exists("x.png"));
    tear_down(&f);
}

static void test_missing_gnuplot(void)
{
    struct fixture f;
    struct exp_why why = { "" };

    set_up(&f, "", NULL);
    setenv("PATH", f.top, 1);
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, 60, &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why.text, "gnuplot is not installed (package gnuplot-nox)");
    tear_down(&f);
}

static void test_variables_are_passed(void)
{
    static const struct exp_plot_variable variable[] = { { "title", "it's\n\"50 %\" `id` $HOME" }, { "empty", "" } };
    struct fixture f;
    char want[512];
    struct exp_why why = { "" };

    set_up(&f, "", "#!/bin/sh\nprintf '%s|%s|%s|%s' \"$1\" \"$2\" \"$3\" \"$4\" >&2; exit 77\n");
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, variable, 2, 60, &why), -ENODATA);
    snprintf(want, sizeof want,
             "--default-settings|-e|format=\"png\";output=\"%s.partial\";title=\"it\\047s \\042\\065\\060 %%\\042 "
             "\\140id\\140 "
             "\\044HOME\";empty=\"\";|%s",
             f.output, f.script);
    CU_ASSERT_STRING_EQUAL(why.text, want);
    tear_down(&f);
}

static void test_hanging_gnuplot(void)
{
    struct fixture f;
    struct exp_why why = { "" };

    set_up(&f, "", "#!/bin/sh\nexec 2>&-\nexec sleep 60\n");
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, 1, &why), -ETIMEDOUT);
    CU_ASSERT_STRING_EQUAL(why.text, "gnuplot was not done after 1 s and was killed");
    tear_down(&f);
}

/* gnuplot takes every value unchanged: the script prints the value into the "figure". */
static void test_quoting(void)
{
    static const char script[] = "set print output\nprint text\nprint \"<svg>          </svg>\"\n";
    static const char *const values[] = {
        "'", "''", "'x", "x''y'", "a\"b", "a\\nb\\", "`touch here`", "@format", "$x %s {/a_b^2} \xc3\xa9"
    };
    struct fixture f;

    if (!has_gnuplot()) {
        test_skip("no gnuplot here");
        return;
    }
    set_up(&f, script, NULL);
    memcpy(strrchr(f.output, '.'), ".svg", 4);
    for (size_t i = 0; i < COUNT(values); i++) {
        const struct exp_plot_variable variable = { "text", values[i] };
        char line[64] = "";
        struct exp_why why = { "" };
        FILE *in;

        test_check(!exp_plot_draw(f.script, f.output, &variable, 1, 60, &why), "%s: %s", values[i], why.text);
        in = fopen(f.output, "r");
        test_check(in && fgets(line, sizeof line, in) && !strncmp(line, values[i], strlen(values[i])) &&
                       line[strlen(values[i])] == '\n',
                   "%s became %s", values[i], line);
        if (in)
            fclose(in);
    }
    tear_down(&f);
}

static void test_other_kinds(void)
{
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_plot_draw("x.gp", "x.pdf", NULL, 0, 60, &why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why.text, "neither a .png nor a .svg file: 'x.pdf'");
    CU_ASSERT_EQUAL(exp_plot_draw("x.gp", ".png", NULL, 0, 60, &why), -EINVAL);
}

static void test_real_drawing(void)
{
    static const char script[] = "if (format eq 'svg') { set terminal svg } else { set terminal pngcairo }\n"
                                 "set output output\nset title title\nplot x\n";
    static const struct exp_plot_variable variable[] = { { "title", "it's" } };
    struct fixture f;
    struct exp_why why = { "" };

    if (!has_gnuplot()) {
        test_skip("no gnuplot here");
        return;
    }
    set_up(&f, script, NULL);
    test_check(!exp_plot_draw(f.script, f.output, variable, 1, 60, &why), "%s", why.text);
    CU_ASSERT(exists("x.png") && !exists("x.png.partial"));
    memcpy(strrchr(f.output, '.'), ".svg", 4);
    test_check(!exp_plot_draw(f.script, f.output, variable, 1, 60, &why), "%s", why.text);
    CU_ASSERT(exists("x.svg"));
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, 60, &why), -EIO);
    test_check(strstr(why.text, "x.gp\" line 3: unexpected or unrecognized token: title") != NULL, "%s", why.text);
    tear_down(&f);
}

/* ---- is there anything to draw? ---- */

struct data_case {
    const char *head;  /* of the script */
    const char *table; /* t.csv; NULL: there is none */
    int err;
    const char *why;
};

static const struct data_case data_cases[] = {
    { "# draws t.csv: a b\n", "a,b\n,x\n,2\n", 0, "" },
    { "# A figure.\n#\n# draws t.csv: a\n# reads u.csv\nplot t_csv\n# draws v.csv: x\n", "a\n1e3\n", 0, "" },
    { "# draws t.csv: b of a: x y\n", "a,b\nz,3\ny,-1\n", 0, "" },
    { "# draws t.csv: b of a: x\n", "a,b\ny,3\n", -ENODATA, "t.csv has no rows for it" },
    { "# draws t.csv: b of a: x $some\n", "a,b\ny,3\nz,1\n", 0, "" },
    { "# draws t.csv: b of a: $some\n", "a,b\ny,3\nw z,3\n", -ENODATA, "t.csv has no rows for it" },
    { "# draws t.csv: b of a: $none\n", "a,b\nz,3\n", -ENODATA, "t.csv has no rows for it" },
    { "# draws t.csv: $some\n", "a,z\nx,3\n", 0, "" },
    { "# draws t.csv: $some\n", "a,z\n3,x\n", -ENODATA, "t.csv has no number in some" },
    { "# draws t.csv: b\n", "a,b\n", -ENODATA, "t.csv has no rows for it" },
    { "# draws t.csv: b\n# hint B=1 makes some\n", NULL, -ENODATA, "there is no t.csv (B=1 makes some)" },
    { "# draws t.csv: b a\n", "a,b\ny,\ny,\"not available: no PMU, here\"\n", -ENODATA,
      "t.csv has no number in b and the like" },
    { "# draws t.csv: b\n", "a,b\n1,\n1,\"not available: no PMU, here\"\n", -ENODATA, "no PMU, here" },
    { "# draws t.csv: b\n", "a\n1\n", -ENODATA, "t.csv has no number in b" },
    { "# draws t.csv: a\n# draws t.csv: b\n# hint c\n", "a,b\n1,nan\n", -ENODATA, "t.csv has no number in b (c)" },
    { "# draws t.csv\n", "a\n1\n", -EINVAL, "a '# draws' line that names no columns" },
    { "# draws t.csv: a of b\n", "a\n1\n", -EINVAL, "a '# draws' line that names no columns" },
    { "# draws t.csv: a\n", "a\n1,2\n", -EINVAL, "t.csv:2: " },
};

static void test_data(void)
{
    for (size_t i = 0; i < COUNT(data_cases); i++) {
        const struct data_case *c = &data_cases[i];
        struct exp_plot_data data;
        struct fixture f;
        char hidden[320];
        struct exp_why why = { "" };
        static const struct exp_plot_variable variable = { "some", "w z" };
        struct exp_plot_script script = { .variable = &variable, .n_variables = 1 };
        int err;

        set_up(&f, c->head, NULL);
        if (c->table)
            scratch_text("t.csv", c->table);
        script.path = f.script;
        err = exp_plot_data_open(&data, &script, f.top, f.top, &why);
        test_check(err == c->err && (err ? strstr(why.text, c->why) != NULL : !*why.text), "case %zu: %d, '%s'", i, err,
                   why.text);
        snprintf(hidden, sizeof hidden, ".%s.t.csv.plain.%ld", exp_last_part(f.script), (long)getpid());
        test_check(err || (data.n_tables > 0 && !strcmp(data.variable[0].name, "t_csv") && exists(hidden)),
                   "case %zu: %zu tables", i, data.n_tables);
        exp_plot_data_close(&data);
        test_check(!exists(hidden), "case %zu leaves a copy", i);
        tear_down(&f);
    }
}

/* ---- slots ---- */

/* Opens a table for which a script's line wants slots, and compares the lists. */
static void check_slots_of(const char *line, const char *table, const char *const wanted[EXP_PLOT_N_LISTS])
{
    static const struct exp_plot_variable shape = { "shape", "w z" };
    const char *names = wanted[2];
    struct exp_plot_script script = { .variable = &shape, .n_variables = 1 };
    struct exp_plot_data data;
    struct exp_why why = { "" };
    struct fixture f;

    set_up(&f, line, NULL);
    scratch_text("t.csv", table);
    script.path = f.script;
    CU_ASSERT_EQUAL(exp_plot_data_open(&data, &script, f.top, f.top, &why), 0);
    for (size_t i = 0; i < EXP_PLOT_N_LISTS && names; i++)
        test_check(data.list[i] && !strcmp(data.list[i], wanted[i]), "list %zu: '%s'", i, data.list[i]);
    CU_ASSERT_EQUAL(data.n_variables, names ? data.n_tables + EXP_PLOT_N_LISTS : data.n_tables);
    exp_plot_data_close(&data);
    tear_down(&f);
}

static void check_slots(const char *table, const char *slot_of, const char *things, const char *names)
{
    check_slots_of("# slots t.csv: i name $shape\n", table,
                   (const char *const[EXP_PLOT_N_LISTS]){ slot_of, things, names, "0" });
}

static void test_slots(void)
{
    check_slots("i,name\n2,b\n2,b\n4,\"a \"\"x\"\"\"\n", "0 1 0 2 ", "1 1 ", "\"b\" \"a 'x'\" ");
    check_slots("i,name\n0,sum\n,x\n1,a\n100001,b\n1,c\n", "1 ", "1 ", "\"a\" ");
    check_slots("i,other\n1,a\n", NULL, NULL, NULL);
}

/* If there are more things than room, similar things share a slot. */
static void test_shared_slots(void)
{
    char text[4096], slot_of[512];
    size_t at = (size_t)sprintf(text, "i,name,w,z\n"), of_at = 0;

    for (int i = 1; i <= EXP_PLOT_MOST_SLOTS + 1; i++) {
        at += (size_t)sprintf(text + at, "%d,layer%d,5,%d\n", i, i, i % 3);
        of_at += (size_t)sprintf(slot_of + of_at, "%d ", (i - 1) % 3 + 1);
    }
    check_slots(text, slot_of, "21 20 20 ", "\"layer1 ×21\" \"layer2 ×20\" \"layer3 ×20\" ");
}

/* A script may limit its slots to the heaviest slots; of equally heavy slots the first slots stay. */
static void test_heaviest_slots(void)
{
    static const char table[] = "i,name,w\n1,a,2\n2,b,-9\n3,c,2\n4,d,1\n5,e,\n4,d,-8\n6,f,2\n";

    check_slots_of("# slots t.csv: i name of w: 3\n", table,
                   (const char *const[]){ "1 2 0 3 0 0 ", "1 1 1 ", "\"a\" \"b\" \"d\" ", "3" });
    check_slots_of(
        "# slots t.csv: i name of w: 6\n", table,
        (const char *const[]){ "1 2 3 4 5 6 ", "1 1 1 1 1 1 ", "\"a\" \"b\" \"c\" \"d\" \"e\" \"f\" ", "0" });
    check_slots_of(
        "# slots t.csv: i name of nosuch: 1\n", table,
        (const char *const[]){ "1 2 3 4 5 6 ", "1 1 1 1 1 1 ", "\"a\" \"b\" \"c\" \"d\" \"e\" \"f\" ", "0" });
}

static void test_slots_need_columns(void)
{
    struct exp_plot_data data;
    struct exp_why why = { "" };
    struct fixture f;

    set_up(&f, "# slots t.csv: i\n", NULL);
    scratch_text("t.csv", "i\n1\n");
    CU_ASSERT_EQUAL(exp_plot_data_open(&data, &(struct exp_plot_script){ f.script, NULL, 0 }, f.top, f.top, &why),
                    -EINVAL);
    test_check(strstr(why.text, "a '# slots' line that names no two columns") != NULL, "'%s'", why.text);
    exp_plot_data_close(&data);
    tear_down(&f);
}

/* ---- variables of the scripts ---- */

static void check_variable(const struct exp_plot_recipe *r, size_t i, const char *name, const char *value)
{
    const struct exp_plot_variable *v = &r->figures.variable[i];

    test_check(!strcmp(v->name, name) && !strcmp(v->value, value), "variable %zu: %s is '%s'", i, v->name, v->value);
}

static void test_recipe_is_kept(void)
{
    static const char *const names[] = { "one", "two_2" };
    static const struct exp_plot_variable variable[] = { { "figures", "not/kept" },
                                                         { "machine", "a: b \"c\", 100 %\n" },
                                                         { "none", "" } };
    struct exp_plot_figures f = { .figure = names, .n_figures = 2, .variable = variable, .n_variables = 3 };
    struct exp_plot_recipe r;
    struct fixture fixture;
    struct exp_why why = { "" };

    set_up(&fixture, "", NULL);
    f.out_dir = fixture.top;
    CU_ASSERT_EQUAL(exp_plot_recipe_write(&f, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_plot_recipe_read(&r, fixture.top, "here", &why), 0);
    CU_ASSERT(r.figures.n_figures == 2 && !strcmp(r.figures.figure[0], "one") && !strcmp(r.figures.figure[1], "two_2"));
    CU_ASSERT_EQUAL_FATAL(r.figures.n_variables, 3);
    check_variable(&r, 0, "figures", "here");
    check_variable(&r, 1, "machine", "a: b \"c\", 100 % ");
    check_variable(&r, 2, "none", "");
    CU_ASSERT(!strcmp(r.figures.data_dir, fixture.top) && !strcmp(r.figures.out_dir, fixture.top));
    exp_plot_recipe_release(&r);
    tear_down(&fixture);
}

/* A text in a folder from a stranger is no path and no command. */
static const struct {
    const char *text;
    int err;
    const char *why;
} recipe_cases[] = {
    { "", 0, "" },
    { "# nothing\n\nfigure: a", 0, "" },
    { "\xef\xbb\xbf# nothing\r\rfigure: a\r\n", 0, "" },
    { "figure: a\nfigure: ../../b\n", -EINVAL, "figures.txt:2: neither 'figure: name'" },
    { "figure: a b\n", -EINVAL, "figures.txt:1: " },
    { "\xff\xfe"
      "f",
      -EINVAL, "figures.txt:1: the text is in UTF-16" },
    { "figure: \n", -EINVAL, "figures.txt:1: " },
    { "figures: /elsewhere\n", -EINVAL, "figures.txt:1: " },
    { "x=system('y'); z: 1\n", -EINVAL, "figures.txt:1: " },
    { "1x: 1\n", -EINVAL, "figures.txt:1: " },
    { "figure: a\n\nno colon\n", -EINVAL, "figures.txt:3: " },
};

static void test_recipe_is_read(void)
{
    for (size_t i = 0; i < COUNT(recipe_cases); i++) {
        struct exp_plot_recipe r;
        struct fixture f;
        struct exp_why why = { "" };
        int err;

        set_up(&f, "", NULL);
        scratch_text(EXP_PLOT_RECIPE_FILE, recipe_cases[i].text);
        err = exp_plot_recipe_read(&r, f.top, "here", &why);
        test_check(err == recipe_cases[i].err && strstr(why.text, recipe_cases[i].why), "case %zu: %d, '%s'", i, err,
                   why.text);
        exp_plot_recipe_release(&r);
        tear_down(&f);
    }
}

static void test_no_recipe(void)
{
    struct exp_plot_figures f = { .out_dir = "/no/such/folder" };
    struct exp_plot_recipe r;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_plot_recipe_read(&r, "/no/such/folder", "here", &why), -ENOENT);
    test_check(strstr(why.text, "no figures to draw again: cannot open '/no/such/folder/figures.txt'") != NULL, "'%s'",
               why.text);
    CU_ASSERT_EQUAL(exp_plot_recipe_draw(&f, NULL, NULL, &why), -ENOENT);
}

static const struct test_case cases[] = {
    { "each way gnuplot fails is one line, and leaves no file", test_failures },
    { "a failure leaves the file that was there", test_old_file_stays },
    { "a missing gnuplot is named", test_missing_gnuplot },
    { "variables arrive as they are", test_variables_are_passed },
    { "gnuplot's time is limited", test_hanging_gnuplot },
    { "gnuplot reads what was meant, whatever it holds", test_quoting },
    { "only PNG and SVG are drawn", test_other_kinds },
    { "gnuplot draws, and its complaints arrive", test_real_drawing },
    { "a figure's head says what it draws; without a number there is a reason", test_data },
    { "things have slots along an axis, in the order of the rows", test_slots },
    { "... and share them where they are alike and many", test_shared_slots },
    { "... the heaviest alone, where a script limits them", test_heaviest_slots },
    { "... by columns that must be named", test_slots_need_columns },
    { "what figures are drawn with is kept beside them", test_recipe_is_kept },
    { "... and read again, whoever wrote it", test_recipe_is_read },
    { "... and without it nothing is drawn", test_no_recipe },
    { NULL, NULL },
};

const struct test_suite suite_exp_plot = { "exp_plot", cases };
