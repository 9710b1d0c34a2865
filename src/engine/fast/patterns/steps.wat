;; The steps of a pattern program: loops over blocks of rows, two or more rows per instruction. `npm run simd` builds
;; them into wasm.ts; a test builds them again and compares. Addresses and sizes are in bytes, and a size is a multiple
;; of 16: what lies behind the last row of a block is computed too, and never read.
(module
  (memory (import "host" "memory") 1)

  ;; out = a - b
  (func $subtract (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.sub
          (v128.load (i32.add (local.get $a) (local.get $i)))
          (v128.load (i32.add (local.get $b) (local.get $i)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = a + b
  (func $add (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.add
          (v128.load (i32.add (local.get $a) (local.get $i)))
          (v128.load (i32.add (local.get $b) (local.get $i)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = |a - b|
  (func $distance (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.abs
          (f64x2.sub
            (v128.load (i32.add (local.get $a) (local.get $i)))
            (v128.load (i32.add (local.get $b) (local.get $i))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = a < b ? b : a
  (func $larger (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.pmax
          (v128.load (i32.add (local.get $a) (local.get $i)))
          (v128.load (i32.add (local.get $b) (local.get $i)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = b < a ? b : a
  (func $smaller (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.pmin
          (v128.load (i32.add (local.get $a) (local.get $i)))
          (v128.load (i32.add (local.get $b) (local.get $i)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = factor · a
  (func $scale (param $a i32) (param $factor f64) (param $out i32) (param $size i32)
    (local $i i32) (local $factors v128)
    (local.set $factors (f64x2.splat (local.get $factor)))
    (loop $next
      (v128.store (i32.add (local.get $out) (local.get $i))
        (f64x2.mul (local.get $factors) (v128.load (i32.add (local.get $a) (local.get $i)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size)))))

  ;; out = the mean of the `period` rows of a before each row, times a factor: factor · (sum / period), and then
  ;; sum += a - (a `period` rows before). The period is 5 or 10, and the quotient is what a division gives, in less than
  ;; half its time: q = sum · (1/period) is off by two units in the last place at most; r = (sum - 4/5 period · q) -
  ;; 1/5 period · q is exact, because each difference is of numbers within a factor of two (Sterbenz); and
  ;; q + r · (1/period) rounds as the quotient does, which is at least a twentieth of a unit away from where rounding
  ;; changes. The step keeps the sum for the next block. In the first block, `skip` says where
  ;; the first row with a mean is; the sum is seeded over the rows before it.
  (func $firstMeans (param $step i32) (param $size i32)
    (local $a i32) (local $dropped i32) (local $out i32) (local $i i32) (local $j i32)
    (local $sum f64) (local $inverse f64) (local $most f64) (local $rest f64) (local $mean f64) (local $factor f64)
    (local.set $a (i32.load offset=4 (local.get $step)))
    (local.set $out (i32.load offset=12 (local.get $step)))
    (local.set $factor (f64.load offset=16 (local.get $step)))
    (local.set $sum (f64.load offset=24 (local.get $step)))
    (local.set $rest (f64.div (f64.convert_i32_s (i32.load offset=32 (local.get $step))) (f64.const 5)))
    (local.set $most (f64.mul (f64.const 4) (local.get $rest)))
    (local.set $inverse (f64.div (f64.const 1) (f64.convert_i32_s (i32.load offset=32 (local.get $step)))))
    (local.set $i (i32.load offset=36 (local.get $step)))
    (local.set $dropped (i32.sub (local.get $a) (i32.shl (i32.load offset=32 (local.get $step)) (i32.const 3))))
    (if (local.get $i) (then
      (local.set $j (i32.add (local.get $dropped) (local.get $i)))
      (loop $seed
        (local.set $sum (f64.add (local.get $sum) (f64.load (local.get $j))))
        (br_if $seed (i32.lt_u
          (local.tee $j (i32.add (local.get $j) (i32.const 8)))
          (i32.add (local.get $a) (local.get $i)))))
      (i32.store offset=36 (local.get $step) (i32.const 0))))
    (block $end
      (loop $next
        (br_if $end (i32.ge_u (local.get $i) (local.get $size)))
        (local.set $mean (f64.mul (local.get $sum) (local.get $inverse)))
        (f64.store (i32.add (local.get $out) (local.get $i))
          (f64.mul (local.get $factor)
            (f64.add (local.get $mean) (f64.mul (local.get $inverse)
              (f64.sub
                (f64.sub (local.get $sum) (f64.mul (local.get $most) (local.get $mean)))
                (f64.mul (local.get $rest) (local.get $mean)))))))
        (local.set $sum (f64.add (local.get $sum)
          (f64.sub
            (f64.load (i32.add (local.get $a) (local.get $i)))
            (f64.load (i32.add (local.get $dropped) (local.get $i))))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $next)))
    (f64.store offset=24 (local.get $step) (local.get $sum)))

  ;; The same; in a later block, all rows are computed, two at a time.
  (func $meanBefore (param $s0 i32) (param $size i32) (local $i i32)
    (local $a0 i32) (local $d0 i32) (local $o0 i32) (local $sum0 f64)
    (local $factors0 v128) (local $inverses0 v128) (local $most0 v128) (local $rest0 v128)
    (local $change v128) (local $sums v128) (local $means v128)
    (if (i32.load offset=36 (local.get $s0)) (then
      (call $firstMeans (local.get $s0) (local.get $size))
      (return)))
    (local.set $a0 (i32.load offset=4 (local.get $s0)))
    (local.set $d0 (i32.sub (local.get $a0) (i32.shl (i32.load offset=32 (local.get $s0)) (i32.const 3))))
    (local.set $o0 (i32.load offset=12 (local.get $s0)))
    (local.set $sum0 (f64.load offset=24 (local.get $s0)))
    (local.set $factors0 (v128.load64_splat offset=16 (local.get $s0)))
    (local.set $rest0 (f64x2.splat (f64.convert_i32_s (i32.load offset=32 (local.get $s0)))))
    (local.set $inverses0 (f64x2.div (f64x2.splat (f64.const 1)) (local.get $rest0)))
    (local.set $rest0 (f64x2.div (local.get $rest0) (f64x2.splat (f64.const 5))))
    (local.set $most0 (f64x2.mul (f64x2.splat (f64.const 4)) (local.get $rest0)))
    (loop $next
      ;; Two rows: the sums before each, one addition after the other.
      (local.set $change (f64x2.sub
        (v128.load (i32.add (local.get $a0) (local.get $i)))
        (v128.load (i32.add (local.get $d0) (local.get $i)))))
      (local.set $sums (f64x2.splat (local.get $sum0)))
      (local.set $sum0 (f64.add (local.get $sum0) (f64x2.extract_lane 0 (local.get $change))))
      (local.set $sums (f64x2.replace_lane 1 (local.get $sums) (local.get $sum0)))
      (local.set $sum0 (f64.add (local.get $sum0) (f64x2.extract_lane 1 (local.get $change))))
      (local.set $means (f64x2.mul (local.get $sums) (local.get $inverses0)))
      (v128.store (i32.add (local.get $o0) (local.get $i)) (f64x2.mul (local.get $factors0)
        (f64x2.add (local.get $means) (f64x2.mul (local.get $inverses0)
          (f64x2.sub
            (f64x2.sub (local.get $sums) (f64x2.mul (local.get $most0) (local.get $means)))
            (f64x2.mul (local.get $rest0) (local.get $means)))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size))))
    (f64.store offset=24 (local.get $s0) (local.get $sum0)))

  ;; Two of them at once, of the two steps from $s0 on: each alone would wait for its own additions. The first block, in
  ;; which they begin on different rows, is computed one by one.
  (func $twoMeans (param $s0 i32) (param $size i32) (local $s1 i32) (local $i i32)
    (local $a0 i32) (local $d0 i32) (local $o0 i32) (local $sum0 f64)
    (local $factors0 v128) (local $inverses0 v128) (local $most0 v128) (local $rest0 v128)
    (local $a1 i32) (local $d1 i32) (local $o1 i32) (local $sum1 f64)
    (local $factors1 v128) (local $inverses1 v128) (local $most1 v128) (local $rest1 v128)
    (local $change v128) (local $sums v128) (local $means v128)
    (local.set $s1 (i32.add (local.get $s0) (i32.const 40)))
    (if (i32.load offset=36 (local.get $s0)) (then
      (call $firstMeans (local.get $s0) (local.get $size))
      (call $firstMeans (local.get $s1) (local.get $size))
      (return)))
    (local.set $a0 (i32.load offset=4 (local.get $s0)))
    (local.set $d0 (i32.sub (local.get $a0) (i32.shl (i32.load offset=32 (local.get $s0)) (i32.const 3))))
    (local.set $o0 (i32.load offset=12 (local.get $s0)))
    (local.set $sum0 (f64.load offset=24 (local.get $s0)))
    (local.set $factors0 (v128.load64_splat offset=16 (local.get $s0)))
    (local.set $rest0 (f64x2.splat (f64.convert_i32_s (i32.load offset=32 (local.get $s0)))))
    (local.set $inverses0 (f64x2.div (f64x2.splat (f64.const 1)) (local.get $rest0)))
    (local.set $rest0 (f64x2.div (local.get $rest0) (f64x2.splat (f64.const 5))))
    (local.set $most0 (f64x2.mul (f64x2.splat (f64.const 4)) (local.get $rest0)))
    (local.set $a1 (i32.load offset=4 (local.get $s1)))
    (local.set $d1 (i32.sub (local.get $a1) (i32.shl (i32.load offset=32 (local.get $s1)) (i32.const 3))))
    (local.set $o1 (i32.load offset=12 (local.get $s1)))
    (local.set $sum1 (f64.load offset=24 (local.get $s1)))
    (local.set $factors1 (v128.load64_splat offset=16 (local.get $s1)))
    (local.set $rest1 (f64x2.splat (f64.convert_i32_s (i32.load offset=32 (local.get $s1)))))
    (local.set $inverses1 (f64x2.div (f64x2.splat (f64.const 1)) (local.get $rest1)))
    (local.set $rest1 (f64x2.div (local.get $rest1) (f64x2.splat (f64.const 5))))
    (local.set $most1 (f64x2.mul (f64x2.splat (f64.const 4)) (local.get $rest1)))
    (loop $next
      ;; Two rows: the sums before each, one addition after the other.
      (local.set $change (f64x2.sub
        (v128.load (i32.add (local.get $a0) (local.get $i)))
        (v128.load (i32.add (local.get $d0) (local.get $i)))))
      (local.set $sums (f64x2.splat (local.get $sum0)))
      (local.set $sum0 (f64.add (local.get $sum0) (f64x2.extract_lane 0 (local.get $change))))
      (local.set $sums (f64x2.replace_lane 1 (local.get $sums) (local.get $sum0)))
      (local.set $sum0 (f64.add (local.get $sum0) (f64x2.extract_lane 1 (local.get $change))))
      (local.set $means (f64x2.mul (local.get $sums) (local.get $inverses0)))
      (v128.store (i32.add (local.get $o0) (local.get $i)) (f64x2.mul (local.get $factors0)
        (f64x2.add (local.get $means) (f64x2.mul (local.get $inverses0)
          (f64x2.sub
            (f64x2.sub (local.get $sums) (f64x2.mul (local.get $most0) (local.get $means)))
            (f64x2.mul (local.get $rest0) (local.get $means)))))))
      ;; Two rows: the sums before each, one addition after the other.
      (local.set $change (f64x2.sub
        (v128.load (i32.add (local.get $a1) (local.get $i)))
        (v128.load (i32.add (local.get $d1) (local.get $i)))))
      (local.set $sums (f64x2.splat (local.get $sum1)))
      (local.set $sum1 (f64.add (local.get $sum1) (f64x2.extract_lane 0 (local.get $change))))
      (local.set $sums (f64x2.replace_lane 1 (local.get $sums) (local.get $sum1)))
      (local.set $sum1 (f64.add (local.get $sum1) (f64x2.extract_lane 1 (local.get $change))))
      (local.set $means (f64x2.mul (local.get $sums) (local.get $inverses1)))
      (v128.store (i32.add (local.get $o1) (local.get $i)) (f64x2.mul (local.get $factors1)
        (f64x2.add (local.get $means) (f64x2.mul (local.get $inverses1)
          (f64x2.sub
            (f64x2.sub (local.get $sums) (f64x2.mul (local.get $most1) (local.get $means)))
            (f64x2.mul (local.get $rest1) (local.get $means)))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $size))))
    (f64.store offset=24 (local.get $s0) (local.get $sum0))
    (f64.store offset=24 (local.get $s1) (local.get $sum1)))

  ;; Bit i of the words at out says whether row i of a > that of b. `size` is that of the words: 4 bytes per 32 rows.
  ;; Sixteen rows at a time: a comparison of two rows gives two masks of 64 bits, of which the shuffle keeps the low
  ;; halves, the narrowings one byte each, and the bitmask one bit each.
  (func $greater (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $end i32)
    (local.set $end (i32.add (local.get $out) (local.get $size)))
    (loop $next
      (i32.store16 (local.get $out) (i8x16.bitmask (i8x16.narrow_i16x8_s
        (i16x8.narrow_i32x4_s
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.gt (v128.load offset=0 (local.get $a)) (v128.load offset=0 (local.get $b)))
            (f64x2.gt (v128.load offset=16 (local.get $a)) (v128.load offset=16 (local.get $b))))
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.gt (v128.load offset=32 (local.get $a)) (v128.load offset=32 (local.get $b)))
            (f64x2.gt (v128.load offset=48 (local.get $a)) (v128.load offset=48 (local.get $b)))))
        (i16x8.narrow_i32x4_s
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.gt (v128.load offset=64 (local.get $a)) (v128.load offset=64 (local.get $b)))
            (f64x2.gt (v128.load offset=80 (local.get $a)) (v128.load offset=80 (local.get $b))))
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.gt (v128.load offset=96 (local.get $a)) (v128.load offset=96 (local.get $b)))
            (f64x2.gt (v128.load offset=112 (local.get $a)) (v128.load offset=112 (local.get $b))))))))
      (local.set $a (i32.add (local.get $a) (i32.const 128)))
      (local.set $b (i32.add (local.get $b) (i32.const 128)))
      (br_if $next (i32.lt_u (local.tee $out (i32.add (local.get $out) (i32.const 2))) (local.get $end)))))

  ;; The same for a >= b.
  (func $atLeast (param $a i32) (param $b i32) (param $out i32) (param $size i32) (local $end i32)
    (local.set $end (i32.add (local.get $out) (local.get $size)))
    (loop $next
      (i32.store16 (local.get $out) (i8x16.bitmask (i8x16.narrow_i16x8_s
        (i16x8.narrow_i32x4_s
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.ge (v128.load offset=0 (local.get $a)) (v128.load offset=0 (local.get $b)))
            (f64x2.ge (v128.load offset=16 (local.get $a)) (v128.load offset=16 (local.get $b))))
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.ge (v128.load offset=32 (local.get $a)) (v128.load offset=32 (local.get $b)))
            (f64x2.ge (v128.load offset=48 (local.get $a)) (v128.load offset=48 (local.get $b)))))
        (i16x8.narrow_i32x4_s
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.ge (v128.load offset=64 (local.get $a)) (v128.load offset=64 (local.get $b)))
            (f64x2.ge (v128.load offset=80 (local.get $a)) (v128.load offset=80 (local.get $b))))
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
            (f64x2.ge (v128.load offset=96 (local.get $a)) (v128.load offset=96 (local.get $b)))
            (f64x2.ge (v128.load offset=112 (local.get $a)) (v128.load offset=112 (local.get $b))))))))
      (local.set $a (i32.add (local.get $a) (i32.const 128)))
      (local.set $b (i32.add (local.get $b) (i32.const 128)))
      (br_if $next (i32.lt_u (local.tee $out (i32.add (local.get $out) (i32.const 2))) (local.get $end)))))

  ;; The word at `at` of bits that are read `back` rows later: the word before it holds the older rows.
  (func $aged (param $at i32) (param $back i32) (result i32)
    (i32.wrap_i64 (i64.shr_u
      ;; Two words as one number, of which the later is the high half.
      (i64.load (i32.sub (local.get $at) (i32.const 4)))
      (i64.extend_i32_u (i32.sub (i32.const 32) (local.get $back))))))

  ;; out = a, or `out and a`, or `out or a`, where a is read `back` rows later.
  (func $copyWords (param $a i32) (param $back i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (i32.store (i32.add (local.get $out) (local.get $i))
        (call $aged (i32.add (local.get $a) (local.get $i)) (local.get $back)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $size)))))
  (func $andWords (param $a i32) (param $back i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (i32.store (i32.add (local.get $out) (local.get $i))
        (i32.and
          (i32.load (i32.add (local.get $out) (local.get $i)))
          (call $aged (i32.add (local.get $a) (local.get $i)) (local.get $back))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $size)))))
  (func $orWords (param $a i32) (param $back i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (i32.store (i32.add (local.get $out) (local.get $i))
        (i32.or
          (i32.load (i32.add (local.get $out) (local.get $i)))
          (call $aged (i32.add (local.get $a) (local.get $i)) (local.get $back))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $size)))))
  ;; out = not a
  (func $notWords (param $a i32) (param $out i32) (param $size i32) (local $i i32)
    (loop $next
      (i32.store (i32.add (local.get $out) (local.get $i))
        (i32.xor (i32.load (i32.add (local.get $a) (local.get $i))) (i32.const -1)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $size)))))

  ;; The last 128 bytes of the block at a, which is `size` bytes long, move in front of it, where the next block finds
  ;; them.
  (func $keep (param $a i32) (param $size i32) (local $i i32) (local $to i32)
    (local.set $to (i32.sub (local.get $a) (i32.const 128)))
    (loop $next
      (v128.store (i32.add (local.get $to) (local.get $i))
        (v128.load (i32.add (i32.add (local.get $to) (local.get $size)) (local.get $i))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (i32.const 128)))))

  ;; Runs the steps at [first, end) over one block. `values` is the size of the block's values, `words` that of its
  ;; bits. A step is 40 bytes: op, a, b, out (i32); factor, sum (f64); period, skip (i32). For words, b is `back`.
  (func (export "runSteps") (param $step i32) (param $end i32) (param $values i32) (param $words i32)
    (local $a i32) (local $b i32) (local $out i32)
    (loop $next
      (local.set $a (i32.load offset=4 (local.get $step)))
      (local.set $b (i32.load offset=8 (local.get $step)))
      (local.set $out (i32.load offset=12 (local.get $step)))
      (block $done
        (block $twoMeans (block $copy (block $not (block $or (block $and (block $atLeast (block $greater (block $mean
          (block $scale (block $smaller (block $larger (block $distance (block $add (block $subtract (block $keep
            (br_table
              $keep $subtract $add $distance $larger $smaller $scale $mean $greater $atLeast $and $or $not $copy
              $twoMeans
              (i32.load (local.get $step))))
          (call $keep (local.get $a) (local.get $b)) (br $done))
          (call $subtract (local.get $a) (local.get $b) (local.get $out) (local.get $values)) (br $done))
          (call $add (local.get $a) (local.get $b) (local.get $out) (local.get $values)) (br $done))
          (call $distance (local.get $a) (local.get $b) (local.get $out) (local.get $values)) (br $done))
          (call $larger (local.get $a) (local.get $b) (local.get $out) (local.get $values)) (br $done))
          (call $smaller (local.get $a) (local.get $b) (local.get $out) (local.get $values)) (br $done))
          (call $scale
            (local.get $a) (f64.load offset=16 (local.get $step)) (local.get $out) (local.get $values)) (br $done))
          (call $meanBefore (local.get $step) (local.get $values)) (br $done))
          (call $greater (local.get $a) (local.get $b) (local.get $out) (local.get $words)) (br $done))
          (call $atLeast (local.get $a) (local.get $b) (local.get $out) (local.get $words)) (br $done))
          (call $andWords (local.get $a) (local.get $b) (local.get $out) (local.get $words)) (br $done))
          (call $orWords (local.get $a) (local.get $b) (local.get $out) (local.get $words)) (br $done))
          (call $notWords (local.get $a) (local.get $out) (local.get $words)) (br $done))
          (call $copyWords (local.get $a) (local.get $b) (local.get $out) (local.get $words)) (br $done))
        ;; The last of the two steps is left behind below.
        (call $twoMeans (local.get $step) (local.get $values))
        (local.set $step (i32.add (local.get $step) (i32.const 40))))
      (br_if $next (i32.lt_u (local.tee $step (i32.add (local.get $step) (i32.const 40))) (local.get $end)))))
)
