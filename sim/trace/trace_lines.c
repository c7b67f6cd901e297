#include <errno.h>
#include <string.h>

#include "sim/trace/trace_lines.h"

enum { NOT_HEX = 16 };

static int fail(struct sim_line *l, const char *at, const char *what)
{
    l->at = at;
    l->what = what;
    return -EINVAL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t'; /* carriage returns before the end of the line are gone */
}

static void skip_blanks(struct sim_line *l)
{
    while (is_blank(*l->at))
        l->at++;
}

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return NOT_HEX;
}

/*
 * Scans a hexadecimal number with or without 0x, up to a character that is no digit; the newline always ends the
 * number.
 */
static int scan_hex(struct sim_line *l, const char *what, uint64_t *value)
{
    const char *start = l->at;
    unsigned digit;

    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
        l->at += 2;
    if (hex_digit(*l->at) == NOT_HEX)
        return fail(l, start, what);
    for (*value = 0; (digit = hex_digit(*l->at)) != NOT_HEX; l->at++) {
        if (*value >> 60)
            return fail(l, start, "number of more than 64 bits");
        *value = *value << 4 | digit;
    }
    return 0;
}

static int scan_decimal(struct sim_line *l, const char *what, uint64_t max, uint64_t *value)
{
    const char *start = l->at;

    if (*start < '0' || *start > '9')
        return fail(l, start, what);
    for (*value = 0; *l->at >= '0' && *l->at <= '9'; l->at++) {
        *value = *value * 10 + (uint64_t)(*l->at - '0');
        if (*value > max)
            return fail(l, start, what);
    }
    return 0;
}

/* Scans the gap between fields: at least a blank. */
static int scan_gap(struct sim_line *l, const char *what)
{
    if (!is_blank(*l->at))
        return fail(l, l->at, what);
    skip_blanks(l);
    return 0;
}

static int scan_end(struct sim_line *l)
{
    skip_blanks(l);
    return l->at == l->end ? 0 : fail(l, l->at, "something follows the access");
}

static int check_bytes(struct sim_line *l, const char *at, uint64_t bytes)
{
    if (!bytes)
        return fail(l, at, "access of no bytes");
    if (bytes > SIM_TRACE_MAX_BYTES)
        return fail(l, at, "access too wide");
    return 0;
}

bool sim_run_fits(const struct sim_run *r)
{
    const int64_t half = (int64_t)1 << (SIM_ADDRESS_BITS - 1);
    int64_t first = (int64_t)r->addr, span, last;

    if (__builtin_mul_overflow(r->stride_bytes, (int64_t)r->count - 1, &span) ||
        __builtin_add_overflow(first, span, &last))
        return false;
    if (first < -half || first >= half || last < -half || last >= half || (first < 0) != (last < 0))
        return false;
    int64_t highest = (first > last ? first : last) + (int64_t)r->access_bytes - 1;

    return first < 0 ? highest < 0 : highest < half;
}

/* Adds an access to the line's runs; address_at: the place of its address. */
static int add_run(struct sim_line *l, const char *address_at, const struct sim_run *r)
{
    if (!sim_run_fits(r))
        return fail(l, address_at, "address overflow: more than 57 bits");
    l->run[l->n_runs++] = *r;
    return 0;
}

/* Adds an instruction fetch, or leaves the fetch out. */
static int add_fetch(struct sim_line *l, const char *address_at, struct sim_run r)
{
    l->counts->fetches++;
    r.tag = l->options->fetch_tag;
    if (!sim_run_fits(&r))
        return fail(l, address_at, "address overflow: more than 57 bits");
    if (l->options->has_fetches)
        l->run[l->n_runs++] = r;
    return 0;
}

/* ---- text: L|S|P|N address bytes tag phase ---- */

/* Bytes, tag and phase. */
static int scan_attributes(struct sim_line *l, struct sim_run *r)
{
    uint64_t bytes = 0, tag = 0, phase = 0;
    const char *bytes_at = l->at;
    int err = scan_decimal(l, "not a size of at most 1048576", SIM_TRACE_MAX_BYTES, &bytes);

    if (!err)
        err = check_bytes(l, bytes_at, bytes);
    if (!err)
        err = scan_gap(l, "no blank after the size");
    if (!err)
        err = scan_decimal(l, "not a tag from 0 to 7", SIM_USUAL_TAGS - 1, &tag);
    if (!err)
        err = scan_gap(l, "no blank after the tag");
    if (!err)
        err = scan_decimal(l, "not a phase from 0 to 7", SIM_MAX_PHASES - 1, &phase);
    r->access_bytes = (uint32_t)bytes;
    r->tag = (uint8_t)tag;
    r->phase = (uint8_t)phase;
    return err ? err : scan_end(l);
}

_Static_assert(SIM_USUAL_TAGS == 8 && SIM_MAX_PHASES == 8 && SIM_TRACE_MAX_BYTES == 1048576,
               "messages name the limits");

/* Returns the kind of a label of the text format; SIM_N_KINDS: none. */
static enum sim_kind text_kind(char c)
{
    switch (c) {
    case 'L':
        return SIM_LOAD;
    case 'S':
        return SIM_STORE;
    case 'P':
        return SIM_PREFETCH;
    case 'N':
        return SIM_STORE_NT;
    default:
        return SIM_N_KINDS;
    }
}

