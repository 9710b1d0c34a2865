;; Extremes of windows that overlap, in the kernels' memory: written there too, or where the results belong. `npm run
;; simd` builds them into wasm.ts; a test builds them again and compares. Addresses and sizes are in bytes.
(module
  (memory $memory (import "host" "memory") 1)
  (memory $results (import "host" "results") 1)

  ;; out = the largest of a, b, c and d, each later in memory than the one before; the latest of equals. Eight rows at a
  ;; time: `size` is a multiple of 64. `out` may be `a` or before it. The twin takes the
  ;; smaller.
  (func (export "largestOfFour") (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32)
    (param $size i32) (local $end i32)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (v128.store $results (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $memory (local.get $d)) (v128.load $memory (local.get $c)))
          (f64x2.pmax (v128.load $memory (local.get $b)) (v128.load $memory (local.get $a)))))
      (v128.store $results offset=16 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $memory offset=16 (local.get $d)) (v128.load $memory offset=16 (local.get $c)))
          (f64x2.pmax (v128.load $memory offset=16 (local.get $b)) (v128.load $memory offset=16 (local.get $a)))))
      (v128.store $results offset=32 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $memory offset=32 (local.get $d)) (v128.load $memory offset=32 (local.get $c)))
          (f64x2.pmax (v128.load $memory offset=32 (local.get $b)) (v128.load $memory offset=32 (local.get $a)))))
      (v128.store $results offset=48 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $memory offset=48 (local.get $d)) (v128.load $memory offset=48 (local.get $c)))
          (f64x2.pmax (v128.load $memory offset=48 (local.get $b)) (v128.load $memory offset=48 (local.get $a)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 64)))
      (local.set $d (i32.add (local.get $d) (i32.const 64)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))
  (func (export "smallestOfFour") (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32)
    (param $size i32) (local $end i32)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (v128.store $results (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $memory (local.get $d)) (v128.load $memory (local.get $c)))
          (f64x2.pmin (v128.load $memory (local.get $b)) (v128.load $memory (local.get $a)))))
      (v128.store $results offset=16 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $memory offset=16 (local.get $d)) (v128.load $memory offset=16 (local.get $c)))
          (f64x2.pmin (v128.load $memory offset=16 (local.get $b)) (v128.load $memory offset=16 (local.get $a)))))
      (v128.store $results offset=32 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $memory offset=32 (local.get $d)) (v128.load $memory offset=32 (local.get $c)))
          (f64x2.pmin (v128.load $memory offset=32 (local.get $b)) (v128.load $memory offset=32 (local.get $a)))))
      (v128.store $results offset=48 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $memory offset=48 (local.get $d)) (v128.load $memory offset=48 (local.get $c)))
          (f64x2.pmin (v128.load $memory offset=48 (local.get $b)) (v128.load $memory offset=48 (local.get $a)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 64)))
      (local.set $d (i32.add (local.get $d) (i32.const 64)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))
)
