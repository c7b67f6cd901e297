/* Holds version 1 of conv_plugin.h: where every field lies, on computers with pointers of 8 bytes. C11, and C++. */
#include <assert.h>

#include "conv_plugin.h"

#define HOLDS(type, field, at) static_assert(offsetof(struct type, field) == (at), #type "." #field)

static_assert(CONV_PLUGIN_ABI == 1, "a new version needs a new table");
HOLDS(conv_plugin_shape, bytes, 0);
HOLDS(conv_plugin_shape, batch, 4);
HOLDS(conv_plugin_shape, groups, 8);
HOLDS(conv_plugin_shape, in_channels, 12);
HOLDS(conv_plugin_shape, in_h, 16);
HOLDS(conv_plugin_shape, in_w, 20);
HOLDS(conv_plugin_shape, out_channels, 24);
HOLDS(conv_plugin_shape, out_h, 28);
HOLDS(conv_plugin_shape, out_w, 32);
HOLDS(conv_plugin_shape, kernel_h, 36);
HOLDS(conv_plugin_shape, kernel_w, 40);
HOLDS(conv_plugin_shape, stride_h, 44);
HOLDS(conv_plugin_shape, stride_w, 48);
HOLDS(conv_plugin_shape, pad_top, 52);
HOLDS(conv_plugin_shape, pad_left, 56);
HOLDS(conv_plugin_shape, pad_bottom, 60);
HOLDS(conv_plugin_shape, pad_right, 64);
HOLDS(conv_plugin_shape, dilation_h, 68);
HOLDS(conv_plugin_shape, dilation_w, 72);
HOLDS(conv_plugin_ask, bytes, 0);
HOLDS(conv_plugin_ask, threads, 4);
HOLDS(conv_plugin_ask, plan, 8);
HOLDS(conv_plugin_ask, marks, 16);
HOLDS(conv_plugin_marks, mark, 0);
HOLDS(conv_plugin_marks, of, 8);
static_assert(CONV_PLUGIN_COMPUTES == 0 && CONV_PLUGIN_PACKS == 1 && CONV_PLUGIN_LOWERS == 2 && CONV_PLUGIN_CLEARS == 3,
              "phases");
HOLDS(conv_plugin_region, name, 0);
HOLDS(conv_plugin_region, at, 8);
HOLDS(conv_plugin_region, bytes, 16);
HOLDS(conv_plugin, abi, 0);
HOLDS(conv_plugin, name, 8);
HOLDS(conv_plugin, title, 16);
HOLDS(conv_plugin, why_not, 24);
HOLDS(conv_plugin, prepare, 32);
HOLDS(conv_plugin, run, 40);
HOLDS(conv_plugin, release, 48);
HOLDS(conv_plugin, regions, 56);
HOLDS(conv_plugin_layout, convert_in, 0);
HOLDS(conv_plugin_layout, convert_out, 8);
