#define _XOPEN_SOURCE 700 /* nftw */
#include "tests/scratch.h"

#include <CUnit/CUnit.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/suites.h"

enum { N_PATHS = 4 };

static char folder[64]; /* "" if there is none */
static char given[N_PATHS][256];
static unsigned n_given;

TEST_FROM_LIBRARY static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    return at->level ? remove(path) : 0;
}

/* Removes everything in the folder; links are removed, not followed. */
static void remove_files(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void scratch_clear(void)
{
    if (!*folder)
        return;
    remove_files();
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    *folder = '\0';
}

const char *scratch_path(const char *name)
{
    char *path = given[n_given++ % N_PATHS];

    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/convolution-test-XXXXXX");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    }
    CU_ASSERT_FATAL(strlen(folder) + strlen(name) + 2 <= sizeof given[0]);
    snprintf(path, sizeof given[0], "%s/%s", folder, name);
    return path;
}

const char *scratch_write(const char *name, const void *content, size_t bytes)
{
    const char *path = scratch_path(name);
    FILE *out = fopen(path, "wb");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(fwrite(content, 1, bytes, out), bytes);
    CU_ASSERT_EQUAL_FATAL(fclose(out), 0);
    return path;
}

const char *scratch_text(const char *name, const char *text)
{
    return scratch_write(name, text, strlen(text));
}

long long scratch_sql(const char *name, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    long long value = -1;
    int err = SQLITE_DONE;

    CU_ASSERT_EQUAL_FATAL(sqlite3_open(scratch_path(name), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    for (const char *rest = sql; *rest && err == SQLITE_DONE; sqlite3_finalize(row)) {
        err = sqlite3_prepare_v2(db, rest, -1, &row, &rest);
        if (!err)
            err = sqlite3_step(row);
        if (err == SQLITE_ROW)
            value = sqlite3_column_int64(row, 0);
    }
    test_check(err == SQLITE_DONE || err == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
    return value;
}
