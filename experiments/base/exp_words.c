#include "experiments/base/exp_words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a word from malloc, and takes it over; NULL when out of memory. */
static void add(struct exp_words *w, char *word)
{
    char **grown = word && !w->err ? realloc(w->word, (w->n + 2) * sizeof *grown) : NULL;

    if (!grown) {
        w->err = -ENOMEM;
        free(word);
        return;
    }
    w->word = grown;
    grown[w->n++] = word;
    grown[w->n] = NULL;
}

void exp_words_add(struct exp_words *w, const char *format, ...)
{
    va_list args;
    char *word;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    word = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (word) {
        va_start(args, format);
        vsnprintf(word, (size_t)length + 1, format, args);
        va_end(args);
    }
    add(w, word);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies one word to out, and ends it. Returns what is behind it; NULL if a quote is not closed. */
static const char *copy_word(const char *at, char *out)
{
    char quote = '\0';

    for (; *at && (quote || !is_blank(*at)); at++) {
        if (*at == quote)
            quote = '\0';
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *out++ = *++at;
        else
            *out++ = *at;
    }
    *out = '\0';
    return quote ? NULL : at;
}

int exp_words_split(struct exp_words *w, const char *text)
{
    char *word = malloc(strlen(text) + 1);

    if (!word)
        w->err = -ENOMEM;
    while (word && text) {
        while (is_blank(*text))
            text++;
        if (!*text)
            break;
        text = copy_word(text, word);
        if (text)
            exp_words_add(w, "%s", word);
    }
    free(word);
    return text ? 0 : -EINVAL;
}

void exp_words_release(struct exp_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
    *w = (struct exp_words){ 0 };
}
