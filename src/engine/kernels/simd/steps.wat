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
  ;; sum += a - (a `period` rows before). The step keeps the sum for the next block. In the first block, `skip` says where
  ;; the first row with a mean is; the sum is seeded over the rows before it.
  (func $meanBefore (param $step i32) (param $size i32)
    (local $a i32) (local $dropped i32) (local $out i32) (local $i i32) (local $j i32)
    (local $sum f64) (local $count f64) (local $factor f64)
    (local.set $a (i32.load offset=4 (local.get $step)))
    (local.set $out (i32.load offset=12 (local.get $step)))
    (local.set $factor (f64.load offset=16 (local.get $step)))
    (local.set $sum (f64.load offset=24 (local.get $step)))
    (local.set $count (f64.convert_i32_s (i32.load offset=32 (local.get $step))))
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
        (f64.store (i32.add (local.get $out) (local.get $i))
          (f64.mul (local.get $factor) (f64.div (local.get $sum) (local.get $count))))
        (local.set $sum (f64.add (local.get $sum)
          (f64.sub
            (f64.load (i32.add (local.get $a) (local.get $i)))
            (f64.load (i32.add (local.get $dropped) (local.get $i))))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $next)))
    (f64.store offset=24 (local.get $step) (local.get $sum)))

  ;; Four of them at once, of the four steps from $s0 on: each alone would wait for its own additions and divisions. The
  ;; first block, in which they begin on different rows, is computed one by one.
  (func $fourMeans (param $s0 i32) (param $size i32)
    (local $s1 i32) (local $s2 i32) (local $s3 i32) (local $i i32)
    (local $a0 i32) (local $a1 i32) (local $a2 i32) (local $a3 i32)
    (local $d0 i32) (local $d1 i32) (local $d2 i32) (local $d3 i32)
    (local $o0 i32) (local $o1 i32) (local $o2 i32) (local $o3 i32)
    (local $sums0 v128) (local $sums1 v128) (local $counts0 v128) (local $counts1 v128)
    (local $factors0 v128) (local $factors1 v128) (local $means v128)
    (local.set $s1 (i32.add (local.get $s0) (i32.const 40)))
    (local.set $s2 (i32.add (local.get $s0) (i32.const 80)))
    (local.set $s3 (i32.add (local.get $s0) (i32.const 120)))
    (if (i32.load offset=36 (local.get $s0)) (then
      (call $meanBefore (local.get $s0) (local.get $size))
      (call $meanBefore (local.get $s1) (local.get $size))
      (call $meanBefore (local.get $s2) (local.get $size))
      (call $meanBefore (local.get $s3) (local.get $size))
      (return)))
    (local.set $a0 (i32.load offset=4 (local.get $s0)))
    (local.set $d0 (i32.sub (local.get $a0) (i32.shl (i32.load offset=32 (local.get $s0)) (i32.const 3))))
    (local.set $o0 (i32.load offset=12 (local.get $s0)))
    (local.set $a1 (i32.load offset=4 (local.get $s1)))
    (local.set $d1 (i32.sub (local.get $a1) (i32.shl (i32.load offset=32 (local.get $s1)) (i32.const 3))))
    (local.set $o1 (i32.load offset=12 (local.get $s1)))
    (local.set $a2 (i32.load offset=4 (local.get $s2)))
    (local.set $d2 (i32.sub (local.get $a2) (i32.shl (i32.load offset=32 (local.get $s2)) (i32.const 3))))
    (local.set $o2 (i32.load offset=12 (local.get $s2)))
    (local.set $a3 (i32.load offset=4 (local.get $s3)))
    (local.set $d3 (i32.sub (local.get $a3) (i32.shl (i32.load offset=32 (local.get $s3)) (i32.const 3))))
    (local.set $o3 (i32.load offset=12 (local.get $s3)))
    (local.set $sums0 (v128.load64_lane offset=24 1 (local.get $s1) (v128.load64_splat offset=24 (local.get $s0))))
    (local.set $factors0 (v128.load64_lane offset=16 1 (local.get $s1) (v128.load64_splat offset=16 (local.get $s0))))
    (local.set $counts0 (f64x2.convert_low_i32x4_s
      (v128.load32_lane offset=32 1 (local.get $s1) (v128.load32_splat offset=32 (local.get $s0)))))
    (local.set $sums1 (v128.load64_lane offset=24 1 (local.get $s3) (v128.load64_splat offset=24 (local.get $s2))))
    (local.set $factors1 (v128.load64_lane offset=16 1 (local.get $s3) (v128.load64_splat offset=16 (local.get $s2))))
    (local.set $counts1 (f64x2.convert_low_i32x4_s
      (v128.load32_lane offset=32 1 (local.get $s3) (v128.load32_splat offset=32 (local.get $s2)))))
    (loop $next
      (local.set $means (f64x2.mul (local.get $factors0) (f64x2.div (local.get $sums0) (local.get $counts0))))
      (v128.store64_lane 0 (i32.add (local.get $o0) (local.get $i)) (local.get $means))
      (v128.store64_lane 1 (i32.add (local.get $o1) (local.get $i)) (local.get $means))
      (local.set $sums0 (f64x2.add (local.get $sums0)
        (f64x2.sub
          (v128.load64_lane 1 (i32.add (local.get $a1) (local.get $i)) (v128.load64_splat (i32.add (local.get $a0) (local.get $i))))
          (v128.load64_lane 1 (i32.add (local.get $d1) (local.get $i)) (v128.load64_splat (i32.add (local.get $d0) (local.get $i)))))))
      (local.set $means (f64x2.mul (local.get $factors1) (f64x2.div (local.get $sums1) (local.get $counts1))))
      (v128.store64_lane 0 (i32.add (local.get $o2) (local.get $i)) (local.get $means))
      (v128.store64_lane 1 (i32.add (local.get $o3) (local.get $i)) (local.get $means))
      (local.set $sums1 (f64x2.add (local.get $sums1)
        (f64x2.sub
          (v128.load64_lane 1 (i32.add (local.get $a3) (local.get $i)) (v128.load64_splat (i32.add (local.get $a2) (local.get $i))))
          (v128.load64_lane 1 (i32.add (local.get $d3) (local.get $i)) (v128.load64_splat (i32.add (local.get $d2) (local.get $i)))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (local.get $size))))
    (v128.store64_lane offset=24 0 (local.get $s0) (local.get $sums0))
    (v128.store64_lane offset=24 1 (local.get $s1) (local.get $sums0))
    (v128.store64_lane offset=24 0 (local.get $s2) (local.get $sums1))
    (v128.store64_lane offset=24 1 (local.get $s3) (local.get $sums1)))

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

  ;; The last 128 bytes of the block at a, which is `size` bytes long, move in front of it, where the next block finds them.
  (func $keep (param $a i32) (param $size i32) (local $i i32) (local $to i32)
    (local.set $to (i32.sub (local.get $a) (i32.const 128)))
    (loop $next
      (v128.store (i32.add (local.get $to) (local.get $i))
        (v128.load (i32.add (i32.add (local.get $to) (local.get $size)) (local.get $i))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (i32.const 128)))))

  ;; Runs the steps at [first, end) over one block. `values` is the size of the block's values, `words` that of its bits.
  ;; A step is 40 bytes: op, a, b, out (i32); factor, sum (f64); period, skip (i32). For words, b is `back`.
  (func (export "runSteps") (param $step i32) (param $end i32) (param $values i32) (param $words i32)
    (local $a i32) (local $b i32) (local $out i32)
    (loop $next
      (local.set $a (i32.load offset=4 (local.get $step)))
      (local.set $b (i32.load offset=8 (local.get $step)))
      (local.set $out (i32.load offset=12 (local.get $step)))
      (block $done
        (block $fourMeans (block $copy (block $not (block $or (block $and (block $atLeast (block $greater (block $mean (block $scale
          (block $smaller (block $larger (block $distance (block $add (block $subtract (block $keep
            (br_table $keep $subtract $add $distance $larger $smaller $scale $mean $greater $atLeast $and $or $not $copy $fourMeans
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
        ;; The last of the four steps is left behind below.
        (call $fourMeans (local.get $step) (local.get $values))
        (local.set $step (i32.add (local.get $step) (i32.const 120))))
      (br_if $next (i32.lt_u (local.tee $step (i32.add (local.get $step) (i32.const 40))) (local.get $end)))))
)
