/*
 * Writes a page about results, from whatever folders of them are there. `report --help` lists the options; the Makefile
 * passes them on.
 */
#include <stdio.h>

#include "experiments/page/exp_page.h"
#include "experiments/setup/exp_main.h"

struct session {
    struct exp_options options;
    struct exp_why why;
};

static int run(void *session)
{
    struct session *s = session;
    const struct exp_page_request q = { .results = s->options.results,
                                        .out_dir = s->options.results,
                                        .model = s->options.model,
                                        .experiments_dir = EXP_EXPERIMENTS_DIR };
    size_t n;
    int err = exp_page_write(&q, &n, &s->why);

    if (!err)
        printf("%zu folder%s of results\n  %s/" EXP_PAGE_FILE "\n", n, n == 1 ? "" : "s", s->options.results);
    return err;
}

static void release(void *session)
{
    (void)session;
}

int main(int argc, char **argv)
{
    static const struct exp_main course = { .program = EXP_REPORT, .run = run, .release = release };
    struct session s = { .why = { "" } };

    return exp_main(&course, &s, &s.options, &s.why, argc, argv);
}
