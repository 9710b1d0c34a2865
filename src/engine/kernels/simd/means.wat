;; Means of single windows, read where the column lies, in memory that threads share (means.ts). `npm run simd` builds
;; it into wasm.ts; a test builds it again and compares. Addresses and sizes are in bytes.
(module
  (memory $columns (import "host" "columns") 1 65536 shared)
  (memory $memory (import "host" "memory") 1)

  ;; out = the mean of each window. From `begins` to `end` is a list of i32, a multiple of four: where each window
  ;; begins, as a distance from `column`. Four windows at once, in two lanes of two vectors, because a sum waits for
  ;; its own addition and a window for its memory. A window has two values or more.
  (func (export "meansAt") (param $column i32) (param $begins i32) (param $end i32) (param $out i32) (param $size i32)
    (local $i i32) (local $a i32) (local $b i32) (local $c i32) (local $d i32) (local $counts v128)
    (local $firstAB v128) (local $highAB v128) (local $lowAB v128) (local $valueAB v128) (local $sumAB v128)
    (local $firstCD v128) (local $highCD v128) (local $lowCD v128) (local $valueCD v128) (local $sumCD v128)
    (local $flatAB v128) (local $flatCD v128)
    (local.set $counts (f64x2.splat (f64.convert_i32_u (i32.shr_u (local.get $size) (i32.const 3)))))
    (loop $windows
      (local.set $a (i32.add (local.get $column) (i32.load $memory (local.get $begins))))
      (local.set $b (i32.add (local.get $column) (i32.load $memory offset=4 (local.get $begins))))
      (local.set $c (i32.add (local.get $column) (i32.load $memory offset=8 (local.get $begins))))
      (local.set $d (i32.add (local.get $column) (i32.load $memory offset=12 (local.get $begins))))
      (local.set $firstAB (v128.load64_lane $columns 1 (local.get $b) (v128.load64_splat $columns (local.get $a))))
      (local.set $firstCD (v128.load64_lane $columns 1 (local.get $d) (v128.load64_splat $columns (local.get $c))))
      (local.set $valueAB (v128.load64_lane $columns offset=8 1 (local.get $b)
        (v128.load64_splat $columns offset=8 (local.get $a))))
      (local.set $valueCD (v128.load64_lane $columns offset=8 1 (local.get $d)
        (v128.load64_splat $columns offset=8 (local.get $c))))
      ;; The rounding error of the first sum: the larger value comes first.
      (local.set $highAB (f64x2.add (local.get $firstAB) (local.get $valueAB)))
      (local.set $highCD (f64x2.add (local.get $firstCD) (local.get $valueCD)))
      (local.set $lowAB (f64x2.sub (f64x2.pmin (local.get $firstAB) (local.get $valueAB))
        (f64x2.sub (local.get $highAB) (f64x2.pmax (local.get $firstAB) (local.get $valueAB)))))
      (local.set $lowCD (f64x2.sub (f64x2.pmin (local.get $firstCD) (local.get $valueCD))
        (f64x2.sub (local.get $highCD) (f64x2.pmax (local.get $firstCD) (local.get $valueCD)))))
      (local.set $flatAB (f64x2.eq (local.get $firstAB) (local.get $valueAB)))
      (local.set $flatCD (f64x2.eq (local.get $firstCD) (local.get $valueCD)))
      (local.set $i (i32.const 16))
      (block $whole (loop $values
        (br_if $whole (i32.ge_u (local.get $i) (local.get $size)))
        (local.set $valueAB (v128.load64_lane $columns 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat $columns (i32.add (local.get $a) (local.get $i)))))
        (local.set $valueCD (v128.load64_lane $columns 1 (i32.add (local.get $d) (local.get $i))
          (v128.load64_splat $columns (i32.add (local.get $c) (local.get $i)))))
        (local.set $sumAB (f64x2.add (local.get $highAB) (local.get $valueAB)))
        (local.set $sumCD (f64x2.add (local.get $highCD) (local.get $valueCD)))
        (local.set $lowAB (f64x2.add (local.get $lowAB)
          (f64x2.sub (local.get $valueAB) (f64x2.sub (local.get $sumAB) (local.get $highAB)))))
        (local.set $lowCD (f64x2.add (local.get $lowCD)
          (f64x2.sub (local.get $valueCD) (f64x2.sub (local.get $sumCD) (local.get $highCD)))))
        (local.set $highAB (local.get $sumAB))
        (local.set $highCD (local.get $sumCD))
        (local.set $flatAB (v128.and (local.get $flatAB) (f64x2.eq (local.get $firstAB) (local.get $valueAB))))
        (local.set $flatCD (v128.and (local.get $flatCD) (f64x2.eq (local.get $firstCD) (local.get $valueCD))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $values)))
      ;; The mean of equal values is one of them.
      (v128.store $memory (local.get $out) (v128.bitselect (local.get $firstAB)
        (f64x2.div (f64x2.add (local.get $highAB) (local.get $lowAB)) (local.get $counts)) (local.get $flatAB)))
      (v128.store $memory offset=16 (local.get $out) (v128.bitselect (local.get $firstCD)
        (f64x2.div (f64x2.add (local.get $highCD) (local.get $lowCD)) (local.get $counts)) (local.get $flatCD)))
      (local.set $out (i32.add (local.get $out) (i32.const 32)))
      (br_if $windows
        (i32.lt_u (local.tee $begins (i32.add (local.get $begins) (i32.const 16))) (local.get $end))))))
