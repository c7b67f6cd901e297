// Modules as others write them, divided as mlir-opt -split-input-file does. "sliced" says of how many convolutions how many are.
// As linalg's own tests have it: images side by side, stride 2, sums that are an argument, and needed once more.
// sliced: 1 of 1
// run: first 2883 864 7200 -> 7200
func.func @first(%x: tensor<1x31x31x3xf32>, %w: tensor<3x3x3x32xf32>, %sums: tensor<1x15x15x32xf32>) -> tensor<1x15x15x32xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x31x31x3xf32>, tensor<3x3x3x32xf32>) outs(%sums : tensor<1x15x15x32xf32>) -> tensor<1x15x15x32xf32>
  %e = tensor.empty() : tensor<1x15x15x32xf32>
  %more = linalg.add ins(%r, %sums : tensor<1x15x15x32xf32>, tensor<1x15x15x32xf32>) outs(%e : tensor<1x15x15x32xf32>) -> tensor<1x15x15x32xf32>
  return %more : tensor<1x15x15x32xf32>
}
// -----
// Buffers of NHWC: three images, dilated by 2 and 3, into memory of its own that is copied.
// sliced: 1 of 1
// run: dilated 6300 1350 -> 5400
func.func @dilated(%x: memref<3x14x15x10xf32>, %w: memref<3x3x10x15xf32>, %out: memref<3x10x9x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() {alignment = 64 : i64} : memref<3x10x9x15xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<3x10x9x15xf32>)
  linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 3]> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : memref<3x14x15x10xf32>, memref<3x3x10x15xf32>) outs(%sums : memref<3x10x9x15xf32>)
  linalg.fill ins(%zero : f32) outs(%out : memref<3x10x9x20xf32>)
  %part = memref.subview %out[0, 0, 0, 3] [3, 10, 9, 15] [1, 1, 1, 1] : memref<3x10x9x20xf32> to memref<3x10x9x15xf32, strided<[1800, 180, 20, 1], offset: 3>>
  memref.copy %sums, %part : memref<3x10x9x15xf32> to memref<3x10x9x15xf32, strided<[1800, 180, 20, 1], offset: 3>>
  memref.dealloc %sums : memref<3x10x9x15xf32>
  return
}
// -----
// A bottleneck of ResNet as torch-mlir leaves it: 1x1, 3x3, 1x1, ReLU between them, and the sum with its input.
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
module attributes {torch.debug_module_name = "Bottleneck"} {
  // sliced: 3 of 3
  // run: forward 6272 512 2304 512 -> 6272
  func.func private @relu(%x: tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x16x14x14xf32>
    %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x16x14x14xf32>) outs(%e : tensor<1x16x14x14xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.maximumf %in, %zero : f32
      linalg.yield %m : f32
    } -> tensor<1x16x14x14xf32>
    return %r : tensor<1x16x14x14xf32>
  }
  func.func @forward(%x: tensor<1x32x14x14xf32>, %w0: tensor<16x32x1x1xf32>, %w1: tensor<16x16x3x3xf32>, %w2: tensor<32x16x1x1xf32>) -> tensor<1x32x14x14xf32> {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<1x16x14x14xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %c0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w0 : tensor<1x32x14x14xf32>, tensor<16x32x1x1xf32>) outs(%f0 : tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %r0 = func.call @relu(%c0) : (tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %framed = tensor.pad %r0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<1x16x14x14xf32> to tensor<1x16x16x16xf32>
    %c1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%framed, %w1 : tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) outs(%f0 : tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %r1 = func.call @relu(%c1) : (tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
    %e2 = tensor.empty() : tensor<1x32x14x14xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
    %c2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%r1, %w2 : tensor<1x16x14x14xf32>, tensor<32x16x1x1xf32>) outs(%f2 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
    %sum = linalg.add ins(%c2, %x : tensor<1x32x14x14xf32>, tensor<1x32x14x14xf32>) outs(%e2 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
    return %sum : tensor<1x32x14x14xf32>
  }
}
// -----
// MobileNet's pair: what is depthwise is left, what is pointwise is sliced; ReLU6 as a clamp.
// sliced: 1 of 2
// run: separable 2904 108 300 -> 3025
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
func.func @separable(%x: tensor<1x22x11x12xf32>, %w0: tensor<3x3x12xf32>, %w1: tensor<1x1x12x25xf32>) -> tensor<1x11x11x25xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %framed = tensor.pad %x low[0, 0, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x22x11x12xf32> to tensor<1x23x13x12xf32>
  %e0 = tensor.empty() : tensor<1x11x11x12xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x11x11x12xf32>) -> tensor<1x11x11x12xf32>
  %d = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%framed, %w0 : tensor<1x23x13x12xf32>, tensor<3x3x12xf32>) outs(%f0 : tensor<1x11x11x12xf32>) -> tensor<1x11x11x12xf32>
  %c = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%d : tensor<1x11x11x12xf32>) {
  ^bb0(%v: f32):
    %low = arith.maximumf %v, %zero : f32
    %high = arith.minimumf %low, %six : f32
    linalg.yield %high : f32
  } -> tensor<1x11x11x12xf32>
  %e1 = tensor.empty() : tensor<1x11x11x25xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x11x11x25xf32>) -> tensor<1x11x11x25xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%c, %w1 : tensor<1x11x11x12xf32>, tensor<1x1x12x25xf32>) outs(%f1 : tensor<1x11x11x25xf32>) -> tensor<1x11x11x25xf32>
  return %r : tensor<1x11x11x25xf32>
}
// -----
// Two branches of an Inception read one input, 1x7 behind 7x1 in one of them, and are put side by side.
// sliced: 3 of 3
// run: inception 3328 2912 1456 208 -> 2688
func.func @inception(%x: tensor<1x26x8x16xf32>, %w0: tensor<16x26x7x1xf32>, %w1: tensor<13x16x1x7xf32>, %w2: tensor<8x26x1x1xf32>) -> tensor<1x21x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %fx = tensor.pad %x low[0, 0, 3, 0] high[0, 0, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x26x8x16xf32> to tensor<1x26x14x16xf32>
  %e0 = tensor.empty() : tensor<1x16x8x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x8x16xf32>) -> tensor<1x16x8x16xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%fx, %w0 : tensor<1x26x14x16xf32>, tensor<16x26x7x1xf32>) outs(%f0 : tensor<1x16x8x16xf32>) -> tensor<1x16x8x16xf32>
  %fy = tensor.pad %c0 low[0, 0, 0, 3] high[0, 0, 0, 3] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x16xf32> to tensor<1x16x8x22xf32>
  %e1 = tensor.empty() : tensor<1x13x8x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x13x8x16xf32>) -> tensor<1x13x8x16xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%fy, %w1 : tensor<1x16x8x22xf32>, tensor<13x16x1x7xf32>) outs(%f1 : tensor<1x13x8x16xf32>) -> tensor<1x13x8x16xf32>
  %e2 = tensor.empty() : tensor<1x8x8x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %c2 = linalg.conv_2d_nchw_fchw ins(%x, %w2 : tensor<1x26x8x16xf32>, tensor<8x26x1x1xf32>) outs(%f2 : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %e = tensor.empty() : tensor<1x21x8x16xf32>
  %a = tensor.insert_slice %c1 into %e[0, 0, 0, 0] [1, 13, 8, 16] [1, 1, 1, 1] : tensor<1x13x8x16xf32> into tensor<1x21x8x16xf32>
  %b = tensor.insert_slice %c2 into %a[0, 13, 0, 0] [1, 8, 8, 16] [1, 1, 1, 1] : tensor<1x8x8x16xf32> into tensor<1x21x8x16xf32>
  return %b : tensor<1x21x8x16xf32>
}
// -----
// AlexNet's two groups, of slices that are not one behind the other, stride 1, 5x5.
// sliced: 2 of 2
// run: groups 2560 2400 -> 1728
func.func @groups(%x: tensor<1x16x10x16xf32>, %w: tensor<24x4x5x5xf32>) -> tensor<1x24x6x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x24x6x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24x6x12xf32>) -> tensor<1x24x6x12xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0, 0] [1, 4, 10, 16] [1, 2, 1, 1] : tensor<1x16x10x16xf32> to tensor<1x4x10x16xf32>
  %x1 = tensor.extract_slice %x[0, 9, 0, 0] [1, 4, 10, 16] [1, 2, 1, 1] : tensor<1x16x10x16xf32> to tensor<1x4x10x16xf32>
  %w0 = tensor.extract_slice %w[0, 0, 0, 0] [12, 4, 5, 5] [1, 1, 1, 1] : tensor<24x4x5x5xf32> to tensor<12x4x5x5xf32>
  %w1 = tensor.extract_slice %w[12, 0, 0, 0] [12, 4, 5, 5] [1, 1, 1, 1] : tensor<24x4x5x5xf32> to tensor<12x4x5x5xf32>
  %s0 = tensor.extract_slice %f[0, 0, 0, 0] [1, 12, 6, 12] [1, 1, 1, 1] : tensor<1x24x6x12xf32> to tensor<1x12x6x12xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%x0, %w0 : tensor<1x4x10x16xf32>, tensor<12x4x5x5xf32>) outs(%s0 : tensor<1x12x6x12xf32>) -> tensor<1x12x6x12xf32>
  %r0 = tensor.insert_slice %c0 into %f[0, 0, 0, 0] [1, 12, 6, 12] [1, 1, 1, 1] : tensor<1x12x6x12xf32> into tensor<1x24x6x12xf32>
  %s1 = tensor.extract_slice %r0[0, 12, 0, 0] [1, 12, 6, 12] [1, 1, 1, 1] : tensor<1x24x6x12xf32> to tensor<1x12x6x12xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%x1, %w1 : tensor<1x4x10x16xf32>, tensor<12x4x5x5xf32>) outs(%s1 : tensor<1x12x6x12xf32>) -> tensor<1x12x6x12xf32>
  %r1 = tensor.insert_slice %c1 into %r0[0, 12, 0, 0] [1, 12, 6, 12] [1, 1, 1, 1] : tensor<1x12x6x12xf32> into tensor<1x24x6x12xf32>
  return %r1 : tensor<1x24x6x12xf32>
}
// -----
// As IREE has NHWC behind its passes: a padding that fill and insert_slice make, a bias that sums begin with, and a pooling.
#row = affine_map<(n, h, w, c) -> (c)>
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
// sliced: 1 of 1
// run: dispatch 1944 864 16 -> 576
func.func @dispatch(%x: tensor<1x18x18x6xf32>, %w: tensor<3x3x6x16xf32>, %b: tensor<16xf32>) -> tensor<1x6x6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x20x20x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x20x6xf32>) -> tensor<1x20x20x6xf32>
  %framed = tensor.insert_slice %x into %z[0, 1, 1, 0] [1, 18, 18, 6] [1, 1, 1, 1] : tensor<1x18x18x6xf32> into tensor<1x20x20x6xf32>
  %e0 = tensor.empty() : tensor<1x18x18x16xf32>
  %sums = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<16xf32>) outs(%e0 : tensor<1x18x18x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x18x18x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%framed, %w : tensor<1x20x20x6xf32>, tensor<3x3x6x16xf32>) outs(%sums : tensor<1x18x18x16xf32>) -> tensor<1x18x18x16xf32>
  %win = tensor.empty() : tensor<3x3xf32>
  %e1 = tensor.empty() : tensor<1x6x6x16xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %p = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<3> : vector<2xi64>} ins(%c, %win : tensor<1x18x18x16xf32>, tensor<3x3xf32>) outs(%f1 : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  return %p : tensor<1x6x6x16xf32>
}
// -----
// A branch: one of two filters, or none, by an input's first value; functions that call each other.
// sliced: 2 of 2
// run: choose 1620 270 480 -> 1792
func.func private @three(%x: tensor<1x10x9x18xf32>, %w: tensor<3x10x3x3xf32>, %o: tensor<1x16x7x16xf32>) -> tensor<1x16x7x16xf32> {
  %s = tensor.extract_slice %o[0, 2, 0, 0] [1, 3, 7, 16] [1, 1, 1, 1] : tensor<1x16x7x16xf32> to tensor<1x3x7x16xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x10x9x18xf32>, tensor<3x10x3x3xf32>) outs(%s : tensor<1x3x7x16xf32>) -> tensor<1x3x7x16xf32>
  %r = tensor.insert_slice %c into %o[0, 2, 0, 0] [1, 3, 7, 16] [1, 1, 1, 1] : tensor<1x3x7x16xf32> into tensor<1x16x7x16xf32>
  return %r : tensor<1x16x7x16xf32>
}
func.func @choose(%x: tensor<1x10x9x18xf32>, %w0: tensor<3x10x3x3xf32>, %w1: tensor<16x10x1x3xf32>) -> tensor<1x16x7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<1x16x7x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x7x16xf32>) -> tensor<1x16x7x16xf32>
  %v = tensor.extract %x[%c0, %c0, %c0, %c0] : tensor<1x10x9x18xf32>
  %is = arith.cmpf oge, %v, %zero : f32
  %r = scf.if %is -> (tensor<1x16x7x16xf32>) {
    %t = func.call @three(%x, %w0, %f) : (tensor<1x10x9x18xf32>, tensor<3x10x3x3xf32>, tensor<1x16x7x16xf32>) -> tensor<1x16x7x16xf32>
    scf.yield %t : tensor<1x16x7x16xf32>
  } else {
    scf.yield %f : tensor<1x16x7x16xf32>
  }
  %y = tensor.extract_slice %x[0, 0, 0, 0] [1, 10, 7, 18] [1, 1, 1, 1] : tensor<1x10x9x18xf32> to tensor<1x10x7x18xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%y, %w1 : tensor<1x10x7x18xf32>, tensor<16x10x1x3xf32>) outs(%r : tensor<1x16x7x16xf32>) -> tensor<1x16x7x16xf32>
  return %a : tensor<1x16x7x16xf32>
}
// -----
// A transposed convolution: zeros between the pixels, then 4x4; as a U-Net comes back to its input's size.
// sliced: 1 of 1
// run: up 1024 1536 -> 1536
func.func @up(%x: tensor<1x16x8x8xf32>, %w: tensor<6x16x4x4xf32>) -> tensor<1x6x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x19x19xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x19x19xf32>) -> tensor<1x16x19x19xf32>
  %apart = tensor.insert_slice %x into %z[0, 0, 2, 2] [1, 16, 8, 8] [1, 1, 2, 2] : tensor<1x16x8x8xf32> into tensor<1x16x19x19xf32>
  %o = tensor.empty() : tensor<1x6x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x6x16x16xf32>) -> tensor<1x6x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%apart, %w : tensor<1x16x19x19xf32>, tensor<6x16x4x4xf32>) outs(%f : tensor<1x6x16x16xf32>) -> tensor<1x6x16x16xf32>
  return %r : tensor<1x6x16x16xf32>
}
// -----
// Buffers that a loop hands on, an in-place ReLU by loops of affine, and a filter of a global that may change.
// sliced: 1 of 1
// run: steps 2048 -> 2048
memref.global "private" @filter : memref<8x8x3x3xf32> = dense<0.125>
func.func @steps(%x: memref<1x8x16x16xf32>, %y: memref<1x8x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %w = memref.get_global @filter : memref<8x8x3x3xf32>
  %framed = memref.alloc() : memref<1x8x18x18xf32>
  linalg.fill ins(%zero : f32) outs(%framed : memref<1x8x18x18xf32>)
  %inside = memref.subview %framed[0, 0, 1, 1] [1, 8, 16, 16] [1, 1, 1, 1] : memref<1x8x18x18xf32> to memref<1x8x16x16xf32, strided<[2592, 324, 18, 1], offset: 19>>
  memref.copy %x, %y : memref<1x8x16x16xf32> to memref<1x8x16x16xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    memref.copy %y, %inside : memref<1x8x16x16xf32> to memref<1x8x16x16xf32, strided<[2592, 324, 18, 1], offset: 19>>
    linalg.fill ins(%zero : f32) outs(%y : memref<1x8x16x16xf32>)
    linalg.conv_2d_nchw_fchw ins(%framed, %w : memref<1x8x18x18xf32>, memref<8x8x3x3xf32>) outs(%y : memref<1x8x16x16xf32>)
    affine.for %c = 0 to 8 {
      affine.for %h = 0 to 16 {
        affine.for %v = 0 to 16 {
          %a = affine.load %y[0, %c, %h, %v] : memref<1x8x16x16xf32>
          %m = arith.maximumf %a, %zero : f32
          affine.store %m, %y[0, %c, %h, %v] : memref<1x8x16x16xf32>
        }
      }
    }
  }
  memref.dealloc %framed : memref<1x8x18x18xf32>
  return
}
