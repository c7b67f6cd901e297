#include "experiments/base/exp_memory.h"
#include "experiments/base/exp_wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 112, LABEL_WIDTH = 15, INDENT = 4 };

static void put_line(const char *line, size_t length, FILE *out)
{
    int indent = length && line[0] == ' ' ? LABEL_WIDTH : INDENT;
    size_t room = COLUMNS;

    while (length > room) {
        size_t n = room;

        while (n && line[n] != ' ')
            n--;
        if (!n)
            break;
        fprintf(out, "%.*s\n%*s", (int)n, line, indent, "");
        line += n + 1;
        length -= n + 1;
        room = COLUMNS - (size_t)indent;
    }
    fprintf(out, "%.*s\n", (int)length, line);
}

int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out)
{
    size_t bytes;
    char *text = NULL;
    FILE *in = exp_memory_open(&text, &bytes);
    int err = in ? say(ctx, in) : -ENOMEM;

    if (in && fclose(in) && !err)
        err = -ENOMEM;
    for (const char *line = text; !err && *line;) {
        size_t length = strcspn(line, "\n");

        put_line(line, length, out);
        line += length + (line[length] == '\n');
    }
    free(text);
    return err;
}
