;; Comparisons of two columns in the kernels' memory. `npm run simd` builds them into wasm.ts; a test builds them again
;; and compares. Addresses and sizes are in bytes. What lies behind the last row of a block is compared too.
(module
  (memory (import "host" "memory") 1)

  ;; Bits of the rows on which a is greater than b, and on which it is less: eight rows per byte. `size` is a multiple
  ;; of 64.
  (func (export "compareRows") (param $a i32) (param $b i32) (param $size i32) (param $greater i32) (param $less i32)
    (local $end i32) (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (local.set $a0 (v128.load offset=0 (local.get $a)))
      (local.set $b0 (v128.load offset=0 (local.get $b)))
      (local.set $a1 (v128.load offset=16 (local.get $a)))
      (local.set $b1 (v128.load offset=16 (local.get $b)))
      (local.set $a2 (v128.load offset=32 (local.get $a)))
      (local.set $b2 (v128.load offset=32 (local.get $b)))
      (local.set $a3 (v128.load offset=48 (local.get $a)))
      (local.set $b3 (v128.load offset=48 (local.get $b)))
      (i32.store8 (local.get $greater) (i32.or
        (i32.or
          (i64x2.bitmask (f64x2.gt (local.get $a0) (local.get $b0)))
          (i32.shl (i64x2.bitmask (f64x2.gt (local.get $a1) (local.get $b1))) (i32.const 2)))
        (i32.or
          (i32.shl (i64x2.bitmask (f64x2.gt (local.get $a2) (local.get $b2))) (i32.const 4))
          (i32.shl (i64x2.bitmask (f64x2.gt (local.get $a3) (local.get $b3))) (i32.const 6)))))
      (i32.store8 (local.get $less) (i32.or
        (i32.or
          (i64x2.bitmask (f64x2.lt (local.get $a0) (local.get $b0)))
          (i32.shl (i64x2.bitmask (f64x2.lt (local.get $a1) (local.get $b1))) (i32.const 2)))
        (i32.or
          (i32.shl (i64x2.bitmask (f64x2.lt (local.get $a2) (local.get $b2))) (i32.const 4))
          (i32.shl (i64x2.bitmask (f64x2.lt (local.get $a3) (local.get $b3))) (i32.const 6)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $greater (i32.add (local.get $greater) (i32.const 1)))
      (local.set $less (i32.add (local.get $less) (i32.const 1)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))
)
