;; Sums over daily returns. `npm run simd` builds them into wasm.ts; a test builds them again and compares. Addresses
;; are in bytes. The first 64 bytes of the memory are what goes in and out besides rows (powerSums.ts). Every sum is
;; compensated and in the order of the rows, as `compensatedSum` has it: what an addition loses is exact, in Knuth's
;; form without a branch as in Neumaier's with one. Two sums share a vector, because each addition waits for the one
;; before it.
(module
  (memory (import "host" "memory") 1)
  ;; Math.pow
  (func $pow (import "host" "pow") (param f64 f64) (result f64))

  ;; What total + value = next has lost.
  (func $lost (param $total v128) (param $value v128) (param $next v128) (result v128)
    (local $part v128)
    (local.set $part (f64x2.sub (local.get $next) (local.get $total)))
    (f64x2.add
      (f64x2.sub (local.get $total) (f64x2.sub (local.get $next) (local.get $part)))
      (f64x2.sub (local.get $value) (local.get $part))))

  ;; Writes the return of each day, mark / mark before - 1, or 0 after a mark that is not above 0; what is at 0 stands
  ;; before the first mark, and is the first peak. At 16 the sum of the returns, of those above 0, of the losses and of
  ;; their squares; at 48 that of the squared falls of the marks from their peak.
  (func (export "returnSums") (param $marks i32) (param $returns i32) (param $count i32)
    (local $end i32) (local $return f64) (local $value v128) (local $next v128)
    (local $before f64) (local $peak f64) (local $mark f64) (local $square v128)
    (local $sums v128) (local $sumsLost v128) (local $losses v128) (local $lossesLost v128)
    (local $falls v128) (local $fallsLost v128)
    (local.set $before (f64.load (i32.const 0)))
    (local.set $peak (local.get $before))
    (local.set $end (i32.add (local.get $marks) (i32.shl (local.get $count) (i32.const 3))))
    (block $done
      (loop $day
        (br_if $done (i32.eq (local.get $marks) (local.get $end)))
        (local.set $mark (f64.load (local.get $marks)))
        (local.set $return (f64.const 0))
        ;; Without a position the return is 0, which adds nothing, and the fall is that of the day before.
        (if (f64.ne (local.get $mark) (local.get $before))
          (then
            (local.set $peak
              (select (local.get $mark) (local.get $peak) (f64.ge (local.get $mark) (local.get $peak))))
            ;; The return, and the fall.
            (local.set $value
              (f64x2.sub
                (f64x2.div
                  (f64x2.splat (local.get $mark))
                  (f64x2.replace_lane 1 (f64x2.splat (local.get $before)) (local.get $peak)))
                (v128.const f64x2 1 1)))
            (local.set $return
              (select (f64x2.extract_lane 0 (local.get $value)) (f64.const 0)
                (f64.gt (local.get $before) (f64.const 0))))
            (local.set $before (local.get $mark))
            (local.set $square (f64x2.mul (local.get $value) (local.get $value)))
            (local.set $value
              (f64x2.pmax (f64x2.splat (local.get $return)) (v128.const f64x2 -inf 0)))
            (local.set $next (f64x2.add (local.get $sums) (local.get $value)))
            (local.set $sumsLost
              (f64x2.add (local.get $sumsLost) (call $lost (local.get $sums) (local.get $value) (local.get $next))))
            (local.set $sums (local.get $next))
            (local.set $value
              (f64x2.pmax (f64x2.splat (f64.neg (local.get $return))) (v128.const f64x2 0 0)))
            ;; The loss, and its square.
            (local.set $value
              (f64x2.mul (local.get $value) (f64x2.replace_lane 0 (local.get $value) (f64.const 1))))
            (local.set $next (f64x2.add (local.get $losses) (local.get $value)))
            (local.set $lossesLost
              (f64x2.add (local.get $lossesLost)
                (call $lost (local.get $losses) (local.get $value) (local.get $next))))
            (local.set $losses (local.get $next))))
        (f64.store (local.get $returns) (local.get $return))
        (local.set $next (f64x2.add (local.get $falls) (local.get $square)))
        (local.set $fallsLost
          (f64x2.add (local.get $fallsLost) (call $lost (local.get $falls) (local.get $square) (local.get $next))))
        (local.set $falls (local.get $next))
        (local.set $returns (i32.add (local.get $returns) (i32.const 8)))
        (local.set $marks (i32.add (local.get $marks) (i32.const 8)))
        (br $day)))
    (v128.store (i32.const 16) (f64x2.add (local.get $sums) (local.get $sumsLost)))
    (v128.store (i32.const 32) (f64x2.add (local.get $losses) (local.get $lossesLost)))
    (f64.store (i32.const 48) (f64x2.extract_lane 1 (f64x2.add (local.get $falls) (local.get $fallsLost)))))

  ;; The 26 upper bits of each (Veltkamp).
  (func $upper (param $value v128) (result v128)
    (local $scaled v128)
    (local.set $scaled (f64x2.mul (local.get $value) (v128.const f64x2 134217729 134217729)))
    (f64x2.sub (local.get $scaled) (f64x2.sub (local.get $scaled) (local.get $value))))

  ;; Where the exact power, `rest` away from its rounded value, is not nearer to it than 0.484 units in the last place.
  ;; In the range of powerSums, Math.pow is off by less than 0.515 (glibc's e_pow.c), and nearer powers are what it
  ;; gives.
  (func $unsure (param $power v128) (param $rest v128) (result v128)
    (f64x2.ne
      (f64x2.add
        (local.get $power)
        (f64x2.mul (local.get $rest) (v128.const f64x2 1.0330578512396693 1.0330578512396693)))
      (local.get $power)))

  ;; Those that are not sure, as Math.pow gives them.
  (func $corrected (param $power v128) (param $unsure v128) (param $value v128) (param $exponent f64) (result v128)
    (if (i64.ne (i64x2.extract_lane 0 (local.get $unsure)) (i64.const 0))
      (then
        (local.set $power
          (f64x2.replace_lane 0 (local.get $power)
            (call $pow (f64x2.extract_lane 0 (local.get $value)) (local.get $exponent))))))
    (if (i64.ne (i64x2.extract_lane 1 (local.get $unsure)) (i64.const 0))
      (then
        (local.set $power
          (f64x2.replace_lane 1 (local.get $power)
            (call $pow (f64x2.extract_lane 1 (local.get $value)) (local.get $exponent))))))
    (local.get $power))

  ;; At 16 the sums of the second, third and fourth powers of value - center, where the center is at 0, and of its
  ;; product with other - center, where that center is at 8. One value more is read than there are when their
  ;; number is odd.
  (func (export "powerSums") (param $values i32) (param $others i32) (param $count i32)
    (local $value v128) (local $before v128) (local $center v128) (local $otherCenter v128)
    (local $square v128) (local $cube v128) (local $fourth v128) (local $product v128)
    (local $upper v128) (local $lower v128) (local $squareUpper v128) (local $squareLower v128)
    (local $squareError v128) (local $rounded v128) (local $error v128) (local $outside v128)
    (local $cubeUnsure v128) (local $fourthUnsure v128)
    (local $sums v128) (local $sumsLost v128) (local $fourths v128) (local $fourthsLost v128) (local $next v128)
    (local $term v128)
    (local.set $center (v128.load64_splat (i32.const 0)))
    (local.set $otherCenter (v128.load64_splat (i32.const 8)))
    (block $done
      (loop $days
        (br_if $done (i32.le_s (local.get $count) (i32.const 0)))
        (local.set $value (f64x2.sub (v128.load (local.get $values)) (local.get $center)))
        (local.set $product
          (f64x2.mul (local.get $value) (f64x2.sub (v128.load (local.get $others)) (local.get $otherCenter))))
        ;; Days without a position all have the same return.
        (if (v128.any_true (f64x2.ne (local.get $value) (local.get $before)))
          (then
            (local.set $before (local.get $value))
            (local.set $square (f64x2.mul (local.get $value) (local.get $value)))
            (local.set $upper (call $upper (local.get $value)))
            (local.set $lower (f64x2.sub (local.get $value) (local.get $upper)))
            (local.set $squareUpper (call $upper (local.get $square)))
            (local.set $squareLower (f64x2.sub (local.get $square) (local.get $squareUpper)))
            (local.set $squareError
              (f64x2.add
                (f64x2.add
                  (f64x2.sub (f64x2.mul (local.get $upper) (local.get $upper)) (local.get $square))
                  (f64x2.mul (f64x2.add (local.get $upper) (local.get $upper)) (local.get $lower)))
                (f64x2.mul (local.get $lower) (local.get $lower))))
            ;; Beyond these the error of Math.pow is larger.
            (local.set $outside
              (v128.or
                (f64x2.le (f64x2.abs (local.get $value)) (v128.const f64x2 1e-9 1e-9))
                (f64x2.ge (f64x2.abs (local.get $value)) (v128.const f64x2 1e9 1e9))))
            (local.set $rounded (f64x2.mul (local.get $square) (local.get $value)))
            (local.set $error
              (f64x2.add
                (f64x2.add
                  (f64x2.add
                    (f64x2.add
                      (f64x2.sub (f64x2.mul (local.get $squareUpper) (local.get $upper)) (local.get $rounded))
                      (f64x2.mul (local.get $squareUpper) (local.get $lower)))
                    (f64x2.mul (local.get $squareLower) (local.get $upper)))
                  (f64x2.mul (local.get $squareLower) (local.get $lower)))
                (f64x2.mul (local.get $squareError) (local.get $value))))
            (local.set $cube (f64x2.add (local.get $rounded) (local.get $error)))
            (local.set $cubeUnsure
              (v128.or (local.get $outside)
                (call $unsure (local.get $cube)
                  (f64x2.sub (local.get $error) (f64x2.sub (local.get $cube) (local.get $rounded))))))
            (local.set $rounded (f64x2.mul (local.get $square) (local.get $square)))
            (local.set $error
              (f64x2.add
                (f64x2.add
                  (f64x2.add
                    (f64x2.sub (f64x2.mul (local.get $squareUpper) (local.get $squareUpper)) (local.get $rounded))
                    (f64x2.mul (f64x2.add (local.get $squareUpper) (local.get $squareUpper)) (local.get $squareLower)))
                  (f64x2.mul (local.get $squareLower) (local.get $squareLower)))
                (f64x2.mul (f64x2.add (local.get $square) (local.get $square)) (local.get $squareError))))
            (local.set $fourth (f64x2.add (local.get $rounded) (local.get $error)))
            (local.set $fourthUnsure
              (v128.or (local.get $outside)
                (call $unsure (local.get $fourth)
                  (f64x2.sub (local.get $error) (f64x2.sub (local.get $fourth) (local.get $rounded))))))
            (if (v128.any_true (v128.or (local.get $cubeUnsure) (local.get $fourthUnsure)))
              (then
                (local.set $cube
                  (call $corrected (local.get $cube) (local.get $cubeUnsure) (local.get $value) (f64.const 3)))
                (local.set $fourth
                  (call $corrected (local.get $fourth) (local.get $fourthUnsure) (local.get $value)
                    (f64.const 4)))))))
        ;; The powers of the first day, then those of the second.
        (local.set $term
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $square) (local.get $cube)))
        (local.set $next (f64x2.add (local.get $sums) (local.get $term)))
        (local.set $sumsLost
          (f64x2.add (local.get $sumsLost) (call $lost (local.get $sums) (local.get $term) (local.get $next))))
        (local.set $sums (local.get $next))
        (local.set $term
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $fourth) (local.get $product)))
        (local.set $next (f64x2.add (local.get $fourths) (local.get $term)))
        (local.set $fourthsLost
          (f64x2.add (local.get $fourthsLost) (call $lost (local.get $fourths) (local.get $term) (local.get $next))))
        (local.set $fourths (local.get $next))
        (br_if $done (i32.eq (local.get $count) (i32.const 1)))
        (local.set $term
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $square) (local.get $cube)))
        (local.set $next (f64x2.add (local.get $sums) (local.get $term)))
        (local.set $sumsLost
          (f64x2.add (local.get $sumsLost) (call $lost (local.get $sums) (local.get $term) (local.get $next))))
        (local.set $sums (local.get $next))
        (local.set $term
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $fourth) (local.get $product)))
        (local.set $next (f64x2.add (local.get $fourths) (local.get $term)))
        (local.set $fourthsLost
          (f64x2.add (local.get $fourthsLost) (call $lost (local.get $fourths) (local.get $term) (local.get $next))))
        (local.set $fourths (local.get $next))
        (local.set $values (i32.add (local.get $values) (i32.const 16)))
        (local.set $others (i32.add (local.get $others) (i32.const 16)))
        (local.set $count (i32.sub (local.get $count) (i32.const 2)))
        (br $days)))
    (v128.store (i32.const 16) (f64x2.add (local.get $sums) (local.get $sumsLost)))
    (v128.store (i32.const 32) (f64x2.add (local.get $fourths) (local.get $fourthsLost))))

  ;; One of 512 buckets in the order of the values: 16 for each power of two from 2^-15 to 2, by the upper bits of the
  ;; double, the outermost and the innermost with everything beyond. Four times its number.
  (func $bucket (param $at i32) (result i32)
    (local $bits i32) (local $size i32)
    (local.set $bits (i32.load16_u offset=6 (local.get $at)))
    (local.set $size (i32.sub (i32.and (local.get $bits) (i32.const 0x7fff)) (i32.const 16128)))
    (local.set $size (select (local.get $size) (i32.const 0) (i32.gt_s (local.get $size) (i32.const 0))))
    (local.set $size (select (local.get $size) (i32.const 255) (i32.lt_s (local.get $size) (i32.const 255))))
    (i32.shl
      (i32.add
        (i32.xor (local.get $size) (i32.sub (i32.const 0) (i32.shr_u (local.get $bits) (i32.const 15))))
        (i32.const 256))
      (i32.const 2)))

  ;; Writes the values of at least a certain size to `out`, in their order, where one value more may be written. The
  ;; size is at 0; at 0 and 4 are then the numbers of those below 0 and of all. A 0 stands behind the last value.
  (func (export "gatherLarge") (param $values i32) (param $count i32) (param $out i32)
    (local $end i32) (local $first i32) (local $size v128) (local $some v128) (local $isLarge v128) (local $large i32)
    (local $negative i32)
    (local.set $size (v128.load64_splat (i32.const 0)))
    (local.set $first (local.get $out))
    (local.set $end (i32.add (local.get $values) (i32.shl (local.get $count) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $values) (local.get $end)))
        (local.set $some (v128.load (local.get $values)))
        (local.set $isLarge (f64x2.ge (f64x2.abs (local.get $some)) (local.get $size)))
        (local.set $large (i64x2.bitmask (local.get $isLarge)))
        (local.set $negative
          (i32.add (local.get $negative)
            (i32.popcnt (i64x2.bitmask (v128.and (local.get $some) (local.get $isLarge))))))
        (v128.store64_lane 0 (local.get $out) (local.get $some))
        (local.set $out
          (i32.add (local.get $out) (i32.shl (i32.and (local.get $large) (i32.const 1)) (i32.const 3))))
        (v128.store64_lane 1 (local.get $out) (local.get $some))
        (local.set $out
          (i32.add (local.get $out) (i32.shl (i32.shr_u (local.get $large) (i32.const 1)) (i32.const 3))))
        (local.set $values (i32.add (local.get $values) (i32.const 16)))
        (br $next)))
    (i32.store (i32.const 0) (local.get $negative))
    (i32.store (i32.const 4) (i32.shr_u (i32.sub (local.get $out) (local.get $first)) (i32.const 3))))

  ;; Writes the values to `out` bucket by bucket in ascending order. At 0 is then how many are in the first buckets that
  ;; have at least `wanted` together, and at 4 how many stand before the last that have. At 64 there are counters of the
  ;; 512 buckets, then the addresses of their next values.
  (func (export "gatherBuckets") (param $values i32) (param $count i32) (param $wanted i32) (param $out i32)
    (local $at i32) (local $end i32) (local $bucket i32) (local $found i32) (local $size i32)
    (local $lowest i32) (local $beforeHighest i32)
    (memory.fill (i32.const 64) (i32.const 0) (i32.const 2048))
    (local.set $end (i32.add (local.get $values) (i32.shl (local.get $count) (i32.const 3))))
    (local.set $at (local.get $values))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $at) (local.get $end)))
        (local.set $bucket (call $bucket (local.get $at)))
        (i32.store offset=64 (local.get $bucket)
          (i32.add (i32.load offset=64 (local.get $bucket)) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (local.set $bucket (i32.const 0))
    (loop $next
      (local.set $size (i32.load offset=64 (local.get $bucket)))
      (i32.store offset=64 (local.get $bucket)
        (i32.add (local.get $out) (i32.shl (local.get $found) (i32.const 3))))
      (local.set $beforeHighest
        (select (local.get $found) (local.get $beforeHighest)
          (i32.ge_s (i32.sub (local.get $count) (local.get $found)) (local.get $wanted))))
      (local.set $found (i32.add (local.get $found) (local.get $size)))
      (local.set $lowest
        (select (local.get $lowest) (local.get $found) (i32.ge_s (local.get $lowest) (local.get $wanted))))
      (br_if $next
        (i32.lt_s (local.tee $bucket (i32.add (local.get $bucket) (i32.const 4))) (i32.const 2048))))
    (i32.store (i32.const 0) (local.get $lowest))
    (i32.store (i32.const 4) (local.get $beforeHighest))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $values) (local.get $end)))
        (local.set $bucket (call $bucket (local.get $values)))
        (local.set $at (i32.load offset=64 (local.get $bucket)))
        (f64.store (local.get $at) (f64.load (local.get $values)))
        (i32.store offset=64 (local.get $bucket) (i32.add (local.get $at) (i32.const 8)))
        (local.set $values (i32.add (local.get $values) (i32.const 8)))
        (br $next)))))
