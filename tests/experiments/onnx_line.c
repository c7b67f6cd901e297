#include "tests/experiments/onnx_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static size_t read_numbers(const char *text, char separator, int64_t *to)
{
    size_t n = 0;

    while (*text && n < MOST && strchr("0123456789-", *text)) {
        char *end;

        to[n++] = strtoll(text, &end, 10);
        text = end + (*end == separator);
    }
    return n;
}

/* Adds an input, and appends the input's name to a list. */
static void add_input(struct onnx_writer *w, const char *word, size_t number, char *list, size_t bytes)
{
    int64_t dim[MOST];
    char name[24];
    float *floats;
    size_t n;

    snprintf(name, sizeof name, "%.1s%zu", *word == '_' ? "" : "x", number);
    if (*word == '[') {
        n = read_numbers(word + 1, ',', dim);
        onnx_write_int64s(w, name, n, dim);
    } else if (*word == '(') {
        floats = calloc(MOST, sizeof *floats);
        for (n = 0, word++; *word && *word != ')' && n < MOST; word += strcspn(word, ",)"), word += *word == ',')
            floats[n++] = strtof(word, NULL);
        onnx_write_floats(w, name, 1, (int64_t[]){ (int64_t)n }, floats);
    } else if (*word != '_') {
        onnx_write_input(w, name, read_numbers(word, 'x', dim), dim);
    }
    snprintf(list + strlen(list), bytes - strlen(list), "%s%s", number ? "," : "", *word == '_' ? "" : name);
}

static void add_attribute(struct onnx_writer *w, const char *word)
{
    const char *value = strchr(word, '=') + 1;
    char name[40], text[40];
    int64_t ints[MOST];

    snprintf(name, sizeof name, "%.*s", (int)(value - word) - 1, word);
    snprintf(text, sizeof text, "%.*s", *value == '\'' ? (int)strcspn(value + 1, "'") : 0, value + 1);
    if (*value == '\'')
        onnx_write_text(w, name, text);
    else if (*value == '[')
        onnx_write_ints(w, name, read_numbers(value + 1, ',', ints), ints);
    else if (strpbrk(value, ".f"))
        onnx_write_float(w, name, strtof(value, NULL));
    else
        onnx_write_int(w, name, strtoll(value, NULL, 10));
}

void onnx_line_words(const char *text, void (*take)(void *ctx, const char *word, size_t i), void *ctx)
{
    char *words = strdup(text), *rest = words, *word;

    for (size_t i = 0; (word = strtok_r(rest, " ", &rest)); i++)
        take(ctx, word, i);
    free(words);
}

struct building {
    struct onnx_writer *w;
    char in[256], out[256];
};

static void take_input(void *ctx, const char *word, size_t i)
{
    struct building *b = ctx;

    add_input(b->w, word, i, b->in, sizeof b->in);
}

static void take_attribute(void *ctx, const char *word, size_t i)
{
    (void)i;
    add_attribute(((struct building *)ctx)->w, word);
}

static void take_output(void *ctx, const char *word, size_t i)
{
    struct building *b = ctx;

    (void)word;
    snprintf(b->out + strlen(b->out), sizeof b->out - strlen(b->out), "%sy%zu", i ? "," : "", i);
}

struct onnx_writer *onnx_line_write(const struct onnx_line *l)
{
    struct building b = { onnx_writer_new("line", l->opset), "", "" };

    onnx_line_words(l->in, take_input, &b);
    onnx_line_words(l->out, take_output, &b);
    onnx_write_node(b.w, l->op, "node", b.in, b.out);
    onnx_line_words(l->attributes, take_attribute, &b);
    return b.w;
}
