/* The question layers as a program: `onnx2layers net.onnx >net.csv`. A word without "=" is the model. */
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/bench/course/course.h"

extern const struct exp_question question_layers;

int main(int argc, char **argv)
{
    char **words = exp_new((size_t)argc + 1, sizeof *words), *model = NULL;
    int status;

    for (int i = 0; i < argc; i++) {
        words[i] = argv[i];
        if (i && !model && *argv[i] != '-' && !strchr(argv[i], '=') && argv[i - 1][0] != '-')
            words[i] = model = exp_format("MODEL=%s", argv[i]);
    }
    status = exp_main(&question_layers, argc, words);
    free(model);
    free(words);
    return status;
}
