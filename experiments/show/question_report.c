/* Writes a page about all results found. `report --help` lists the options; the Makefile passes the options on. */
#include <stdio.h>

#include "experiments/bench/course/course.h"
#include "experiments/show/page.h"

struct options {
    const char *results, *model;
};

struct session {
    struct options options;
    struct exp_why why;
};

static int work(void *session)
{
    struct session *s = session;
    size_t n;
    int err = exp_page_write(s->options.results, NULL, s->options.model, &n, &s->why);

    if (!err)
        printf("%zu folder%s of results\n  %s/" EXP_PAGE_FILE "\n", n, n == 1 ? "" : "s", s->options.results);
    return err;
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_FOLDER("RESULTS", "folder of results, with all folders below it (default results); report.html goes there",
               results, "results"),
    EXP_TEXT("MODEL",
             "only results of this model: the last part of their folder's name; all (default): whatever is there",
             model, "all"),
    EXP_OPTIONS_END,
};

/* MODEL is the name of a folder. */
static int check(const struct exp_question *q, const void *asked, struct exp_why *why)
{
    return exp_check_names(q, asked, "MODEL", why);
}

const struct exp_question question_report = {
    .name = "report",
    .asks = "Make one page about all results, for a browser",
    .wants = { "results: get one page about all results|make report" },
    .takes = "A second for one model or all seven.",
    .examples = { "make report RESULTS=results/host" },
    .reads_all = true,
    .options = options,
    EXP_SESSION(struct session),
    .check = check,
    .work = work,
};
