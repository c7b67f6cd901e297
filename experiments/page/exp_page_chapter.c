#include "experiments/page/exp_page_chapter.h"

#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_other.h"
#include "experiments/page/exp_page_run.h"

/* A folder is of the first kind whose file it has. */
static const struct kind {
    const char *marker;
    const char *what;
    int (*write)(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
} kinds[] = {
    { "traffic.csv", "experiment", exp_page_run_write },
    { "ratios.csv", "CSA's choices judged", exp_page_other_write },
    { "paper.md", "the paper's numbers beside ours", exp_page_other_write },
    { "study.md", "cost models studied", exp_page_other_write },
    { "agreement.csv", "simulated beside counted", exp_page_other_write },
    { "phases.csv", "beside peers", exp_page_other_write },
    { "sweep.csv", "machines and tilings varied", exp_page_other_write },
    { "picks.csv", "loop orders and tilings ranked", exp_page_other_write },
    { "compare.csv", "two runs compared", exp_page_other_write },
};

bool exp_page_is_marker(const char *file)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!strcmp(kinds[i].marker, file))
            return true;
    }
    return false;
}

int exp_page_chapter_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    const struct kind *k = kinds;
    char title[512];
    int err;

    while (k < kinds + sizeof kinds / sizeof kinds[0] - 1 && !exp_page_folder_has(f, k->marker))
        k++;
    exp_say(title, sizeof title, "%s: %s", f->name, k->what);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, f->id, title, NULL });
    err = k->write(w, f, why);
    exp_page_close(w);
    return err;
}
