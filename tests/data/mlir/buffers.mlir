// Buffers, as a compiler leaves them after bufferization: zeros, a convolution into a part of a larger buffer, one that adds to it, and one
// whose output has rows that are not one behind the other.
// run: run 1352 1350 750 -> 2904
module {
  func.func @run(%x: memref<1x8x13x13xf32>, %w0: memref<10x15x3x3xf32>, %w1: memref<10x3x5x5xf32>, %out: memref<1x24x11x11xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%out : memref<1x24x11x11xf32>)
    %in = memref.subview %x[0, 0, 0, 0] [1, 3, 13, 13] [1, 1, 1, 1] : memref<1x8x13x13xf32> to memref<1x3x13x13xf32, strided<[1352, 169, 13, 1]>>
    %w = memref.subview %w0[0, 2, 0, 0] [10, 3, 3, 3] [1, 1, 1, 1] : memref<10x15x3x3xf32> to memref<10x3x3x3xf32, strided<[135, 9, 3, 1], offset: 18>>
    %part = memref.subview %out[0, 10, 0, 0] [1, 10, 11, 11] [1, 1, 1, 1] : memref<1x24x11x11xf32> to memref<1x10x11x11xf32, strided<[2904, 121, 11, 1], offset: 1210>>
    linalg.fill ins(%zero : f32) outs(%part : memref<1x10x11x11xf32, strided<[2904, 121, 11, 1], offset: 1210>>)
    linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%in, %w : memref<1x3x13x13xf32, strided<[1352, 169, 13, 1]>>, memref<10x3x3x3xf32, strided<[135, 9, 3, 1], offset: 18>>) outs(%part : memref<1x10x11x11xf32, strided<[2904, 121, 11, 1], offset: 1210>>)
    %more = memref.subview %x[0, 4, 0, 0] [1, 3, 13, 13] [1, 1, 1, 1] : memref<1x8x13x13xf32> to memref<1x3x13x13xf32, strided<[1352, 169, 13, 1], offset: 676>>
    linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%more, %w : memref<1x3x13x13xf32, strided<[1352, 169, 13, 1], offset: 676>>, memref<10x3x3x3xf32, strided<[135, 9, 3, 1], offset: 18>>) outs(%part : memref<1x10x11x11xf32, strided<[2904, 121, 11, 1], offset: 1210>>)
    %inner = memref.subview %out[0, 10, 1, 1] [1, 10, 9, 9] [1, 1, 1, 1] : memref<1x24x11x11xf32> to memref<1x10x9x9xf32, strided<[2904, 121, 11, 1], offset: 1222>>
    linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%in, %w1 : memref<1x3x13x13xf32, strided<[1352, 169, 13, 1]>>, memref<10x3x5x5xf32>) outs(%inner : memref<1x10x9x9xf32, strided<[2904, 121, 11, 1], offset: 1222>>)
    return
  }
}
