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
#include "experiments/run/run.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct exp_question question_experiment;

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

/* ---- the figures: do all scripts run on whatever the columns may hold? The numbers mean nothing. ---- */

/* Columns that the scripts read, in the order of the rows below; further columns of layers.csv do not matter here. */
static const char layers_head[] =
    "model,layer_index,layer,algo,chosen,predicted_l2_lines,predicted_l3_lines,"
    "predicted_dram_lines,measured_speedup_vs_base,measured_loads,measured_l1_load_misses,"
    "measured_l2_load_misses,measured_l3_load_misses,simulated_l1_miss_percent,"
    "simulated_l2_miss_percent,simulated_l3_miss_percent,simulated_l1_load_misses,simulated_l2_load_misses,"
    "simulated_l3_load_misses,simulated_l2_lines,simulated_l3_lines,simulated_dram_lines,simulated_tile_l2_lines,"
    "simulated_tile_l3_lines,simulated_tile_dram_lines,macs,batch,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,"
    "pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,dilation_w\n";
static const char totals_head[] =
    "model,algo,measured_speedup_vs_base,measured_l1_miss_percent,measured_l2_miss_percent,"
    "measured_l3_miss_percent,measured_loads,simulated_l1_miss_percent,simulated_l2_miss_percent,"
    "simulated_l3_miss_percent,simulated_loads,macs,paper_conv_speedup";
/* Columns that results of earlier versions do not have. */
static const char alone_head[] = ",simulated_alone_l1_miss_percent,simulated_alone_l2_miss_percent,"
                                 "simulated_alone_l3_miss_percent,simulated_alone_loads";

#define NONE "\"not available: refused, \"\"why\"\"\""

struct figure_case {
    const char *speedup, *counts, *rates, *simulated, *arch, *levels;
    int n_layers;
    bool has_classes, has_observed;
    int n_drawn, n_without_data;
};

#define NONE3 NONE "," NONE "," NONE
#define NONE4 NONE3 "," NONE

/* The last but one is UKR=avx512 on a computer without AVX-512: rows without a replay. */
static const struct figure_case figure_cases[] = {
    { "1.5", "1000,90,9,1", "9,0.9,0.1,1000,9,0.9,0.1,1000", "7", "x86", "L1 L2 L3", 2, true, true, 14, 2 },
    { NONE, NONE4, NONE4 ",9,0.9,0,1000", "7", "P10", "L1 L2 L3", 2, true, false, 10, 4 },
    { "", ",,,", ",,,,9,0,0,10", "0", "", "D1 SLC", 2, false, true, 8, 5 },
    { "", ",,,", ",,,,9,0,0,10", "3", "", "L0", 70, false, false, 6, 6 },
    { NONE, NONE4, NONE4 "," NONE4, NONE, "x86", "L1 L2 SLC", 2, false, false, 0, 9 },
    { "", ",,,", ",,,,,,,", "", "", "L1 L2 SLC", 2, false, false, 0, 9 },
};

static const char *const algos[] = { "base", "sconv_is", "sconv_ws" };

/* Writes n_layers of three shapes in turn; a filter left gaps in their numbers. */
static void put_layers(FILE *out, const struct figure_case *c)
{
    fputs(layers_head, out);
    for (int layer = 0; layer < c->n_layers; layer++) {
        for (int a = 0; a < 3; a++) {
            fprintf(out, "m,%d,\"a, \"\"b\"\"_%d\",%s,%d,%s,%s,%s,", 3 + 4 * layer, layer, algos[a], a == 2,
                    a ? "120,0,14" : ",,", c->speedup, c->counts);
            for (int i = 0; i < 12; i++)
                fprintf(out, "%s,", c->simulated);
            fprintf(out, "1000,1,%d,8,8,8,3,3,1,1,1,1,1,1,1,1,1\n", 8 * (layer % 3 + 1));
        }
    }
}

static void put_classes(FILE *out)
{
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
    fputs("layer_index,layer,algo,level_index,level,tensor,observed_load_misses,replayed_load_misses,"
          "observed_load_miss_percent,replayed_load_miss_percent,observed_share_percent\n",
          out);
    for (int layer = 3; layer <= 7; layer += 4) {
        for (int a = 0; a < 3; a++)
            fprintf(out,
                    "%d,x,%s,0,core,all,,,,,25\n%d,x,%s,1,L1,input,90,90,9,9,25\n%d,x,%s,1,L1,all,%d,100,%d,10,25\n"
                    "%d,x,%s,2,L2,all,0,0,0,0,25\n",
                    layer, algos[a], layer, algos[a], layer, algos[a], 100 + a, 10 + a, layer, algos[a]);
    }
}

