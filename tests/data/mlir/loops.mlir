// Two functions, of which one calls the other in a loop over images, and an operation of no known dialect's kind in between is none of ours.
// run: batch 1323 2352 -> 1536
module {
  func.func private @stem(%x: tensor<1x3x21x7xf32>, %w: tensor<16x3x7x7xf32>) -> tensor<1x16x8x1xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x16x8x1xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x8x1xf32>) -> tensor<1x16x8x1xf32>
    %r = linalg.conv_2d_nchw_fchw {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x3x21x7xf32>, tensor<16x3x7x7xf32>) outs(%f : tensor<1x16x8x1xf32>) -> tensor<1x16x8x1xf32>
    return %r : tensor<1x16x8x1xf32>
  }
  func.func @batch(%x: tensor<3x3x21x7xf32>, %w: tensor<16x3x7x7xf32>) -> tensor<12x16x8x1xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c12 = arith.constant 12 : index
    %e = tensor.empty() : tensor<12x16x8x1xf32>
    %r = scf.for %i = %c0 to %c12 step %c1 iter_args(%out = %e) -> (tensor<12x16x8x1xf32>) {
      %n = arith.remui %i, %c3 : index
      %image = tensor.extract_slice %x[%n, 0, 0, 0] [1, 3, 21, 7] [1, 1, 1, 1] : tensor<3x3x21x7xf32> to tensor<1x3x21x7xf32>
      %y = func.call @stem(%image, %w) : (tensor<1x3x21x7xf32>, tensor<16x3x7x7xf32>) -> tensor<1x16x8x1xf32>
      %next = tensor.insert_slice %y into %out[%i, 0, 0, 0] [1, 16, 8, 1] [1, 1, 1, 1] : tensor<1x16x8x1xf32> into tensor<12x16x8x1xf32>
      scf.yield %next : tensor<12x16x8x1xf32>
    }
    return %r : tensor<12x16x8x1xf32>
  }
}
