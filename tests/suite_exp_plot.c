/* Running gnuplot: what it says reaches the user as one line, and no half-drawn file is left. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/exp_figures.h"
#include "experiments/exp_plot.h"
#include "tests/suites.h"

/* A folder with a script, and perhaps with a program that calls itself gnuplot; PATH as it was before. */
struct fixture {
    char top[64], script[96], output[96];
    char *path;
};

static void put_file(const char *top, const char *name, const char *text, mode_t mode)
{
    char path[128];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", top, name);
    out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    chmod(path, mode);
}

/* fake: the text of a shell script to stand in for gnuplot, NULL for the real one. */
static void set_up(struct fixture *f, const char *script, const char *fake)
{
    char path[4096];

    snprintf(f->top, sizeof f->top, "/tmp/suite_exp_plot.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->top));
    snprintf(f->script, sizeof f->script, "%s/x.gp", f->top);
    snprintf(f->output, sizeof f->output, "%s/x.png", f->top);
    put_file(f->top, "x.gp", script, 0644);
    f->path = strdup(getenv("PATH"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->path);
    if (fake) {
        put_file(f->top, "gnuplot", fake, 0755);
        snprintf(path, sizeof path, "%s:%s", f->top, f->path);
        setenv("PATH", path, 1);
    }
}

static bool exists(const struct fixture *f, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", f->top, name);
    return !access(path, F_OK);
}

static void tear_down(struct fixture *f)
{
    char command[128];

    setenv("PATH", f->path, 1);
    free(f->path);
    snprintf(command, sizeof command, "rm -rf '%s'", f->top);
    CU_ASSERT_EQUAL(system(command), 0);
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
    for (size_t i = 0; i < sizeof fake_cases / sizeof fake_cases[0]; i++) {
        const struct fake_case *c = &fake_cases[i];
        struct fixture f;
        char why[256] = "";
        int err;

        set_up(&f, "", c->fake);
        err = exp_plot_draw(f.script, f.output, NULL, 0, why, sizeof why);
        test_check(err == c->err && !strncmp(why, c->why, strlen(c->why)), "case %zu: %d, '%s'", i, err, why);
        test_check(!exists(&f, "x.png") && !exists(&f, "x.png.partial"), "case %zu leaves a file", i);
        tear_down(&f);
    }
}

static void test_old_file_stays(void)
{
    struct fixture f;
    char why[256] = "";

    set_up(&f, "", "#!/bin/sh\nexit 1\n");
    put_file(f.top, "x.png", "old", 0644);
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, why, sizeof why), -EIO);
    CU_ASSERT(exists(&f, "x.png"));
    tear_down(&f);
}

static void test_missing_gnuplot(void)
{
    struct fixture f;
    char why[256] = "";

    set_up(&f, "", NULL);
    setenv("PATH", f.top, 1);
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "gnuplot is not installed (package gnuplot-nox)");
    tear_down(&f);
}

static void test_variables_are_passed(void)
{
    static const struct exp_plot_variable variable[] = { { "title", "it's\n\"50 %\" `id` $HOME" }, { "empty", "" } };
    struct fixture f;
    char why[512] = "", want[512];

    set_up(&f, "", "#!/bin/sh\nprintf '%s|%s|%s|%s' \"$1\" \"$2\" \"$3\" \"$4\" >&2; exit 77\n");
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, variable, 2, why, sizeof why), -ENODATA);
    snprintf(want, sizeof want,
             "--default-settings|-e|format='png';output='%s.partial';title='it''s \"50 %%\" `id` $HOME';empty='';|%s",
             f.output, f.script);
    CU_ASSERT_STRING_EQUAL(why, want);
    tear_down(&f);
}

