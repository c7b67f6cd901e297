/* gnuplot's point symbols, by its names. */
#include "experiments/page/exp_page_svg.h"

#define OPEN_SYMBOL(number, element, shape)                                                                            \
    "<" element " id=\"gpPt" #number "\" fill=\"none\" stroke=\"currentColor\" stroke-width=\".242\" " shape "/>"
#define FULL_SYMBOL(number, element, shape)                                                                            \
    "<" element " id=\"gpPt" #number "\" fill=\"currentColor\" stroke=\"none\" " shape "/>"
#define BOTH_SYMBOLS(open, full, element, shape) OPEN_SYMBOL(open, element, shape) FULL_SYMBOL(full, element, shape)

/* clang-format off */
const char exp_page_symbols[] =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"symbols\"><defs>"
    OPEN_SYMBOL(0, "path", "d=\"M-1,0h2M0,-1v2\"")
    OPEN_SYMBOL(1, "path", "d=\"M-1,-1L1,1M1,-1L-1,1\"")
    OPEN_SYMBOL(2, "path", "d=\"M-1,0L1,0M0,-1L0,1M-1,-1L1,1M-1,1L1,-1\"")
    BOTH_SYMBOLS(3, 4, "rect", "x=\"-1\" y=\"-1\" width=\"2\" height=\"2\"")
    BOTH_SYMBOLS(5, 6, "circle", "r=\"1\"")
    BOTH_SYMBOLS(7, 8, "path", "d=\"M0,-1.33L-1.33,.67L1.33,.67z\"")
    BOTH_SYMBOLS(9, 10, "path", "d=\"M0,1.33L-1.33,-.67L1.33,-.67z\"")
    BOTH_SYMBOLS(11, 12, "path", "d=\"M0,-1.41L1.41,0L0,1.41L-1.41,0z\"")
    BOTH_SYMBOLS(13, 14, "path", "d=\"M0,1.33L1.27,.41L.78,-1.07L-.78,-1.08L-1.27,.41z\"")
    "</defs></svg>\n";
/* clang-format on */
