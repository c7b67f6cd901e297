#include "experiments/page/exp_page_coordinates.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Prints a number with at most one digit after the point where it is above 10, two otherwise. */
static const char *put_number(const char *text, FILE *out)
{
    char *end, digits[32];
    double value = strtod(text, &end);

    if (!strchr("+-.0123456789", *text) || end == text || value > 1e7 || value < -1e7) {
        fputc(*text, out);
        return text + 1;
    }
    snprintf(digits, sizeof digits, "%.*f", value >= 10 || value <= -10 ? 1 : 2, value);
    if (strchr(digits, '.')) {
        char *last = digits + strlen(digits) - 1;

        while (*last == '0')
            *last-- = '\0';
        if (*last == '.')
            *last = '\0';
    }
    fputs(!strcmp(digits, "-0") ? "0" : digits, out);
    return end;
}

bool exp_page_is_drawn(const char *value)
{
    return strspn(value, "0123456789.,+- \t\nMmLlHhVvCcQqZzAaeEtranslcoikwpxXY()") == strlen(value);
}

void exp_page_put_numbers(const char *value, FILE *out)
{
    const char *end = value + strlen(value);

    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    while (value < end) {
        if (isspace((unsigned char)*value)) {
            while (value < end && isspace((unsigned char)*value))
                value++;
            if (value < end && !isalpha((unsigned char)*value))
                fputc(' ', out);
        } else {
            value = put_number(value, out);
        }
    }
}
