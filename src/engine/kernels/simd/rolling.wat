;; Kernels over a moving window. `npm run simd` builds them into wasm.ts; a test builds them again and compares.
;; Addresses and sizes are in bytes. What lies behind the last row of a block is computed too, and never read.
(module
  (memory (import "host" "memory") 1)

  ;; Extremes. Each function has a twin that takes the smaller where this one takes the larger.

  ;; a = the largest of a, b, c and d, each later in memory than the one before; the latest of equals. Eight rows at a
  ;; time: `size` is a multiple of 64.
  (func (export "largestOfFour") (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $size i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (v128.store (local.get $a)
        (f64x2.pmax
          (f64x2.pmax (v128.load (local.get $d)) (v128.load (local.get $c)))
          (f64x2.pmax (v128.load (local.get $b)) (v128.load (local.get $a)))))
      (v128.store offset=16 (local.get $a)
        (f64x2.pmax
          (f64x2.pmax (v128.load offset=16 (local.get $d)) (v128.load offset=16 (local.get $c)))
          (f64x2.pmax (v128.load offset=16 (local.get $b)) (v128.load offset=16 (local.get $a)))))
      (v128.store offset=32 (local.get $a)
        (f64x2.pmax
          (f64x2.pmax (v128.load offset=32 (local.get $d)) (v128.load offset=32 (local.get $c)))
          (f64x2.pmax (v128.load offset=32 (local.get $b)) (v128.load offset=32 (local.get $a)))))
      (v128.store offset=48 (local.get $a)
        (f64x2.pmax
          (f64x2.pmax (v128.load offset=48 (local.get $d)) (v128.load offset=48 (local.get $c)))
          (f64x2.pmax (v128.load offset=48 (local.get $b)) (v128.load offset=48 (local.get $a)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 64)))
      (local.set $d (i32.add (local.get $d) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))
  (func (export "smallestOfFour") (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $size i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (v128.store (local.get $a)
        (f64x2.pmin
          (f64x2.pmin (v128.load (local.get $d)) (v128.load (local.get $c)))
          (f64x2.pmin (v128.load (local.get $b)) (v128.load (local.get $a)))))
      (v128.store offset=16 (local.get $a)
        (f64x2.pmin
          (f64x2.pmin (v128.load offset=16 (local.get $d)) (v128.load offset=16 (local.get $c)))
          (f64x2.pmin (v128.load offset=16 (local.get $b)) (v128.load offset=16 (local.get $a)))))
      (v128.store offset=32 (local.get $a)
        (f64x2.pmin
          (f64x2.pmin (v128.load offset=32 (local.get $d)) (v128.load offset=32 (local.get $c)))
          (f64x2.pmin (v128.load offset=32 (local.get $b)) (v128.load offset=32 (local.get $a)))))
      (v128.store offset=48 (local.get $a)
        (f64x2.pmin
          (f64x2.pmin (v128.load offset=48 (local.get $d)) (v128.load offset=48 (local.get $c)))
          (f64x2.pmin (v128.load offset=48 (local.get $b)) (v128.load offset=48 (local.get $a)))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $c (i32.add (local.get $c) (i32.const 64)))
      (local.set $d (i32.add (local.get $d) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (i32.const 64))) (local.get $end)))))

  ;; a = the largest of each row and the three after it, the latest of equals. From the end to the beginning: a later
  ;; row is a register, not a load. `size` is a multiple of 16.
  (func (export "largestOf4Rows") (param $a i32) (param $size i32)
    (local $at i32) (local $row v128) (local $nextRow v128) (local $two v128) (local $nextTwo v128)
    (local.set $at (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 16)))
      (local.set $row (v128.load (local.get $at)))
      (local.set $two (f64x2.pmax (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (v128.store (local.get $at) (f64x2.pmax (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (br_if $next (i32.gt_u (local.get $at) (local.get $a)))))
  (func (export "smallestOf4Rows") (param $a i32) (param $size i32)
    (local $at i32) (local $row v128) (local $nextRow v128) (local $two v128) (local $nextTwo v128)
    (local.set $at (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 16)))
      (local.set $row (v128.load (local.get $at)))
      (local.set $two (f64x2.pmin (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (v128.store (local.get $at) (f64x2.pmin (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (br_if $next (i32.gt_u (local.get $at) (local.get $a)))))

  ;; The same for 16 rows: of 1, 2, 4 and 8 rows, each from two of the one before, which registers hold until they are
  ;; read, four vectors in turn. `size` is a multiple of 64.
  (func (export "largestOf16Rows") (param $a i32) (param $size i32)
    (local $at i32) (local $row v128) (local $nextRow v128) (local $two v128) (local $nextTwo v128) (local $four v128)
    (local $fourA v128) (local $fourB v128) (local $eight v128)
    (local $eight0 v128) (local $eight1 v128) (local $eight2 v128) (local $eight3 v128)
    (local.set $at (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 64)))
      (local.set $row (v128.load offset=48 (local.get $at)))
      (local.set $two (f64x2.pmax (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmax (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmax (local.get $fourA) (local.get $four)))
      (local.set $fourA (local.get $four))
      (v128.store offset=48 (local.get $at) (f64x2.pmax (local.get $eight0) (local.get $eight)))
      (local.set $eight0 (local.get $eight))
      (local.set $row (v128.load offset=32 (local.get $at)))
      (local.set $two (f64x2.pmax (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmax (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmax (local.get $fourB) (local.get $four)))
      (local.set $fourB (local.get $four))
      (v128.store offset=32 (local.get $at) (f64x2.pmax (local.get $eight1) (local.get $eight)))
      (local.set $eight1 (local.get $eight))
      (local.set $row (v128.load offset=16 (local.get $at)))
      (local.set $two (f64x2.pmax (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmax (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmax (local.get $fourA) (local.get $four)))
      (local.set $fourA (local.get $four))
      (v128.store offset=16 (local.get $at) (f64x2.pmax (local.get $eight2) (local.get $eight)))
      (local.set $eight2 (local.get $eight))
      (local.set $row (v128.load offset=0 (local.get $at)))
      (local.set $two (f64x2.pmax (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmax (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmax (local.get $fourB) (local.get $four)))
      (local.set $fourB (local.get $four))
      (v128.store offset=0 (local.get $at) (f64x2.pmax (local.get $eight3) (local.get $eight)))
      (local.set $eight3 (local.get $eight))
      (br_if $next (i32.gt_u (local.get $at) (local.get $a)))))
  (func (export "smallestOf16Rows") (param $a i32) (param $size i32)
    (local $at i32) (local $row v128) (local $nextRow v128) (local $two v128) (local $nextTwo v128) (local $four v128)
    (local $fourA v128) (local $fourB v128) (local $eight v128)
    (local $eight0 v128) (local $eight1 v128) (local $eight2 v128) (local $eight3 v128)
    (local.set $at (i32.add (local.get $a) (local.get $size)))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 64)))
      (local.set $row (v128.load offset=48 (local.get $at)))
      (local.set $two (f64x2.pmin (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmin (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmin (local.get $fourA) (local.get $four)))
      (local.set $fourA (local.get $four))
      (v128.store offset=48 (local.get $at) (f64x2.pmin (local.get $eight0) (local.get $eight)))
      (local.set $eight0 (local.get $eight))
      (local.set $row (v128.load offset=32 (local.get $at)))
      (local.set $two (f64x2.pmin (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmin (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmin (local.get $fourB) (local.get $four)))
      (local.set $fourB (local.get $four))
      (v128.store offset=32 (local.get $at) (f64x2.pmin (local.get $eight1) (local.get $eight)))
      (local.set $eight1 (local.get $eight))
      (local.set $row (v128.load offset=16 (local.get $at)))
      (local.set $two (f64x2.pmin (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmin (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmin (local.get $fourA) (local.get $four)))
      (local.set $fourA (local.get $four))
      (v128.store offset=16 (local.get $at) (f64x2.pmin (local.get $eight2) (local.get $eight)))
      (local.set $eight2 (local.get $eight))
      (local.set $row (v128.load offset=0 (local.get $at)))
      (local.set $two (f64x2.pmin (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
        (local.get $row) (local.get $nextRow)) (local.get $row)))
      (local.set $nextRow (local.get $row))
      (local.set $four (f64x2.pmin (local.get $nextTwo) (local.get $two)))
      (local.set $nextTwo (local.get $two))
      (local.set $eight (f64x2.pmin (local.get $fourB) (local.get $four)))
      (local.set $fourB (local.get $four))
      (v128.store offset=0 (local.get $at) (f64x2.pmin (local.get $eight3) (local.get $eight)))
      (local.set $eight3 (local.get $eight))
      (br_if $next (i32.gt_u (local.get $at) (local.get $a)))))

  ;; Stretches. A running sum waits for its own addition, so that two independent stretches of rows at once, one in each
  ;; lane, cost little more than one. `a` and `b` are where their first windows begin, and at `outA` and `outB` is what
  ;; their first windows have. `length` is the size of a window, `size` that of what is written.

  ;; out = the exact sum of each window, rounded once, over the divisor (rollingSums.ts).
  (func (export "sums") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
    (param $length i32) (param $size i32) (param $divisor f64)
    (local $i i32) (local $last i32) (local $dropA i32) (local $dropB i32)
    (local $high v128) (local $low v128) (local $sum v128) (local $part v128) (local $divisors v128)
    (local $added v128) (local $dropped v128) (local $change v128) (local $back v128)
    (local.set $divisors (f64x2.splat (local.get $divisor)))
    (local.set $dropA (local.get $a))
    (local.set $dropB (local.get $b))
    (loop $seed
      (local.set $added (v128.load64_lane 1 (local.get $b) (v128.load64_splat (local.get $a))))
      (local.set $sum (f64x2.add (local.get $high) (local.get $added)))
      (local.set $part (f64x2.sub (local.get $sum) (local.get $high)))
      (local.set $low (f64x2.add (local.get $low) (f64x2.add
        (f64x2.sub (local.get $high) (f64x2.sub (local.get $sum) (local.get $part)))
        (f64x2.sub (local.get $added) (local.get $part)))))
      (local.set $high (local.get $sum))
      (local.set $a (i32.add (local.get $a) (i32.const 8)))
      (local.set $b (i32.add (local.get $b) (i32.const 8)))
      (br_if $seed (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $length))))
    (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
    (v128.store64_lane 0 (local.get $outA) (local.get $sum))
    (v128.store64_lane 1 (local.get $outB) (local.get $sum))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return)))
    (local.set $last (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    (loop $next
      (local.set $added (v128.load64_lane 1 (i32.add (local.get $b) (local.get $i))
        (v128.load64_splat (i32.add (local.get $a) (local.get $i)))))
      (local.set $dropped (v128.load64_lane 1 (i32.add (local.get $dropB) (local.get $i))
        (v128.load64_splat (i32.add (local.get $dropA) (local.get $i)))))
      (local.set $change (f64x2.sub (local.get $added) (local.get $dropped)))
      (local.set $back (f64x2.sub (local.get $change) (local.get $added)))
      (local.set $sum (f64x2.add (local.get $high) (local.get $change)))
      (local.set $part (f64x2.sub (local.get $sum) (local.get $high)))
      (local.set $low (f64x2.add (local.get $low)
        (f64x2.add
          (f64x2.add
            (f64x2.sub (local.get $high) (f64x2.sub (local.get $sum) (local.get $part)))
            (f64x2.sub (local.get $change) (local.get $part)))
          (f64x2.sub
            (f64x2.sub (local.get $added) (f64x2.sub (local.get $change) (local.get $back)))
            (f64x2.add (local.get $dropped) (local.get $back))))))
      (local.set $high (local.get $sum))
      (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
      (v128.store64_lane offset=8 0 (i32.add (local.get $outA) (local.get $i)) (local.get $sum))
      (v128.store64_lane offset=8 1 (i32.add (local.get $outB) (local.get $i)) (local.get $sum))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $last)))))

  ;; The same where all that is read is positive and no value is more than twice another; else the result is 0, and what
  ;; is written means nothing.
  (func (export "tightSums") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
    (param $length i32) (param $size i32) (param $divisor f64) (result i32)
    (local $i i32) (local $last i32) (local $dropA i32) (local $dropB i32)
    (local $high v128) (local $low v128) (local $sum v128) (local $part v128) (local $divisors v128)
    (local $added v128) (local $change v128) (local $least v128) (local $most v128)
    (local.set $divisors (f64x2.splat (local.get $divisor)))
    (local.set $dropA (local.get $a))
    (local.set $dropB (local.get $b))
    (local.set $least (v128.load64_lane 1 (local.get $b) (v128.load64_splat (local.get $a))))
    (local.set $most (local.get $least))
    (loop $seed
      (local.set $added (v128.load64_lane 1 (local.get $b) (v128.load64_splat (local.get $a))))
      (local.set $least (f64x2.pmin (local.get $least) (local.get $added)))
      (local.set $most (f64x2.pmax (local.get $most) (local.get $added)))
      (local.set $sum (f64x2.add (local.get $high) (local.get $added)))
      (local.set $part (f64x2.sub (local.get $sum) (local.get $high)))
      (local.set $low (f64x2.add (local.get $low) (f64x2.add
        (f64x2.sub (local.get $high) (f64x2.sub (local.get $sum) (local.get $part)))
        (f64x2.sub (local.get $added) (local.get $part)))))
      (local.set $high (local.get $sum))
      (local.set $a (i32.add (local.get $a) (i32.const 8)))
      (local.set $b (i32.add (local.get $b) (i32.const 8)))
      (br_if $seed (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $length))))
    (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
    (v128.store64_lane 0 (local.get $outA) (local.get $sum))
    (v128.store64_lane 1 (local.get $outB) (local.get $sum))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return (i32.const 0))))
    (local.set $last (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    (loop $next
      (local.set $added (v128.load64_lane 1 (i32.add (local.get $b) (local.get $i))
        (v128.load64_splat (i32.add (local.get $a) (local.get $i)))))
      (local.set $least (f64x2.pmin (local.get $least) (local.get $added)))
      (local.set $most (f64x2.pmax (local.get $most) (local.get $added)))
      (local.set $change (f64x2.sub (local.get $added)
        (v128.load64_lane 1 (i32.add (local.get $dropB) (local.get $i))
          (v128.load64_splat (i32.add (local.get $dropA) (local.get $i))))))
      (local.set $sum (f64x2.add (local.get $high) (local.get $change)))
      (local.set $low (f64x2.add (local.get $low)
        (f64x2.sub (local.get $change) (f64x2.sub (local.get $sum) (local.get $high)))))
      (local.set $high (local.get $sum))
      (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
      (v128.store64_lane offset=8 0 (i32.add (local.get $outA) (local.get $i)) (local.get $sum))
      (v128.store64_lane offset=8 1 (i32.add (local.get $outB) (local.get $i)) (local.get $sum))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $last))))
    (i64x2.all_true (v128.and
      (f64x2.gt (local.get $least) (f64x2.splat (f64.const 0)))
      (f64x2.le (local.get $most) (f64x2.mul (f64x2.splat (f64.const 2)) (local.get $least))))))

  ;; out = the variance of each window as rollingVariance keeps it, times the correction. Bit 0 or 1 of the result says
  ;; that the stretch at a or b has a row on which its sums have lost digits: what is written from there on is not it.
  (func (export "variances") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
    (param $length i32) (param $size i32) (param $inverse f64) (param $correction f64) (result i32)
    (local $i i32) (local $last i32)
    (local $inverses v128) (local $corrections v128) (local $tiny v128) (local $small v128) (local $large v128)
    (local $shift v128) (local $sum v128) (local $squares v128) (local $isLost v128)
    (local $added v128) (local $dropped v128) (local $removed v128) (local $spread v128)
    (local.set $inverses (f64x2.splat (local.get $inverse)))
    (local.set $corrections (f64x2.splat (local.get $correction)))
    (local.set $tiny (f64x2.splat (f64.const 1e-12)))
    (local.set $small (f64x2.splat (f64.const 1e-6)))
    (local.set $large (f64x2.splat (f64.const 1e3)))
    (loop $mean
      (local.set $sum (f64x2.add (local.get $sum)
        (v128.load64_lane 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat (i32.add (local.get $a) (local.get $i))))))
      (br_if $mean (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $length))))
    (local.set $shift (f64x2.mul (local.get $sum) (local.get $inverses)))
    (local.set $sum (f64x2.splat (f64.const 0)))
    (local.set $i (i32.const 0))
    (loop $seed
      (local.set $added (f64x2.sub
        (v128.load64_lane 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat (i32.add (local.get $a) (local.get $i))))
        (local.get $shift)))
      (local.set $sum (f64x2.add (local.get $sum) (local.get $added)))
      (local.set $squares (f64x2.add (local.get $squares) (f64x2.mul (local.get $added) (local.get $added))))
      (br_if $seed (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $length))))
    (local.set $added (f64x2.mul (local.get $sum) (local.get $inverses)))
    (local.set $spread (f64x2.sub
      (f64x2.mul (local.get $squares) (local.get $inverses))
      (f64x2.mul (local.get $added) (local.get $added))))
    (local.set $spread (v128.andnot
      (f64x2.mul (local.get $spread) (local.get $corrections))
      (f64x2.lt (local.get $spread)
        (f64x2.mul (f64x2.mul (local.get $tiny) (local.get $squares)) (local.get $inverses)))))
    (v128.store64_lane 0 (local.get $outA) (local.get $spread))
    (v128.store64_lane 1 (local.get $outB) (local.get $spread))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return (i32.const 0))))
    (local.set $last (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    (loop $next
      (local.set $dropped (f64x2.sub
        (v128.load64_lane 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat (i32.add (local.get $a) (local.get $i))))
        (local.get $shift)))
      (local.set $added (f64x2.sub
        (v128.load64_lane 1 (i32.add (i32.add (local.get $b) (local.get $i)) (local.get $length))
          (v128.load64_splat (i32.add (i32.add (local.get $a) (local.get $i)) (local.get $length))))
        (local.get $shift)))
      (local.set $removed (f64x2.mul (local.get $dropped) (local.get $dropped)))
      (local.set $sum (f64x2.add (local.get $sum) (f64x2.sub (local.get $added) (local.get $dropped))))
      (local.set $squares (f64x2.add (local.get $squares)
        (f64x2.sub (f64x2.mul (local.get $added) (local.get $added)) (local.get $removed))))
      (local.set $added (f64x2.mul (local.get $sum) (local.get $inverses)))
      (local.set $spread (f64x2.sub
        (f64x2.mul (local.get $squares) (local.get $inverses))
        (f64x2.mul (local.get $added) (local.get $added))))
      (local.set $isLost (v128.or (local.get $isLost) (v128.or
        (v128.not (f64x2.ge (local.get $spread)
          (f64x2.mul (f64x2.mul (local.get $small) (local.get $squares)) (local.get $inverses))))
        (f64x2.gt (local.get $removed) (f64x2.mul (local.get $large) (local.get $squares))))))
      (local.set $spread (f64x2.mul (local.get $spread) (local.get $corrections)))
      (v128.store64_lane offset=8 0 (i32.add (local.get $outA) (local.get $i)) (local.get $spread))
      (v128.store64_lane offset=8 1 (i32.add (local.get $outB) (local.get $i)) (local.get $spread))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $last))))
    (i64x2.bitmask (local.get $isLost)))

  ;; upper = middle + √variance · up, lower = middle - √variance · down, upper in place of the variance.
  (func (export "bands") (param $middle i32) (param $variance i32) (param $lower i32) (param $size i32)
    (param $up f64) (param $down f64) (local $i i32) (local $ups v128) (local $downs v128) (local $deviation v128)
    (local.set $ups (f64x2.splat (local.get $up)))
    (local.set $downs (f64x2.splat (local.get $down)))
    (loop $next
      (local.set $deviation (f64x2.sqrt (v128.load (i32.add (local.get $variance) (local.get $i)))))
      (v128.store (i32.add (local.get $variance) (local.get $i))
        (f64x2.add (v128.load (i32.add (local.get $middle) (local.get $i)))
          (f64x2.mul (local.get $deviation) (local.get $ups))))
      (v128.store (i32.add (local.get $lower) (local.get $i))
        (f64x2.sub (v128.load (i32.add (local.get $middle) (local.get $i)))
          (f64x2.mul (local.get $deviation) (local.get $downs))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; high = 100 · (close - low) / (high - low), 0 where the range is at most `epsilon` of |high| + |low|.
  (func (export "stochastic") (param $high i32) (param $low i32) (param $close i32) (param $size i32)
    (param $epsilon f64) (local $i i32) (local $top v128) (local $bottom v128) (local $range v128)
    (loop $next
      (local.set $top (v128.load (i32.add (local.get $high) (local.get $i))))
      (local.set $bottom (v128.load (i32.add (local.get $low) (local.get $i))))
      (local.set $range (f64x2.sub (local.get $top) (local.get $bottom)))
      (v128.store (i32.add (local.get $high) (local.get $i))
        (v128.andnot
          (f64x2.div
            (f64x2.sub (v128.load (i32.add (local.get $close) (local.get $i))) (local.get $bottom))
            (f64x2.div (local.get $range) (f64x2.splat (f64.const 100))))
          (f64x2.le (f64x2.abs (local.get $range))
            (f64x2.mul (f64x2.splat (local.get $epsilon))
              (f64x2.add (f64x2.abs (local.get $top)) (f64x2.abs (local.get $bottom)))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

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
