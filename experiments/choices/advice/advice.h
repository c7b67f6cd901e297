/*
 * Advice: the next change of a layer, for fewer cycles. A piece of advice has a cause with evidence, a knob for the
 * user to type, and the gain by simulation.
 *
 * The subjects of a layer are SConv as CSA chose, and each plug-in. The alternatives are all further algorithms of the
 * experiment; deep advice simulates further plans: tuned SConv, micro-kernels and decisions of SET=, chosen by the
 * causes of the layer's cycles (advice.def). An alternative is advised if the simulated gain is above the known error
 * of the simulation (gain.h), and if no time of the experiment says the reverse. The expected gain is the simulated
 * gain, corrected by the median of the known errors.
 */
#ifndef EXPERIMENTS_CHOICES_ADVICE_ADVICE_H
#define EXPERIMENTS_CHOICES_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/stats.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/choices/advice/gain.h"

#define EXP_ADVICE_FILE "advice.json"

/* The words of ADVICE, in this order. */
enum exp_advice_depth {
    EXP_ADVICE_NONE,
    EXP_ADVICE_KNOWN, /* among the algorithms of the experiment */
    EXP_ADVICE_DEEP,  /* further plans are simulated, too */
    EXP_ADVICE_JUDGE, /* deep, and the first advice of each layer is timed beside the layer's SConv */
};

/* A line of advice.def. */
struct exp_advice_cause {
    const char *name, *words;
    enum measure measure;
    bool is_alone; /* the cause of a machine without a [core] */
};

size_t exp_advice_n_causes(void);
const struct exp_advice_cause *exp_advice_cause_at(size_t i);

/*
 * Returns the cause of the most saved cycles: was[] and becomes[] are the measures of all causes, NaN: not known; *saved
 * becomes the difference. is_alone: of the causes of a machine without a [core]. NULL: no measure is known.
 */
const struct exp_advice_cause *exp_advice_find_cause(const double *was, const double *becomes, bool is_alone,
                                                     double *saved);

/* The user's words, for the commands of the knobs. */
struct exp_advice_asked {
    const char *model, *machine;
    const char *kind;       /* the machine's name in gains.csv: exp_machine_say_kind */
    const char *ukr, *more; /* further words of a command: " UKR=avx2" and the rest (" FILTERS=run_time"); "" */
    const char *plugins;    /* the plug-ins of ALGO=, comma-separated; "" */
    enum exp_advice_depth depth;
    struct exp_replay_asked replay;
};

struct exp_advice {
    const struct exp_case *of, *instead;  /* the subject; the alternative */
    const struct exp_advice_cause *cause; /* of the most saved cycles */
    double was, becomes;                  /* the cause's measure, of both */
    char *knob;                           /* "ALGO=sconv_ws", "SET=n_c=64" */
    char *command;                        /* with the knob, for a shell */
    double ratio;                         /* simulated cycles of the subject / of the alternative */
    double expected;                      /* the ratio, corrected by the median of the known errors */
    struct value gain_percent;            /* expected, of the subject's cycles; missing without a [core] */
    double saved;                         /* cycles, as expected */
    const struct exp_gain *error;         /* the known error: below the ratio */
    struct exp_ratio measured;            /* how many times as fast the alternative was in the experiment; NaN */
};

/* The advice of a subject, the largest gain first. */
struct exp_advice_list {
    const struct exp_case *of;
    struct exp_advice *advice;
    size_t n;
    const char *why_none; /* NULL: there is advice; else the reason against the alternative of the largest ratio */
    double closest;       /* the largest ratio */
};

/* A plan of deep advice, tried in place of a subject. */
struct exp_advice_try {
    const struct exp_case *of;
    char *knob, *command;
};

struct exp_advices {
    const char *why_none;    /* why there are no lists; NULL: there are */
    const char *why_no_gain; /* why gains are missing; NULL: gains are known */
    const char *kind;        /* of the machine, while advice is found */
    struct rec_rows gains;
    struct exp_why no_gains;      /* why the known errors could not be read; "": no error */
    struct exp_advice_list *list; /* the largest saving first; then lists without advice, in the order of the layers */
    size_t n;
    /* deep advice */
    struct exp_algo by_plan; /* runs and replays the plans of SET= */
    struct exp_model model;  /* a layer for each try */
    struct exp_experiment tries;
    struct exp_advice_try *a_try; /* [tries.n_cases] */
};

/*
 * Finds the advice of an experiment whose cases are replayed. The report and its experiment must outlive the advice.
 * Without known errors there is no advice, and the reason. Returns 0, or -errno of replaying plans with a line in why.
 * The advice may be released in any case.
 */
int exp_advise(struct exp_advices *a, const struct exp_report *r, const char *experiments_dir,
               const struct exp_advice_asked *asked, struct exp_why *why);
