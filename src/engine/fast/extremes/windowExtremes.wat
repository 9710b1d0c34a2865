;; Extremes of a moving window: columns are read where they are, in shared memory; windows that the last ones are put
;; together from lie in the kernels' memory; results are written there too, or where they belong. `npm run simd` builds
;; them into wasm.ts; a test builds them again and compares. Addresses and sizes are in bytes. What lies behind the last
;; row of a block is computed too, and never read. The columns come first: V8 keeps the address of the first memory in a
;; register. Each function has a twin that takes the smaller where this one takes the larger.
(module
  (memory $columns (import "host" "columns") 1 65536 shared)
  (memory $kernels (import "host" "kernels") 1)
  (memory $results (import "host" "memory") 1)

  ;; out = the largest of a, b, c and d, each later in memory than the one before; the latest of equals. Eight rows at a
  ;; time: `size` is a multiple of 64. `out` may be `a` or before it.
  (func (export "largestOfFour") (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32)
    (param $size i32) (local $end i32)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (v128.store $results (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
          (f64x2.pmax (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
      (v128.store $results offset=16 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
          (f64x2.pmax (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
      (v128.store $results offset=32 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
          (f64x2.pmax (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
      (v128.store $results offset=48 (local.get $out)
        (f64x2.pmax
          (f64x2.pmax (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
          (f64x2.pmax (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
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
          (f64x2.pmin (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
          (f64x2.pmin (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
      (v128.store $results offset=16 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
          (f64x2.pmin (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
      (v128.store $results offset=32 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
          (f64x2.pmin (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
      (v128.store $results offset=48 (local.get $out)
        (f64x2.pmin
          (f64x2.pmin (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
          (f64x2.pmin (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 64)))
      (local.set $d (i32.add (local.get $d) (i32.const 64)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))

  ;; windows = the largest of each row of the source and the three before it, the latest of equals: an earlier row is in
  ;; a register and is not loaded again. The first three mean nothing. `size` is a multiple of 64.
  ;; out = the largest of the four windows at a, b, c and d, and of those at the next rows, as `largestOfFour`.
  ;;
  ;; The two by turns, 64 rows each: reading columns and writing results both wait for memory, and so they wait at the
  ;; same time. Windows are read again when 128 further ones have been written, since a load that is not of the same 16
  ;; bytes as a store waits until that store has left the processor.
  (func (export "largestBy4") (param $source i32) (param $windows i32) (param $size i32)
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32) (param $outSize i32)
    (local $end i32) (local $until i32) (local $outEnd i32) (local $ready i32)
    (local $row v128) (local $lastRow v128) (local $two v128) (local $lastTwo v128)
    (local.set $end (i32.add (local.get $windows) (local.get $size)))
    (local.set $outEnd (i32.add (local.get $out) (local.get $outSize)))
    (loop $chunks
      (local.set $until (i32.add (local.get $windows) (i32.const 512)))
      (if (i32.gt_u (local.get $until) (local.get $end)) (then (local.set $until (local.get $end))))
      (loop $rows
        (local.set $row (v128.load $columns (local.get $source)))
        (local.set $two (f64x2.pmax (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (v128.store $kernels (local.get $windows) (f64x2.pmax (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $source (i32.add (local.get $source) (i32.const 16)))
        (br_if $rows (i32.lt_u (local.tee $windows (i32.add (local.get $windows) (i32.const 16))) (local.get $until))))
      (local.set $ready (select
        (i32.and (i32.sub (local.get $windows) (i32.add (local.get $d) (i32.const 1024))) (i32.const -64))
        (i32.sub (local.get $outEnd) (local.get $out))
        (i32.lt_u (local.get $windows) (local.get $end))))
      (if (i32.gt_s (local.get $ready) (i32.const 0)) (then
        (local.set $ready (i32.add (local.get $out) (local.get $ready)))
        (loop $results
          (v128.store $results (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
              (f64x2.pmax (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
          (v128.store $results offset=16 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
          (v128.store $results offset=32 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
          (v128.store $results offset=48 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
          (local.set $a (i32.add (local.get $a) (i32.const 64)))
          (local.set $b (i32.add (local.get $b) (i32.const 64)))
          (local.set $c (i32.add (local.get $c) (i32.const 64)))
          (local.set $d (i32.add (local.get $d) (i32.const 64)))
          (br_if $results (i32.lt_u
            (local.tee $out (i32.add (local.get $out) (i32.const 64)))
            (local.get $ready))))))
      (br_if $chunks (i32.lt_u (local.get $windows) (local.get $end)))))
  (func (export "smallestBy4") (param $source i32) (param $windows i32) (param $size i32)
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32) (param $outSize i32)
    (local $end i32) (local $until i32) (local $outEnd i32) (local $ready i32)
    (local $row v128) (local $lastRow v128) (local $two v128) (local $lastTwo v128)
    (local.set $end (i32.add (local.get $windows) (local.get $size)))
    (local.set $outEnd (i32.add (local.get $out) (local.get $outSize)))
    (loop $chunks
      (local.set $until (i32.add (local.get $windows) (i32.const 512)))
      (if (i32.gt_u (local.get $until) (local.get $end)) (then (local.set $until (local.get $end))))
      (loop $rows
        (local.set $row (v128.load $columns (local.get $source)))
        (local.set $two (f64x2.pmin (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (v128.store $kernels (local.get $windows) (f64x2.pmin (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $source (i32.add (local.get $source) (i32.const 16)))
        (br_if $rows (i32.lt_u (local.tee $windows (i32.add (local.get $windows) (i32.const 16))) (local.get $until))))
      (local.set $ready (select
        (i32.and (i32.sub (local.get $windows) (i32.add (local.get $d) (i32.const 1024))) (i32.const -64))
        (i32.sub (local.get $outEnd) (local.get $out))
        (i32.lt_u (local.get $windows) (local.get $end))))
      (if (i32.gt_s (local.get $ready) (i32.const 0)) (then
        (local.set $ready (i32.add (local.get $out) (local.get $ready)))
        (loop $results
          (v128.store $results (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
              (f64x2.pmin (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
          (v128.store $results offset=16 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
          (v128.store $results offset=32 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
          (v128.store $results offset=48 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
          (local.set $a (i32.add (local.get $a) (i32.const 64)))
          (local.set $b (i32.add (local.get $b) (i32.const 64)))
          (local.set $c (i32.add (local.get $c) (i32.const 64)))
          (local.set $d (i32.add (local.get $d) (i32.const 64)))
          (br_if $results (i32.lt_u
            (local.tee $out (i32.add (local.get $out) (i32.const 64)))
            (local.get $ready))))))
      (br_if $chunks (i32.lt_u (local.get $windows) (local.get $end)))))

  ;; The same for 16 rows, of which the first 15 results mean nothing: of 1, 2, 4 and 8 rows, each from two of the one
  ;; before, which registers hold until they are read, four vectors in turn. `size` is a multiple of 64.
  (func (export "largestBy16") (param $source i32) (param $windows i32) (param $size i32)
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32) (param $outSize i32)
    (local $end i32) (local $until i32) (local $outEnd i32) (local $ready i32)
    (local $row v128) (local $lastRow v128) (local $two v128) (local $lastTwo v128)
    (local $four v128) (local $fourA v128) (local $fourB v128) (local $eight v128)
    (local $eight0 v128) (local $eight1 v128) (local $eight2 v128) (local $eight3 v128)
    (local.set $end (i32.add (local.get $windows) (local.get $size)))
    (local.set $outEnd (i32.add (local.get $out) (local.get $outSize)))
    (loop $chunks
      (local.set $until (i32.add (local.get $windows) (i32.const 512)))
      (if (i32.gt_u (local.get $until) (local.get $end)) (then (local.set $until (local.get $end))))
      (loop $rows
        (local.set $row (v128.load $columns offset=0 (local.get $source)))
        (local.set $two (f64x2.pmax (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmax (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmax (local.get $four) (local.get $fourA)))
        (local.set $fourA (local.get $four))
        (v128.store $kernels offset=0 (local.get $windows) (f64x2.pmax (local.get $eight) (local.get $eight0)))
        (local.set $eight0 (local.get $eight))
        (local.set $row (v128.load $columns offset=16 (local.get $source)))
        (local.set $two (f64x2.pmax (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmax (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmax (local.get $four) (local.get $fourB)))
        (local.set $fourB (local.get $four))
        (v128.store $kernels offset=16 (local.get $windows) (f64x2.pmax (local.get $eight) (local.get $eight1)))
        (local.set $eight1 (local.get $eight))
        (local.set $row (v128.load $columns offset=32 (local.get $source)))
        (local.set $two (f64x2.pmax (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmax (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmax (local.get $four) (local.get $fourA)))
        (local.set $fourA (local.get $four))
        (v128.store $kernels offset=32 (local.get $windows) (f64x2.pmax (local.get $eight) (local.get $eight2)))
        (local.set $eight2 (local.get $eight))
        (local.set $row (v128.load $columns offset=48 (local.get $source)))
        (local.set $two (f64x2.pmax (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmax (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmax (local.get $four) (local.get $fourB)))
        (local.set $fourB (local.get $four))
        (v128.store $kernels offset=48 (local.get $windows) (f64x2.pmax (local.get $eight) (local.get $eight3)))
        (local.set $eight3 (local.get $eight))
        (local.set $source (i32.add (local.get $source) (i32.const 64)))
        (br_if $rows (i32.lt_u (local.tee $windows (i32.add (local.get $windows) (i32.const 64))) (local.get $until))))
      (local.set $ready (select
        (i32.and (i32.sub (local.get $windows) (i32.add (local.get $d) (i32.const 1024))) (i32.const -64))
        (i32.sub (local.get $outEnd) (local.get $out))
        (i32.lt_u (local.get $windows) (local.get $end))))
      (if (i32.gt_s (local.get $ready) (i32.const 0)) (then
        (local.set $ready (i32.add (local.get $out) (local.get $ready)))
        (loop $results
          (v128.store $results (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
              (f64x2.pmax (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
          (v128.store $results offset=16 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
          (v128.store $results offset=32 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
          (v128.store $results offset=48 (local.get $out)
            (f64x2.pmax
              (f64x2.pmax (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
              (f64x2.pmax (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
          (local.set $a (i32.add (local.get $a) (i32.const 64)))
          (local.set $b (i32.add (local.get $b) (i32.const 64)))
          (local.set $c (i32.add (local.get $c) (i32.const 64)))
          (local.set $d (i32.add (local.get $d) (i32.const 64)))
          (br_if $results (i32.lt_u
            (local.tee $out (i32.add (local.get $out) (i32.const 64)))
            (local.get $ready))))))
      (br_if $chunks (i32.lt_u (local.get $windows) (local.get $end)))))
  (func (export "smallestBy16") (param $source i32) (param $windows i32) (param $size i32)
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $out i32) (param $outSize i32)
    (local $end i32) (local $until i32) (local $outEnd i32) (local $ready i32)
    (local $row v128) (local $lastRow v128) (local $two v128) (local $lastTwo v128)
    (local $four v128) (local $fourA v128) (local $fourB v128) (local $eight v128)
    (local $eight0 v128) (local $eight1 v128) (local $eight2 v128) (local $eight3 v128)
    (local.set $end (i32.add (local.get $windows) (local.get $size)))
    (local.set $outEnd (i32.add (local.get $out) (local.get $outSize)))
    (loop $chunks
      (local.set $until (i32.add (local.get $windows) (i32.const 512)))
      (if (i32.gt_u (local.get $until) (local.get $end)) (then (local.set $until (local.get $end))))
      (loop $rows
        (local.set $row (v128.load $columns offset=0 (local.get $source)))
        (local.set $two (f64x2.pmin (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmin (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmin (local.get $four) (local.get $fourA)))
        (local.set $fourA (local.get $four))
        (v128.store $kernels offset=0 (local.get $windows) (f64x2.pmin (local.get $eight) (local.get $eight0)))
        (local.set $eight0 (local.get $eight))
        (local.set $row (v128.load $columns offset=16 (local.get $source)))
        (local.set $two (f64x2.pmin (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmin (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmin (local.get $four) (local.get $fourB)))
        (local.set $fourB (local.get $four))
        (v128.store $kernels offset=16 (local.get $windows) (f64x2.pmin (local.get $eight) (local.get $eight1)))
        (local.set $eight1 (local.get $eight))
        (local.set $row (v128.load $columns offset=32 (local.get $source)))
        (local.set $two (f64x2.pmin (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmin (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmin (local.get $four) (local.get $fourA)))
        (local.set $fourA (local.get $four))
        (v128.store $kernels offset=32 (local.get $windows) (f64x2.pmin (local.get $eight) (local.get $eight2)))
        (local.set $eight2 (local.get $eight))
        (local.set $row (v128.load $columns offset=48 (local.get $source)))
        (local.set $two (f64x2.pmin (local.get $row)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $lastRow) (local.get $row))))
        (local.set $lastRow (local.get $row))
        (local.set $four (f64x2.pmin (local.get $two) (local.get $lastTwo)))
        (local.set $lastTwo (local.get $two))
        (local.set $eight (f64x2.pmin (local.get $four) (local.get $fourB)))
        (local.set $fourB (local.get $four))
        (v128.store $kernels offset=48 (local.get $windows) (f64x2.pmin (local.get $eight) (local.get $eight3)))
        (local.set $eight3 (local.get $eight))
        (local.set $source (i32.add (local.get $source) (i32.const 64)))
        (br_if $rows (i32.lt_u (local.tee $windows (i32.add (local.get $windows) (i32.const 64))) (local.get $until))))
      (local.set $ready (select
        (i32.and (i32.sub (local.get $windows) (i32.add (local.get $d) (i32.const 1024))) (i32.const -64))
        (i32.sub (local.get $outEnd) (local.get $out))
        (i32.lt_u (local.get $windows) (local.get $end))))
      (if (i32.gt_s (local.get $ready) (i32.const 0)) (then
        (local.set $ready (i32.add (local.get $out) (local.get $ready)))
        (loop $results
          (v128.store $results (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels (local.get $d)) (v128.load $kernels (local.get $c)))
              (f64x2.pmin (v128.load $kernels (local.get $b)) (v128.load $kernels (local.get $a)))))
          (v128.store $results offset=16 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=16 (local.get $d)) (v128.load $kernels offset=16 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=16 (local.get $b)) (v128.load $kernels offset=16 (local.get $a)))))
          (v128.store $results offset=32 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=32 (local.get $d)) (v128.load $kernels offset=32 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=32 (local.get $b)) (v128.load $kernels offset=32 (local.get $a)))))
          (v128.store $results offset=48 (local.get $out)
            (f64x2.pmin
              (f64x2.pmin (v128.load $kernels offset=48 (local.get $d)) (v128.load $kernels offset=48 (local.get $c)))
              (f64x2.pmin (v128.load $kernels offset=48 (local.get $b)) (v128.load $kernels offset=48 (local.get $a)))))
          (local.set $a (i32.add (local.get $a) (i32.const 64)))
          (local.set $b (i32.add (local.get $b) (i32.const 64)))
          (local.set $c (i32.add (local.get $c) (i32.const 64)))
          (local.set $d (i32.add (local.get $d) (i32.const 64)))
          (br_if $results (i32.lt_u
            (local.tee $out (i32.add (local.get $out) (i32.const 64)))
            (local.get $ready))))))
      (br_if $chunks (i32.lt_u (local.get $windows) (local.get $end)))))
)
