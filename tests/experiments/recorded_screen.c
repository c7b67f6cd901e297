#include "tests/experiments/recorded_screen.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "tests/suites.h"

void recorded_rows(struct exp_page_csv *csv, const char *folder, const struct rec_table *t)
{
    struct exp_why why = { "" };

    test_check(!exp_page_csv_read_rows(csv, folder, t, &why), "%s: %s", folder, why.text);
    CU_ASSERT_FATAL(csv->table.n_rows > 0);
}

void recorded_screen_is(struct exp_screen *s, const char *name)
{
    const struct exp_terminal terminal = { EXP_SCREEN_COLUMNS, false };
    char *path = exp_format("tests/golden/screens/%s.txt", name), *golden, *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_screen_print(s, &terminal, out);
    fclose(out);
    if (getenv("UPDATE")) {
        out = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        fputs(text, out);
        fclose(out);
    }
    golden = exp_text_of("tests/golden/screens", strrchr(path, '/') + 1);
    test_check(!strcmp(text, golden), "%s differs: %s", path, text);
    exp_screen_release(s);
    free(golden);
    free(text);
    free(path);
}