void exp_advices_release(struct exp_advices *a); /* zeroed advice is fine */

/* Returns the first advice of the first list; NULL: there is none. */
const struct exp_advice *exp_advices_first(const struct exp_advices *a);

/* Writes advice.json. Returns 0, or -errno with a line in why. */
int exp_advices_write(const struct exp_advices *a, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why);

/* Prints the first advice of each subject in a sentence, and the known error; at most `most` sentences. */
void exp_advices_print(const struct exp_advices *a, size_t most, FILE *out);

/* ---- parts, for tests ---- */

/*
 * Decides about an alternative on a kind of machine: fills cause, evidence and gain from the measures of both. Returns
 * NULL, or the reason against the alternative.
 */
const char *exp_advice_weigh(struct exp_advice *x, const char *kind, const struct value was[N_MEASURES],
                             const struct value becomes[N_MEASURES]);

/* Writes the decisions of SET= for a plan's knob number i, "" if the knob changes nothing. i < exp_advice_n_knobs(). */
size_t exp_advice_n_knobs(void);
void exp_advice_knob(size_t i, const struct conv_plan *plan, char *set, size_t bytes);
bool exp_advice_relieves(size_t knob, const struct exp_advice_cause *cause);

/* Returns a layer's name as a pattern of LAYERS, of characters without a meaning for a shell or make; from malloc. */
char *exp_advice_pattern(const char *layer);

/* Returns a word, quoted for a shell behind make; from malloc. */
char *exp_advice_quoted(const char *word);

/* Returns " MACHINE=...", or "" for the host. From malloc. */
char *exp_advice_machine(const struct exp_advice_asked *asked);

/* Returns the word of an algorithm in ALGO=: of a plug-in, all plug-ins of the user. */
const char *exp_advice_word(const struct exp_advice_asked *asked, const struct exp_algo *algo);

/*
 * Returns the command of an experiment on the subject's layer: Base, the subject, and an algorithm (NULL: none). ukr
 * stands for the user's. From malloc.
 */
char *exp_advice_command(const struct exp_advice_asked *asked, const struct exp_case *of, const char *ukr,
                         const struct exp_algo *more);

/* ---- judge.c: advice by the clock ---- */

/* A layer's code by a rule, beside SConv as CSA chose: the simulated and the measured gain. */
struct exp_advice_way {
    struct value promised_percent, measured_percent;
    struct exp_ratio measured; /* how many times as fast */
    const char *why_no_interval;
};

enum exp_advice_rule { EXP_BY_ADVICE, EXP_BY_TUNED, EXP_BY_WS, EXP_N_ADVICE_RULES };

/* A judged layer. */
struct exp_advice_judged {
    const char *model, *layer, *algo, *knob; /* knob: NULL without advice; then nothing changes by advice */
    const char *why_no_knob;
    uint64_t layer_index;
    struct value before_ns;
    struct exp_advice_way by[EXP_N_ADVICE_RULES];
};

struct exp_advice_judgement {
    struct exp_advice_judged *row; /* owns the texts but why_no_knob */
    size_t n;
};

extern const struct rec_table exp_advice_judged_table;

/*
 * Times the first advice of each distinct layer beside SConv as CSA chose, tuned SConv and weight-stationary SConv, in
 * turns. Adds a row for each timed layer. Returns 0, or -errno with a line in why.
 */
int exp_advices_judge(struct exp_advice_judgement *j, const struct exp_advices *a, const struct exp_report *r,
                      const struct exp_measure_options *o, struct exp_why *why);

void exp_advice_judgement_add(struct exp_advice_judgement *to, const struct exp_advice_judgement *from);
int exp_advice_judgement_write(const struct exp_advice_judgement *j, const struct exp_report *r,
                               const struct exp_outdir *dir, struct exp_why *why);

/*
 * Prints a line for each rule: in how many layers nothing became slower, and how much of the promise was kept. `how`
 * says the kind of the measurement.
 */
void exp_advice_judgement_print(const struct exp_advice_judgement *j, const char *how, FILE *out);
void exp_advice_judgement_release(struct exp_advice_judgement *j);

/* The score of a rule over the layers where the rule changes the code. */
struct exp_advice_score {
    size_t n, n_never_slower; /* the interval of the speed-up is not wholly below 1 */
    double kept;              /* measured / promised gain: the median layer with a promise; NaN: none */
    double total;             /* time of all layers before, over the time after */
};

struct exp_advice_score exp_advice_score(const struct exp_advice_judgement *j, enum exp_advice_rule rule);

/* ---- plans.c: deep advice ---- */

/* Plans and replays alternatives beside the algorithms of the experiment. Returns as exp_advise. */
int exp_advice_try_plans(struct exp_advices *a, const struct exp_report *r, const struct exp_advice_asked *asked,
                         struct exp_why *why);

#endif
