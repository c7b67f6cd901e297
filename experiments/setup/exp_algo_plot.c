#include "experiments/setup/exp_algo_plot.h"

#include "experiments/base/exp_error.h"

static const char *name_of(const struct exp_algo *a)
{
    return a->name;
}

static const char *title_of(const struct exp_algo *a)
{
    return a->title;
}

static const char *colour_of(const struct exp_algo *a)
{
    return a->colour;
}

static bool is_any(const struct exp_algo *a)
{
    return a->name != NULL;
}

static bool is_default(const struct exp_algo *a)
{
    return !a->members && a->when != EXP_ALGO_ON_REQUEST;
}

static bool is_total(const struct exp_algo *a)
{
    return a->when != EXP_ALGO_MEMBER;
}

static bool is_sconv(const struct exp_algo *a)
{
    return a->is_sconv;
}

static bool is_member(const struct exp_algo *a)
{
    return a->when == EXP_ALGO_MEMBER;
}

static bool is_plain(const struct exp_algo *a)
{
    return !a->members && (!a->is_sconv || is_member(a));
}

static const struct {
    const char *name, *quote;
    const char *(*text_of)(const struct exp_algo *a);
    bool (*is_in)(const struct exp_algo *a);
} lists[EXP_N_ALGO_VARIABLES] = {
    { "algo_names", "", name_of, is_any },      { "algo_titles", "\"", title_of, is_any },
    { "algo_colours", "", colour_of, is_any },  { "default_algos", "", name_of, is_default },
    { "total_algos", "", name_of, is_total },   { "sconv_algos", "", name_of, is_sconv },
    { "member_algos", "", name_of, is_member }, { "plain_algos", "", name_of, is_plain },
};

void exp_algo_plot_init(struct exp_algo_plot *p)
{
    for (size_t v = 0; v < EXP_N_ALGO_VARIABLES; v++) {
        p->text[v][0] = '\0';
        p->variable[v] = (struct exp_plot_variable){ lists[v].name, p->text[v] };
        for (size_t i = 0; i < EXP_N_ALGO_RECORDS; i++) {
            const struct exp_algo *a = exp_algo_record(i);

            if (lists[v].is_in(a))
                exp_say_more(p->text[v], sizeof p->text[v], "%s%s%s%s", *p->text[v] ? " " : "", lists[v].quote,
                             lists[v].text_of(a), lists[v].quote);
        }
    }
}
