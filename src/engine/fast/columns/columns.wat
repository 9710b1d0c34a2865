;; Kernels over a moving window that read columns where they are, in shared memory, and write to the kernels' memory or
;; where results belong. `npm run simd` builds them into wasm.ts; a test builds them again and compares. Addresses and
;; sizes are in bytes. What lies behind the last row of a block is computed too, and never read. The columns come first:
;; V8 keeps the address of the first memory in a register.
(module
  (memory $columns (import "host" "columns") 1 65536 shared)
  (memory $memory (import "host" "memory") 1)
  (memory $kernels (import "host" "kernels") 1)

  ;; out = 100 · (close - low) / (high - low), 0 where the range is at most `epsilon` of |high| + |low|: the extremes
  ;; are in the kernels' memory. `size` is a multiple of 16.
  (func (export "stochastic") (param $high i32) (param $low i32) (param $close i32) (param $out i32) (param $size i32)
    (param $epsilon f64) (local $i i32) (local $top v128) (local $bottom v128) (local $range v128)
    (loop $next
      (local.set $top (v128.load $kernels (i32.add (local.get $high) (local.get $i))))
      (local.set $bottom (v128.load $kernels (i32.add (local.get $low) (local.get $i))))
      (local.set $range (f64x2.sub (local.get $top) (local.get $bottom)))
      (v128.store $memory (i32.add (local.get $out) (local.get $i))
        (v128.andnot
          (f64x2.div
            (f64x2.sub (v128.load $columns (i32.add (local.get $close) (local.get $i))) (local.get $bottom))
            (f64x2.div (local.get $range) (f64x2.splat (f64.const 100))))
          (f64x2.le (f64x2.abs (local.get $range))
            (f64x2.mul (f64x2.splat (local.get $epsilon))
              (f64x2.add (f64x2.abs (local.get $top)) (f64x2.abs (local.get $bottom)))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; Segments. A running sum waits for its own addition, so that two independent segments of rows at once, one in each
  ;; lane, cost little more than one. `a` and `b` are where their first windows begin in the columns, and at `outA` and
  ;; `outB` is what their first windows have. `length` is the size of a window, `size` that of what is written.

  ;; out = the exact sum of each window, rounded once, over the divisor (rollingSums.ts).
  (func $sums (export "sums") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
    (param $length i32) (param $size i32) (param $divisor f64)
    (local $i i32) (local $last i32) (local $dropA i32) (local $dropB i32)
    (local $high v128) (local $low v128) (local $sum v128) (local $part v128) (local $divisors v128)
    (local $added v128) (local $dropped v128) (local $change v128) (local $back v128)
    (local.set $divisors (f64x2.splat (local.get $divisor)))
    (local.set $dropA (local.get $a))
    (local.set $dropB (local.get $b))
    (loop $seed
      (local.set $added (v128.load64_lane $columns 1 (local.get $b) (v128.load64_splat $columns (local.get $a))))
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
    (v128.store64_lane $memory 0 (local.get $outA) (local.get $sum))
    (v128.store64_lane $memory 1 (local.get $outB) (local.get $sum))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return)))
    (local.set $last (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    (loop $next
      (local.set $added (v128.load64_lane $columns 1 (i32.add (local.get $b) (local.get $i))
        (v128.load64_splat $columns (i32.add (local.get $a) (local.get $i)))))
      (local.set $dropped (v128.load64_lane $columns 1 (i32.add (local.get $dropB) (local.get $i))
        (v128.load64_splat $columns (i32.add (local.get $dropA) (local.get $i)))))
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
      (v128.store64_lane $memory offset=8 0 (i32.add (local.get $outA) (local.get $i)) (local.get $sum))
      (v128.store64_lane $memory offset=8 1 (i32.add (local.get $outB) (local.get $i)) (local.get $sum))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $last)))))

  ;; The same where all that is read is positive and no value of a segment is more than twice another of the same one;
  ;; else the result is 0, and what is written means nothing.
  (func $tightSums (export "tightSums") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
    (param $length i32) (param $size i32) (param $divisor f64) (result i32)
    (local $i i32) (local $dropA i32) (local $dropB i32)
    (local $high v128) (local $low v128) (local $sum v128) (local $part v128) (local $divisors v128)
    (local $added v128) (local $addedA v128) (local $addedB v128) (local $change v128) (local $mean v128)
    (local $least v128) (local $most v128)
    ;; Of two rows of the same segment.
    (local $leastA v128) (local $leastB v128) (local $mostA v128) (local $mostB v128)
    (local.set $divisors (f64x2.splat (local.get $divisor)))
    (local.set $dropA (local.get $a))
    (local.set $dropB (local.get $b))
    (local.set $leastA (v128.load64_splat $columns (local.get $a)))
    (local.set $leastB (v128.load64_splat $columns (local.get $b)))
    (local.set $mostA (local.get $leastA))
    (local.set $mostB (local.get $leastB))
    (local.set $least (v128.load64_lane $columns 1 (local.get $b) (v128.load64_splat $columns (local.get $a))))
    (local.set $most (local.get $least))
    (loop $seed
      (local.set $added (v128.load64_lane $columns 1 (local.get $b) (v128.load64_splat $columns (local.get $a))))
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
    (v128.store64_lane $memory 0 (local.get $outA) (local.get $sum))
    (v128.store64_lane $memory 1 (local.get $outB) (local.get $sum))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return (i32.const 0))))
    (local.set $outA (i32.add (local.get $outA) (i32.const 8)))
    (local.set $outB (i32.add (local.get $outB) (i32.const 8)))
    (local.set $size (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    ;; One row of each segment, where an odd number of them remains; then two rows of each at a time.
    (if (i32.and (local.get $size) (i32.const 8)) (then
      (local.set $added (v128.load64_lane $columns 1 (local.get $b) (v128.load64_splat $columns (local.get $a))))
      (local.set $least (f64x2.pmin (local.get $least) (local.get $added)))
      (local.set $most (f64x2.pmax (local.get $most) (local.get $added)))
      (local.set $change (f64x2.sub (local.get $added)
        (v128.load64_lane $columns 1 (local.get $dropB) (v128.load64_splat $columns (local.get $dropA)))))
      (local.set $sum (f64x2.add (local.get $high) (local.get $change)))
      (local.set $low (f64x2.add (local.get $low)
        (f64x2.sub (local.get $change) (f64x2.sub (local.get $sum) (local.get $high)))))
      (local.set $high (local.get $sum))
      (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
      (v128.store64_lane $memory 0 (local.get $outA) (local.get $sum))
      (v128.store64_lane $memory 1 (local.get $outB) (local.get $sum))
      (local.set $i (i32.const 8))))
    (if (i32.lt_u (local.get $i) (local.get $size)) (then (loop $next
      (local.set $addedA (v128.load $columns (i32.add (local.get $a) (local.get $i))))
      (local.set $addedB (v128.load $columns (i32.add (local.get $b) (local.get $i))))
      (local.set $leastA (f64x2.pmin (local.get $leastA) (local.get $addedA)))
      (local.set $leastB (f64x2.pmin (local.get $leastB) (local.get $addedB)))
      (local.set $mostA (f64x2.pmax (local.get $mostA) (local.get $addedA)))
      (local.set $mostB (f64x2.pmax (local.get $mostB) (local.get $addedB)))
      (local.set $addedA
        (f64x2.sub (local.get $addedA) (v128.load $columns (i32.add (local.get $dropA) (local.get $i)))))
      (local.set $addedB
        (f64x2.sub (local.get $addedB) (v128.load $columns (i32.add (local.get $dropB) (local.get $i)))))
      (local.set $change (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
        (local.get $addedA) (local.get $addedB)))
      (local.set $sum (f64x2.add (local.get $high) (local.get $change)))
      (local.set $low (f64x2.add (local.get $low)
        (f64x2.sub (local.get $change) (f64x2.sub (local.get $sum) (local.get $high)))))
      (local.set $mean (f64x2.div (f64x2.add (local.get $sum) (local.get $low)) (local.get $divisors)))
      (local.set $change (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
        (local.get $addedA) (local.get $addedB)))
      (local.set $high (f64x2.add (local.get $sum) (local.get $change)))
      (local.set $low (f64x2.add (local.get $low)
        (f64x2.sub (local.get $change) (f64x2.sub (local.get $high) (local.get $sum)))))
      (local.set $sum (f64x2.div (f64x2.add (local.get $high) (local.get $low)) (local.get $divisors)))
      (v128.store $memory (i32.add (local.get $outA) (local.get $i))
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $mean) (local.get $sum)))
      (v128.store $memory (i32.add (local.get $outB) (local.get $i))
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $mean) (local.get $sum)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size))))))
    (local.set $least (f64x2.pmin (local.get $least) (f64x2.pmin
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $leastA) (local.get $leastB))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $leastA) (local.get $leastB)))))
    (local.set $most (f64x2.pmax (local.get $most) (f64x2.pmax
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $mostA) (local.get $mostB))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $mostA) (local.get $mostB)))))
    (i64x2.all_true (v128.and
      (f64x2.gt (local.get $least) (f64x2.splat (f64.const 0)))
      (f64x2.le (local.get $most) (f64x2.mul (f64x2.splat (f64.const 2)) (local.get $least))))))

  ;; The same for whole segments, `interval` bytes each: a pair is one of the first half and one of the second, so that
  ;; both lanes go on where they were, which the processor foresees. The result is 0 where `isTried` is, or what a pair
  ;; reads is not so tight: it and the next pairs are summed as any numbers are.
  (func (export "pairsOfSums") (param $in i32) (param $out i32) (param $length i32) (param $interval i32)
    (param $pairs i32) (param $divisor f64) (param $isTried i32) (result i32)
    (local $inB i32) (local $outB i32) (local $half i32)
    (local.set $half (i32.mul (local.get $pairs) (local.get $interval)))
    (loop $next
      (local.set $inB (i32.add (local.get $in) (local.get $half)))
      (local.set $outB (i32.add (local.get $out) (local.get $half)))
      (if (local.get $isTried) (then
        (local.set $isTried (call $tightSums (local.get $in) (local.get $inB) (local.get $out) (local.get $outB)
          (local.get $length) (local.get $interval) (local.get $divisor)))))
      (if (i32.eqz (local.get $isTried)) (then
        (call $sums (local.get $in) (local.get $inB) (local.get $out) (local.get $outB)
          (local.get $length) (local.get $interval) (local.get $divisor))))
      (local.set $in (i32.add (local.get $in) (local.get $interval)))
      (local.set $out (i32.add (local.get $out) (local.get $interval)))
      (br_if $next (local.tee $pairs (i32.sub (local.get $pairs) (i32.const 1)))))
    (local.get $isTried))

  ;; Whether, on some row of every `stride` from `a` to `end`, the values of that row, the next one and the one `apart`
  ;; are equal: only then can all values of a window be equal (rollingSums.ts).
  (func (export "mayBeFlat") (param $a i32) (param $end i32) (param $apart i32) (param $stride i32) (result i32)
    (local $found i32)
    (loop $next
      (local.set $found (i32.or (local.get $found) (i32.and
        (f64.eq (f64.load $columns (local.get $a)) (f64.load $columns offset=8 (local.get $a)))
        (f64.eq (f64.load $columns (local.get $a))
          (f64.load $columns (i32.add (local.get $a) (local.get $apart)))))))
      (br_if $next (i32.lt_u (local.tee $a (i32.add (local.get $a) (local.get $stride))) (local.get $end))))
    (local.get $found))

  ;; out = the variance of each window as rollingVariance keeps it, times the correction. Bit 0 or 1 of the result says
  ;; that the segment at a or b has a row on which its sums have lost digits: what is written from there on is not it.
  (func $variances (export "variances") (param $a i32) (param $b i32) (param $outA i32) (param $outB i32)
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
        (v128.load64_lane $columns 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat $columns (i32.add (local.get $a) (local.get $i))))))
      (br_if $mean (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $length))))
    (local.set $shift (f64x2.mul (local.get $sum) (local.get $inverses)))
    (local.set $sum (f64x2.splat (f64.const 0)))
    (local.set $i (i32.const 0))
    (loop $seed
      (local.set $added (f64x2.sub
        (v128.load64_lane $columns 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat $columns (i32.add (local.get $a) (local.get $i))))
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
    (v128.store64_lane $memory 0 (local.get $outA) (local.get $spread))
    (v128.store64_lane $memory 1 (local.get $outB) (local.get $spread))
    (if (i32.le_u (local.get $size) (i32.const 8)) (then (return (i32.const 0))))
    (local.set $last (i32.sub (local.get $size) (i32.const 8)))
    (local.set $i (i32.const 0))
    (loop $next
      (local.set $dropped (f64x2.sub
        (v128.load64_lane $columns 1 (i32.add (local.get $b) (local.get $i))
          (v128.load64_splat $columns (i32.add (local.get $a) (local.get $i))))
        (local.get $shift)))
      (local.set $added (f64x2.sub
        (v128.load64_lane $columns 1 (i32.add (i32.add (local.get $b) (local.get $i)) (local.get $length))
          (v128.load64_splat $columns (i32.add (i32.add (local.get $a) (local.get $i)) (local.get $length))))
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
      (v128.store64_lane $memory offset=8 0 (i32.add (local.get $outA) (local.get $i)) (local.get $spread))
      (v128.store64_lane $memory offset=8 1 (i32.add (local.get $outB) (local.get $i)) (local.get $spread))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $last))))
    (i64x2.bitmask (local.get $isLost)))

  ;; The same for up to 16 whole segments, in pairs as those of `pairsOfSums`: two bits of the result for each pair.
  (func (export "pairsOfVariances") (param $in i32) (param $out i32) (param $length i32) (param $interval i32)
    (param $pairs i32) (param $inverse f64) (param $correction f64) (result i32)
    (local $inB i32) (local $outB i32) (local $half i32) (local $shift i32) (local $lost i32)
    (local.set $half (i32.mul (local.get $pairs) (local.get $interval)))
    (loop $next
      (local.set $inB (i32.add (local.get $in) (local.get $half)))
      (local.set $outB (i32.add (local.get $out) (local.get $half)))
      (local.set $lost (i32.or (local.get $lost) (i32.shl
        (call $variances (local.get $in) (local.get $inB) (local.get $out) (local.get $outB)
          (local.get $length) (local.get $interval) (local.get $inverse) (local.get $correction))
        (local.get $shift))))
      (local.set $shift (i32.add (local.get $shift) (i32.const 2)))
      (local.set $in (i32.add (local.get $in) (local.get $interval)))
      (local.set $out (i32.add (local.get $out) (local.get $interval)))
      (br_if $next (local.tee $pairs (i32.sub (local.get $pairs) (i32.const 1)))))
    (local.get $lost))
)
