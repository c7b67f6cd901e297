/* Every fuzz target holds on the kept inputs of the target (tests/corpus). */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <stdio.h>

#include "tests/fuzz_targets.h"
#include "tests/suites.h"

enum { MAX_CORPUS_BYTES = 1 << 16 };

static bool replay_file(const char *path, bool (*target)(const uint8_t *data, size_t size))
{
    static uint8_t bytes[MAX_CORPUS_BYTES];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        return test_check(false, "cannot open '%s'", path);
    n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return test_check(target(bytes, n), "a property fails on '%s'", path);
}

static unsigned replay_folder(const char *parser, bool (*target)(const uint8_t *data, size_t size))
{
    char path[512];
    struct dirent *entry;
    unsigned n = 0;
    DIR *folder;

    snprintf(path, sizeof path, "tests/corpus/%s", parser);
    folder = opendir(path);
    if (!folder)
        return 0;
    while ((entry = readdir(folder))) {
        if (*entry->d_name == '.')
            continue;
        snprintf(path, sizeof path, "tests/corpus/%s/%.255s", parser, entry->d_name);
        n += replay_file(path, target);
    }
    closedir(folder);
    return n;
}

static void targets_hold_on_the_fuzzing_corpus(void)
{
    static const struct {
        const char *parser;
        bool (*target)(const uint8_t *data, size_t size);
    } targets[] = {
        { "machine", fuzz_machine }, { "text", fuzz_text },     { "din", fuzz_din },     { "lackey", fuzz_lackey },
        { "binary", fuzz_binary },   { "shape", fuzz_shape },   { "onnx", fuzz_onnx },   { "plan", fuzz_plan },
        { "wisdom", fuzz_wisdom },   { "counts", fuzz_counts }, { "times", fuzz_times },
    };

    for (size_t i = 0; i < COUNT(targets); i++)
        test_check(replay_folder(targets[i].parser, targets[i].target) >= 20, "%s: too few inputs", targets[i].parser);
}

static const struct test_case cases[] = {
    { "parsers and shapes hold on the fuzzing corpus", targets_hold_on_the_fuzzing_corpus },
    { NULL, NULL },
};

const struct test_suite suite_corpus = { "corpus", cases };
