;; Bands around a mean. Each column has a memory of its own, or all have the kernels'. `npm run simd` builds them into
;; wasm.ts; a test builds them again and compares. Addresses and sizes are in bytes.
(module
  (memory $upper (import "host" "upper") 1)
  (memory $middle (import "host" "middle") 1)
  (memory $lower (import "host" "lower") 1)

  ;; upper = middle + √variance · up, lower = middle - √variance · down, upper in place of the variance. `size` is a
  ;; multiple of 16.
  (func (export "bands") (param $middleAt i32) (param $variance i32) (param $lowerAt i32) (param $size i32)
    (param $up f64) (param $down f64) (local $i i32) (local $ups v128) (local $downs v128) (local $deviation v128)
    (local.set $ups (f64x2.splat (local.get $up)))
    (local.set $downs (f64x2.splat (local.get $down)))
    (loop $next
      (local.set $deviation (f64x2.sqrt (v128.load $upper (i32.add (local.get $variance) (local.get $i)))))
      (v128.store $upper (i32.add (local.get $variance) (local.get $i))
        (f64x2.add (v128.load $middle (i32.add (local.get $middleAt) (local.get $i)))
          (f64x2.mul (local.get $deviation) (local.get $ups))))
      (v128.store $lower (i32.add (local.get $lowerAt) (local.get $i))
        (f64x2.sub (v128.load $middle (i32.add (local.get $middleAt) (local.get $i)))
          (f64x2.mul (local.get $deviation) (local.get $downs))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))
)
