/*
 * A padded 3x3 convolution with ReLU, on a team of two threads: cc sconv_example.c $(pkg-config --cflags --libs sconv)
 */
#include <sconv.h>
#include <stdio.h>
#include <stdlib.h>

enum { C = 3, K = 64, H = 224, W = 224, R = 3 };

static float src[C * H * W], weights[K * C * R * R], dst[K * H * W];

int main(void)
{
    const size_t pad = R / 2; /* batch, channels, height, width | filters | strides | padding | dilation | groups */
    const struct sconv_shape shape = { 1, C, H, W, K, R, R, 1, 1, pad, pad, pad, pad, 1, 1, 1 };
    const struct sconv_options options = { .bias = NULL, .activation = SCONV_RELU, .threads = 2 };
    struct sconv_team *team = NULL; /* for all layers of a network; without a team, each run starts and joins threads */
    struct sconv_plan *plan;
    char text[512] = "out of memory";
    int err = sconv_plan_create(&plan, &shape, NULL, weights, &options);
    size_t bytes = sconv_workspace_bytes(plan);
    void *workspace = err ? NULL : malloc(bytes);

    if (workspace)
        err = sconv_team_create(&team, options.threads);
    if (workspace && !err)
        err = sconv_team_run(team, plan, src, dst, NULL, workspace, bytes);
    if (workspace && !err && sconv_plan_describe(plan, text, sizeof text))
        printf("%s\n", text);
    else if (!err || sconv_plan_check(&shape, NULL, weights, &options, text, sizeof text))
        fprintf(stderr, "sconv_example: %s\n", text);
    else
        fprintf(stderr, "sconv_example: libsconv %s: %s\n", sconv_version(), sconv_strerror(err));
    free(workspace);
    sconv_team_free(team);
    sconv_plan_free(plan);
    return workspace && !err ? EXIT_SUCCESS : EXIT_FAILURE;
}