static int scan_text(struct sim_line *l)
{
    struct sim_run r = { .count = 1 };
    const char *address_at;
    enum sim_kind kind;
    int err;

    skip_blanks(l);
    if (l->at == l->end || *l->at == '#')
        return 0;
    kind = text_kind(*l->at);
    if (kind == SIM_N_KINDS || !is_blank(l->at[1]))
        return fail(l, l->at, "wrong label (L, S, P or N)");
    r.kind = (uint8_t)kind;
    l->at++;
    skip_blanks(l);
    address_at = l->at;
    err = scan_hex(l, "not a hexadecimal address", &r.addr);
    if (!err)
        err = scan_gap(l, "no size after the address");
    if (!err)
        err = scan_attributes(l, &r);
    return err ? err : add_run(l, address_at, &r);
}

/* ---- din: label address [bytes] ---- */

/* The index of a din label's meaning in the string, both alphabets: 0 load, 1 store, 2 fetch; -1: none. */
static int din_label(char c)
{
    static const char labels[] = "012rwi";
    const char *found = c ? memchr(labels, c, sizeof labels - 1) : NULL;

    return found ? (int)(found - labels) % 3 : -1;
}

static int scan_din(struct sim_line *l)
{
    struct sim_run r = { .count = 1 };
    uint64_t bytes = l->options->din_bytes ? l->options->din_bytes : 4;
    const char *address_at, *bytes_at;
    int label, err;

    skip_blanks(l);
    if (l->at == l->end || *l->at == '#')
        return 0;
    label = din_label(*l->at);
    if (label < 0 || !is_blank(l->at[1]))
        return fail(l, l->at, "wrong label (0 or r, 1 or w, 2 or i)");
    l->at++;
    skip_blanks(l);
    address_at = l->at;
    err = scan_hex(l, "not a hexadecimal address", &r.addr);
    if (!err && l->at != l->end)
        err = scan_gap(l, "no blank after the address");
    bytes_at = l->at;
    if (!err && l->at != l->end)
        err = scan_hex(l, "not a hexadecimal size", &bytes);
    if (!err)
        err = check_bytes(l, bytes_at, bytes);
    if (!err)
        err = scan_end(l);
    if (err)
        return err;
    r.kind = label == 1 ? SIM_STORE : SIM_LOAD;
    r.access_bytes = (uint32_t)bytes;
    return label == 2 ? add_fetch(l, address_at, r) : add_run(l, address_at, &r);
}

/* ---- lackey: "I  address,bytes", " L address,bytes" and the like ---- */

/* Tells whether a line starts like "==pid== ", or with the time of --time-stamp before the number. */
static bool is_valgrinds(const struct sim_line *l)
{
    const char *c = l->at, kind = *c;

    if (l->end - c <= 4 || (kind != '=' && kind != '-' && kind != '*') || c[1] != kind || c[2] < '0' || c[2] > '9')
        return false;
    c += 2;
    c += strspn(c, "0123456789:. "); /* the newline ends the scan */
    return *c == kind && c[1] == kind && (c[2] == ' ' || c + 2 == l->end);
}

/* Tells whether this is the last line of lackey, "==pid== Exit code:       0". */
static bool is_end(const struct sim_line *l)
{
    static const char words[] = "== Exit code:";
    const char *c = l->at + 2;

    c += strspn(c, "0123456789:. ");
    return !strncmp(c, words, sizeof words - 1); /* words has no newline, and the line ends with a newline */
}

bool sim_line_is_skipped(const struct sim_line *l)
{
    return l->options->format == SIM_TRACE_LACKEY ? is_valgrinds(l) : *l->at == '#';
}

static int scan_reference(struct sim_line *l, char label)
{
    struct sim_run r = { .count = 1, .kind = label == 'S' ? SIM_STORE : SIM_LOAD };
    uint64_t bytes = 0;
    const char *address_at = l->at, *bytes_at;
    int err = scan_hex(l, "not a hexadecimal address", &r.addr);

    if (!err && *l->at != ',')
        err = fail(l, l->at, "no comma after the address");
    if (err)
        return err;
    bytes_at = ++l->at;
    err = scan_decimal(l, "not a size of at most 1048576", SIM_TRACE_MAX_BYTES, &bytes);
    if (!err)
        err = check_bytes(l, bytes_at, bytes);
    if (!err)
        err = scan_end(l);
    r.access_bytes = (uint32_t)bytes;
    if (!err)
        err = label == 'I' ? add_fetch(l, address_at, r) : add_run(l, address_at, &r);
    if (!err && label == 'M') {
        r.kind = SIM_STORE;
        err = add_run(l, address_at, &r);
    }
    return err;
}

/* The numbers of blanks before and behind the label do not matter: editors change them. */
static int scan_lackey(struct sim_line *l)
{
    const char *start = l->at;
    char label;

    l->is_valgrinds = is_valgrinds(l);
    if (l->is_valgrinds) {
        l->is_end = is_end(l);
        l->counts->valgrind_lines++;
        return 0;
    }
    skip_blanks(l);
    if (l->at == l->end)
        return 0;
    label = *l->at++;
    if (!label || !strchr("ILSM", label) || !is_blank(*l->at))
        return fail(
            l, start,
            "neither an access (I, L, S or M) nor a line of Valgrind's own; valgrind --log-file=FILE keeps what "
            "the program prints apart");
    skip_blanks(l);
    return scan_reference(l, label);
}

int sim_line_scan(struct sim_line *l)
{
    l->n_runs = 0;
    l->is_end = l->is_valgrinds = false;
    switch (l->options->format) {
    case SIM_TRACE_DIN:
        return scan_din(l);
    case SIM_TRACE_LACKEY:
        return scan_lackey(l);
    default:
        return scan_text(l);
    }
}