static void test_other_kinds(void)
{
    char why[256] = "";

    CU_ASSERT_EQUAL(exp_plot_draw("x.gp", "x.pdf", NULL, 0, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "neither a .png nor a .svg file: 'x.pdf'");
    CU_ASSERT_EQUAL(exp_plot_draw("x.gp", ".png", NULL, 0, why, sizeof why), -EINVAL);
}

static void test_real_drawing(void)
{
    static const char script[] = "if (format eq 'svg') { set terminal svg } else { set terminal pngcairo }\n"
                                 "set output output\nset title title\nplot x\n";
    static const struct exp_plot_variable variable[] = { { "title", "it's" } };
    struct fixture f;
    char why[256] = "";

    if (!has_gnuplot()) {
        test_skip("no gnuplot here");
        return;
    }
    set_up(&f, script, NULL);
    test_check(!exp_plot_draw(f.script, f.output, variable, 1, why, sizeof why), "%s", why);
    CU_ASSERT(exists(&f, "x.png") && !exists(&f, "x.png.partial"));
    memcpy(strrchr(f.output, '.'), ".svg", 4);
    test_check(!exp_plot_draw(f.script, f.output, variable, 1, why, sizeof why), "%s", why);
    CU_ASSERT(exists(&f, "x.svg"));
    CU_ASSERT_EQUAL(exp_plot_draw(f.script, f.output, NULL, 0, why, sizeof why), -EIO);
    test_check(strstr(why, "x.gp\" line 3: unexpected or unrecognized token: title") != NULL, "%s", why);
    tear_down(&f);
}

/* ---- the figures: do all scripts run on whatever the columns may hold? The numbers mean nothing. ---- */

/* Columns that the scripts read, in the order of the rows below; the other columns of layers.csv do not matter here. */
static const char layers_head[] =
    "model,layer_index,layer,algo,chosen,predicted_l2_lines,predicted_l3_lines,"
    "predicted_dram_lines,measured_speedup_vs_base,measured_loads,measured_l1_load_misses,"
    "measured_l2_load_misses,measured_l3_load_misses,simulated_l1_miss_percent,"
    "simulated_l2_miss_percent,simulated_l3_miss_percent,simulated_l2_lines,"
    "simulated_l3_lines,simulated_dram_lines,simulated_tile_l2_lines,"
    "simulated_tile_l3_lines,simulated_tile_dram_lines\n";
static const char totals_head[] =
    "model,algo,measured_speedup_vs_base,measured_l1_miss_percent,measured_l2_miss_percent,"
    "measured_l3_miss_percent,measured_loads,simulated_l1_miss_percent,simulated_l2_miss_percent,"
    "simulated_l3_miss_percent,simulated_loads,paper_conv_speedup\n";

#define NONE "\"not available: refused, \"\"why\"\"\""

static void put_layers(FILE *out, const char *speedup, const char *counts)
{
    static const char *const algos[] = { "base", "sconv_is", "sconv_ws" };

    fputs(layers_head, out);
    for (int layer = 3; layer <= 7; layer += 4) { /* a filter left gaps */
        for (int a = 0; a < 3; a++)
            fprintf(out, "m,%d,\"a, \"\"b\"\"_%d\",%s,%d,%s,%s,%s,9.5,0.3,0,100,0,7,90,0,%d\n", layer, layer, algos[a],
                    a == 2, a ? "120,0,14" : ",,", speedup, counts, a);
    }
}

static void put_classes(FILE *out)
{
    static const char *const algos[] = { "base", "sconv_is", "sconv_ws" };

    fputs("layer_index,layer,algo,macs,level,tensor,misses,compulsory_misses,capacity_misses,conflict_misses\n", out);
    for (int layer = 0; layer <= 7; layer += layer ? 4 : 3) {
        for (int a = 0; a < 3; a++)
            fprintf(out,
                    "%d,x,%s,1000,L1,input,9,3,4,2\n%d,x,%s,1000,L1,output,1,1,0,0\n%d,x,%s,1000,L9,output,0,0,0,0\n",
                    layer, algos[a], layer, algos[a], layer, algos[a]);
    }
}

static void put_observed(FILE *out)
{
    static const char *const algos[] = { "base", "sconv_is", "sconv_ws" };

    fputs("layer_index,layer,algo,level_index,level,tensor,observed_load_misses,replayed_load_misses,"
          "observed_load_miss_percent,replayed_load_miss_percent\n",
          out);
    for (int layer = 3; layer <= 7; layer += 4) {
        for (int a = 0; a < 3; a++)
            fprintf(out, "%d,x,%s,1,L1,input,90,90,9,9\n%d,x,%s,1,L1,all,%d,100,%d,10\n%d,x,%s,2,L2,all,0,0,0,0\n",
                    layer, algos[a], layer, algos[a], 100 + a, 10 + a, layer, algos[a]);
    }
}

static FILE *create(const char *top, const char *name)
{
    char path[128];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", top, name);
    out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    return out;
}

struct figure_case {
    const char *speedup, *counts, *rates, *arch;
    bool has_classes, has_observed;
    int n_drawn, n_without_data;
};

static const struct figure_case figure_cases[] = {
    { "1.5", "1000,90,9,1", "9,0.9,0.1,1000", "x86", true, true, 14, 0 },
    { NONE, NONE "," NONE "," NONE "," NONE, NONE "," NONE "," NONE "," NONE, "P10", true, false, 10, 2 },
    { "", ",,,", ",,,", "", false, true, 8, 3 },
    { "", ",,,", ",,,", "", false, false, 6, 4 },
};

static void put_tables(const char *top, const struct figure_case *c)
{
    FILE *out = create(top, "layers.csv");

    put_layers(out, c->speedup, c->counts);
    fclose(out);
    out = create(top, "model.csv");
    fputs(totals_head, out);
    fprintf(out, "m,base,%s,%s,9.5,0.3,0,1000,\nm,sconv,%s,%s,6,0.1,0,1500,1.27\n", c->speedup, c->rates, c->speedup,
            c->rates);
    if (c->has_classes)
        fprintf(out, "m,sconv_openblas,%s,%s,7,0.2,0,900,\n", c->speedup, c->rates);
    fclose(out);
    if (c->has_classes) {
        out = create(top, "classes.csv");
        put_classes(out);
        fclose(out);
    }
    if (c->has_observed) {
        out = create(top, "observed.csv");
        put_observed(out);
        fclose(out);
    }
}

struct tally {
    int n_drawn, n_without_data;
};

static void count_figure(void *ctx, const char *file, int err, const char *why)
{
    struct tally *t = ctx;

    t->n_drawn += !err;
    t->n_without_data += err == -ENODATA;
    test_check(!err || err == -ENODATA, "%s: %d, %s", file, err, why);
    test_check(err != -ENODATA || strstr(why, "no speed-ups to draw: ") ||
                   strstr(why, "no classes of misses to draw: ") || strstr(why, "no observed streams to draw"),
               "%s: %s", file, why);
}

static void check_figures(const struct figure_case *c, const char *experiments_dir)
{
    struct fixture f;
    struct tally t = { 0, 0 };
    char layers[128], totals[128], classes[128], observed[128], why[512] = "";
    struct exp_figures figures = { .experiments_dir = experiments_dir,
                                   .layers_csv = layers,
                                   .totals_csv = totals,
                                   .classes_csv = classes,
                                   .observed_csv = observed,
                                   .out_dir = f.top,
                                   .machine = "it's a \"machine\"",
                                   .simulator = "s",
                                   .host = "h",
                                   .arch = c->arch };

    set_up(&f, "", NULL);
    put_tables(f.top, c);
    snprintf(layers, sizeof layers, "%s/layers.csv", f.top);
    snprintf(totals, sizeof totals, "%s/model.csv", f.top);
    snprintf(classes, sizeof classes, "%s/classes.csv", f.top);
    snprintf(observed, sizeof observed, "%s/observed.csv", f.top);
    test_check(!exp_figures_draw(&figures, count_figure, &t, why, sizeof why), "%s", why);
    test_check(t.n_drawn == c->n_drawn && t.n_without_data == c->n_without_data, "%d drawn, %d without data", t.n_drawn,
               t.n_without_data);
    CU_ASSERT(exists(&f, "miss_rates_model.png") && exists(&f, "predicted_vs_simulated.svg"));
    tear_down(&f);
}

static void test_figures(void)
{
    if (!has_gnuplot() || access("experiments/figures/common.gp", R_OK)) {
        test_skip("no gnuplot here, or not started from the top of the repository");
        return;
    }
    for (size_t i = 0; i < sizeof figure_cases / sizeof figure_cases[0]; i++)
        check_figures(&figure_cases[i], "experiments");
}

static const struct test_case cases[] = {
    { "each way gnuplot fails is one line, and leaves no file", test_failures },
    { "a failure leaves the file that was there", test_old_file_stays },
    { "a missing gnuplot is named", test_missing_gnuplot },
    { "variables arrive as they are", test_variables_are_passed },
    { "only PNG and SVG are drawn", test_other_kinds },
    { "gnuplot draws, and its complaints arrive", test_real_drawing },
    { "all figures are drawn, with counters or without", test_figures },
    { NULL, NULL },
};

const struct test_suite suite_exp_plot = { "exp_plot", cases };
