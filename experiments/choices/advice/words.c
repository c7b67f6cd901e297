/* The causes of advice.def, and words of commands. */
#include "experiments/choices/advice/advice.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

static const struct exp_advice_cause causes[] = {
#define CAUSE(id, name, words, measure) { name, words, measure, false },
#define CAUSE_ALONE(id, name, words, measure) { name, words, measure, true },
#include "experiments/choices/advice/advice.def"
};

size_t exp_advice_n_causes(void)
{
    return sizeof causes / sizeof causes[0];
}

const struct exp_advice_cause *exp_advice_cause_at(size_t i)
{
    assert(i < exp_advice_n_causes());
    return &causes[i];
}

/* ---- commands ---- */

/* Tells whether a character means nothing to a shell, to make and in a pattern. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_-./:=+,", c);
}

char *exp_advice_pattern(const char *layer)
{
    char *pattern = exp_copy_text(layer);

    for (char *c = pattern; *c; c++)
        *c = is_plain(*c) && *c != ',' && *c != ':' ? *c : '?';
    return pattern;
}

char *exp_advice_quoted(const char *word)
{
    const char *c = word;
    char *text;
    size_t bytes;
    FILE *out;

    while (*c && is_plain(*c))
        c++;
    if (!*c && *word)
        return exp_copy_text(word);
    out = exp_memory_open(&text, &bytes);
    fputc('\'', out);
    for (c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : *c == '$' ? "$$" : (const char[]){ *c, '\0' }, out);
    fputc('\'', out);
    fclose(out);
    return text;
}

char *exp_advice_machine(const struct exp_advice_asked *asked)
{
    char *machine = exp_advice_quoted(asked->machine);
    char *word = strcmp(machine, "host") ? exp_format(" MACHINE=%s", machine) : exp_copy_text("");

    free(machine);
    return word;
}

const char *exp_advice_word(const struct exp_advice_asked *asked, const struct exp_algo *algo)
{
    return algo->plugin ? asked->plugins : algo->name;
}

char *exp_advice_command(const struct exp_advice_asked *asked, const struct exp_case *of, const char *ukr,
                         const struct exp_algo *more)
{
    char *model = exp_advice_quoted(asked->model), *machine = exp_advice_machine(asked);
    char *pattern = exp_advice_pattern(of->layer->name), *layer = exp_advice_quoted(pattern);
    char *algos = exp_copy_text(exp_algo_base()->name), *words, *command;

    exp_names_add(&algos, exp_advice_word(asked, of->algo));
    if (more)
        exp_names_add(&algos, exp_advice_word(asked, more));
    words = exp_advice_quoted(algos);
    command =
        exp_format("make experiment MODEL=%s LAYERS=%s%s%s%s ALGO=%s", model, layer, machine, ukr, asked->more, words);
    free(model);
    free(machine);
    free(pattern);
    free(layer);
    free(algos);
    free(words);
    return command;
}
