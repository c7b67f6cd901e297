# Writes a layer table (experiments/models/README.md) as MLIR: a function for each layer, as a compiler of networks leaves
# it: a padding, zeros, a convolution. Layers with groups are left out, and those of more multiply-adds than `most` (0: none is).
#
#     awk -f experiments/emit/layers_to_mlir.awk experiments/models/vgg16.csv >vgg16.mlir
#
# A comment before each function says how many floats its arguments and its result are: "// run: f0 27 108 -> 36".
BEGIN { FS = "," }

# Returns a column by its name, or what stands for one that the table has not.
function at(name, otherwise) { return name in column ? $column[name] : otherwise }
function tensor(c, h, w) { return "tensor<" batch "x" c "x" h "x" w "xf32>" }

/^#/ { next }
!n_columns {
    for (n_columns = 1; n_columns <= NF; n_columns++)
        column[$n_columns] = n_columns
    next
}
at("group", 1) == 1 {
    batch = at("batch", 1); c = at("in_c"); h = at("in_h"); w = at("in_w"); k = at("out_c"); r = at("k_h"); s = at("k_w")
    sh = at("stride_h", 1); sw = at("stride_w", 1); dh = at("dilation_h", 1); dw = at("dilation_w", 1)
    top = at("pad_top", 0); left = at("pad_left", 0); bottom = at("pad_bottom", 0); right = at("pad_right", 0)
    p = int((h + top + bottom - ((r - 1) * dh + 1)) / sh + 1)
    q = int((w + left + right - ((s - 1) * dw + 1)) / sw + 1)
    if (most && batch * p * q * k * c * r * s > most)
        next
    image = tensor(c, h, w)
    framed = tensor(c, h + top + bottom, w + left + right)
    filter = "tensor<" k "x" c "x" r "x" s "xf32>"
    out = tensor(k, p, q)
    print "// " at("name")
    print "// run: f" n + 0, batch * c * h * w, k * c * r * s, "->", batch * k * p * q
    print "func.func @f" n++ "(%x: " image ", %w: " filter ", %e: " out " {bufferization.writable = true}) -> " out " {"
    print "  %zero = arith.constant 0.0 : f32"
    if (framed != image) {
        print "  %y = tensor.pad %x low[0, 0, " top ", " left "] high[0, 0, " bottom ", " right "] {"
        print "  ^bb0(%a: index, %b: index, %c: index, %d: index):\n    tensor.yield %zero : f32\n  } : " image " to " framed
    }
    print "  %z = linalg.fill ins(%zero : f32) outs(%e : " out ") -> " out
    print "  %r = linalg.conv_2d_nchw_fchw {strides = dense<[" sh ", " sw "]> : tensor<2xi64>, dilations = dense<[" dh ", " dw "]> : tensor<2xi64>}"
    print "    ins(" (framed != image ? "%y" : "%x") ", %w : " framed ", " filter ") outs(%z : " out ") -> " out
    print "  return %r : " out "\n}\n"
}