static FILE *create(const char *name)
{
    FILE *out = fopen(scratch_path(name), "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    return out;
}

static void put_tables(const struct figure_case *c)
{
    const char *alone = c->has_classes ? ",40,4,0.5,1000" : "";
    FILE *out = create("layers.csv");

    put_layers(out, c);
    fclose(out);
    out = create("model.csv");
    fprintf(out, "%s%s\n", totals_head, c->has_classes ? alone_head : "");
    fprintf(out, "m,base,%s,%s,1000,%s\nm,sconv,%s,%s,1000,1.27%s\n", c->speedup, c->rates, alone, c->speedup, c->rates,
            alone);
    if (c->has_classes)
        fprintf(out, "m,sconv_openblas,%s,%s,1000,%s\n", c->speedup, c->rates, alone);
    fclose(out);
    if (c->has_classes) {
        out = create("classes.csv");
        put_classes(out);
        fclose(out);
    }
    if (c->has_observed) {
        out = create("observed.csv");
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
    test_check(!err == !*why, "%s: %d, '%s'", file, err, why);
}

static bool can_draw_figures(void)
{
    bool can = has_gnuplot() && !access("experiments/figures/common.gp", R_OK);

    if (!can)
        test_skip("no gnuplot here, or not started from the top of the repository");
    return can;
}

static bool is_old(const char *name)
{
    char text[8] = "";
    FILE *in = fopen(scratch_path(name), "r");

    if (!in)
        return false;
    (void)!fread(text, 1, sizeof text - 1, in);
    fclose(in);
    return !strcmp(text, "old");
}

/* Pictures of an earlier run stay if they cannot be drawn again. */
static void check_figures(const struct figure_case *c)
{
    struct fixture f;
    struct tally t = { 0, 0 };
    struct exp_why why = { "" };
    struct exp_figures figures = { .question = &question_experiment,
                                   .experiments_dir = "experiments",
                                   .dir = f.top,
                                   .machine = "it's a \"machine\"",
                                   .simulator = "s",
                                   .host = "h" };

    set_up(&f, "", NULL);
    put_tables(c);
    snprintf(figures.levels, sizeof figures.levels, "%s", c->levels);
    snprintf(figures.arch, sizeof figures.arch, "%s", c->arch);
    scratch_text("miss_rates_model.svg", "old");
    scratch_text("speedup_layers.png", "old");
    test_check(!exp_figures_draw(&figures, count_figure, &t, &why), "%s", why.text);
    test_check(t.n_drawn == c->n_drawn && t.n_without_data == c->n_without_data, "case %td: %d drawn, %d without data",
               c - figure_cases, t.n_drawn, t.n_without_data);
    CU_ASSERT_EQUAL(is_old("miss_rates_model.svg"), c->n_drawn == 0);
    CU_ASSERT_EQUAL(exists("predicted_vs_simulated.svg"), c->n_drawn > 0);
    CU_ASSERT_EQUAL(is_old("speedup_layers.png"), *c->speedup != '1');
    tear_down(&f);
}

static void test_figures(void)
{
    for (size_t i = 0; i < COUNT(figure_cases) && can_draw_figures(); i++)
        check_figures(&figure_cases[i]);
}

/* ---- the figures of all further programs ---- */

struct program_table {
    const char *name, *head, *row; /* each %s of the row is one of the numbers below */
};

struct program_case {
    const char *const *figure;
    size_t n_figures;
    struct program_table table[6];
};

static const char *const peers_figures[] = { "peers_speedups", "peers_speedups_pointwise", "peers_phases",
                                             "peers_roofline" };
static const char *const judge_figures[] = { "judge_schedules", "judge_speedups", "judge_curves" };
static const char *const validate_figures[] = { "simulated_vs_measured" };

static const struct program_case program_cases[] = {
    { peers_figures,
      4,
      { { "phases.csv", "number,method,im2col_percent,packing_percent,ukr_percent,other_percent,steps_to_call,model\n",
          "1,base,%s,%s,%s,0,1.1,m\n1,sconv,0,1,98,1,%s,m\n" },
        { "layers.csv",
          "model,layer_index,method,cache,pointwise,flop_per_byte,measured_gflops,measured_speedup_vs_base,layer\n",
          "m,1,base,sweep,1,8,%s,1,\"a, b\"\nm,1,sconv,sweep,1,8,%s,%s,\"a, b\"\n" } } },
    { judge_figures,
      3,
      { { "ratios.csv",
          "schedule,rank_percent,predicted_cycles,l1_l2_lines,l2_l3_lines,l3_memory_lines,eq6_cycles,estimated_"
          "cycles\n",
          "ws,50,%s,%s,%s,%s,%s,\nown,50,,%s,%s,%s,%s,%s\n" },
        { "speedups.csv", "layers,rank_percent,estimated_speedup,issue_speedup\n",
          "all,50,%s,%s\npointwise,50,%s,1\n" },
        { "models.csv",
          "model,issue_speedup,estimated_speedup,paper_speedup,paper_won_percent,paper_max_speedup,"
          "paper_pointwise_won_percent\n",
          "m,%s,%s,1.2,,,\nall,%s,1.1,1.2,,,\n" } } },
    { validate_figures,
      1,
      { { "simulated_vs_measured.csv",
          "algo,quantity,measured_percent_of_loads,caches_alone_percent_of_loads,as_machine_percent_of_loads\n",
          "base,l1_lines_in,%s,%s,%s\nsconv_is,l1_lines_in_by_demand,%s,not available: x,%s\n" } } },
};

static void check_program(const struct program_case *c, const char *number, bool is_drawn)
{
    static const struct exp_plot_variable variable[] = {
        { "figures", "experiments/figures" },
        { "what", "made, so" },
        { "machine", "m" },
        { "first_level", "L1" },
        { "variant_names", "is ws own" },
        { "variant_titles", "IS WS OWN" },
        { "variant_labels", "\"input stationary\" \"weight stationary\" \"its own\"" },
        { "yardstick_names", "l1_l2_lines l2_l3_lines l3_memory_lines eq6_cycles estimated_cycles" },
        { "yardstick_labels", "\"lines L1-L2\" \"lines L2-SLC\" \"lines L2-SLC\" \"Eq. 6\" \"cycles\"" },
        { "yardstick_colours", "#e69f00 #56b4e9 #0072b2 #009e73 #d55e00" },
        { "figure_letter", "a" },
        { "peer_names",
          "base base_rows sconv sconv_openblas sconv_tuned sconv_gen onednn_nchw onednn_reorder onednn_blocked" },
        { "peer_titles", "Base rows SConv \"SConv, OpenBLAS's\" tuned generated \"oneDNN, NCHW\" reorder blocked" },
        { "peer_colours", "#7f7f7f #56b4e9 #009e73 #cc79a7 #000000 #661100 #e69f00 #d55e00 #0072b2" },
        { "sconv_peers", "sconv sconv_openblas sconv_tuned" },
        { "other_peers", "base_rows sconv_gen onednn_nchw onednn_reorder onednn_blocked" },
        { "peak_gflops", "100" },
        { "read_gbytes", "10" },
        { "algo_names", "base sconv sconv_is" },
        { "algo_titles", "\"Base\" \"SConv\" \"SConv IS\"" },
        { "algo_colours", "#7f7f7f #009e73 #e69f00" },
        { "total_algos", "base sconv" },
    };
    struct fixture f;
    struct tally t = { 0, 0 };
    struct exp_why why = { "" };
    struct exp_plot_figures figures = { .scripts_dir = "experiments/figures",
                                        .data_dir = f.top,
                                        .out_dir = f.top,
                                        .figure = c->figure,
                                        .n_figures = c->n_figures,
                                        .variable = variable,
                                        .n_variables = COUNT(variable) };

    set_up(&f, "", NULL);
    for (const struct program_table *table = c->table; table->name; table++) {
        FILE *out = create(table->name);

        fprintf(out, "# column x: a comment\n%s", table->head);
        for (const char *text = table->row; *text; text++) {
            if (*text == '%')
                fputs(number, out);
            if (*text != '%' && (text == table->row || text[-1] != '%'))
                fputc(*text, out);
        }
        fclose(out);
    }
    test_check(!exp_plot_figures(&figures, count_figure, &t, &why), "%s", why.text);
    test_check(t.n_drawn == (is_drawn ? 2 * (int)c->n_figures : t.n_drawn) && (is_drawn || t.n_without_data > 0),
               "%s: %d drawn, %d without data", c->figure[0], t.n_drawn, t.n_without_data);
    tear_down(&f);
}

static void test_other_programs(void)
{
    for (size_t i = 0; i < COUNT(program_cases) && can_draw_figures(); i++) {
        check_program(&program_cases[i], "1.25", true);
        check_program(&program_cases[i], NONE, false);
    }
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
    { "figures are drawn with counters or without, and not without data", test_figures },
    { "so are those of peers, judge and validate", test_other_programs },
    { "what figures are drawn with is kept beside them", test_recipe_is_kept },
    { "... and read again, whoever wrote it", test_recipe_is_read },
    { "... and without it nothing is drawn", test_no_recipe },
    { NULL, NULL },
};

const struct test_suite suite_exp_plot = { "exp_plot", cases };
