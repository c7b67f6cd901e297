/* The scripts of the figures: every script runs on all values that columns may hold. The numbers mean nothing. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/plot_data.h"
#include "experiments/run/run.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct exp_question question_experiment;

/* ---- the figures: do all scripts run on whatever the columns may hold? The numbers mean nothing. ---- */

/* Columns read by the scripts, in the order of the rows below; further columns of layers.csv do not matter here. */
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
/* Columns missing from results of earlier versions. */
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
    bool can = !system("command -v gnuplot >/dev/null 2>&1") && !access("experiments/figures/common.gp", R_OK);

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

/* Keeps the path of the scratch folder. */
static void find_scratch(char top[64])
{
    snprintf(top, 64, "%s", scratch_path("."));
}

/* Pictures of an earlier run stay if they cannot be drawn again. */
static void check_figures(const struct figure_case *c)
{
    struct tally t = { 0, 0 };
    char top[64];
    struct exp_why why = { "" };
    struct exp_figures figures = { .question = &question_experiment,
                                   .experiments_dir = "experiments",
                                   .dir = top,
                                   .machine = "it's a \"machine\"",
                                   .simulator = "s",
                                   .host = "h" };

    find_scratch(top);
    put_tables(c);
    snprintf(figures.levels, sizeof figures.levels, "%s", c->levels);
    snprintf(figures.arch, sizeof figures.arch, "%s", c->arch);
    scratch_text("miss_rates_model.svg", "old");
    scratch_text("speedup_layers.png", "old");
    test_check(!exp_figures_draw(&figures, count_figure, &t, &why), "%s", why.text);
    test_check(t.n_drawn == c->n_drawn && t.n_without_data == c->n_without_data, "case %td: %d drawn, %d without data",
               c - figure_cases, t.n_drawn, t.n_without_data);
    CU_ASSERT_EQUAL(is_old("miss_rates_model.svg"), c->n_drawn == 0);
    CU_ASSERT_EQUAL(!access(scratch_path("predicted_vs_simulated.svg"), F_OK), c->n_drawn > 0);
    CU_ASSERT_EQUAL(is_old("speedup_layers.png"), *c->speedup != '1');
    scratch_clear();
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
    struct tally t = { 0, 0 };
    char top[64];
    struct exp_why why = { "" };
    struct exp_plot_figures figures = { .scripts_dir = "experiments/figures",
                                        .data_dir = top,
                                        .out_dir = top,
                                        .figure = c->figure,
                                        .n_figures = c->n_figures,
                                        .variable = variable,
                                        .n_variables = COUNT(variable) };

    find_scratch(top);
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
    scratch_clear();
}

static void test_other_programs(void)
{
    for (size_t i = 0; i < COUNT(program_cases) && can_draw_figures(); i++) {
        check_program(&program_cases[i], "1.25", true);
        check_program(&program_cases[i], NONE, false);
    }
}

static const struct test_case cases[] = {
    { "figures are drawn with counters or without, and not without data", test_figures },
    { "so are those of peers, judge and validate", test_other_programs },
    { NULL, NULL },
};

const struct test_suite suite_exp_figures = { "exp_figures", cases };
