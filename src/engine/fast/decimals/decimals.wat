;; Doubles as JavaScript and JSON write them: the shortest digits that read back as the same double, found by Schubfach
;; (Raffaello Giulietti, "The Schubfach way to render doubles", 2020), mostly by its shortcut. `npm run simd` builds it
;; into wasm.ts; a test builds it again and compares. It has a memory of its own (decimals.ts): at 0 the powers of ten
;; from 10^-292 to 10^324 as 128 bits each, the low half first. Addresses are in bytes. Texts are copied 16 bytes at a
;; time: what lies behind them is overwritten later.
(module
  (memory (import "host" "memory") 1)

  ;; The upper half of the product.
  (func $high (param $a i64) (param $b i64) (result i64)
    (local $al i64) (local $ah i64) (local $bl i64) (local $bh i64) (local $u i64)
    (local.set $al (i64.and (local.get $a) (i64.const 0xffffffff)))
    (local.set $ah (i64.shr_u (local.get $a) (i64.const 32)))
    (local.set $bl (i64.and (local.get $b) (i64.const 0xffffffff)))
    (local.set $bh (i64.shr_u (local.get $b) (i64.const 32)))
    (local.set $u
      (i64.add (i64.mul (local.get $ah) (local.get $bl))
        (i64.shr_u (i64.mul (local.get $al) (local.get $bl)) (i64.const 32))))
    (i64.add
      (i64.add (i64.mul (local.get $ah) (local.get $bh)) (i64.shr_u (local.get $u) (i64.const 32)))
      (i64.shr_u
        (i64.add (i64.mul (local.get $al) (local.get $bh)) (i64.and (local.get $u) (i64.const 0xffffffff)))
        (i64.const 32))))

  ;; The upper 64 bits of a power of ten times a number; the last bit is set when anything below them is.
  (func $scaled (param $low i64) (param $top i64) (param $number i64) (result i64)
    (local $carried i64) (local $middle i64)
    (local.set $carried (call $high (local.get $low) (local.get $number)))
    (local.set $middle (i64.add (i64.mul (local.get $top) (local.get $number)) (local.get $carried)))
    (i64.or
      (i64.add (call $high (local.get $top) (local.get $number))
        (i64.extend_i32_u (i64.lt_u (local.get $middle) (local.get $carried))))
      (i64.extend_i32_u (i64.gt_u (local.get $middle) (i64.const 1)))))

  ;; Eight digits, zeros in front: the values of the digits as bytes, the first one lowest. First two groups of four
  ;; digits are divided at once, then four of two.
  (func $eight (param $number i32) (result i64)
    (local $upper i32) (local $digits i64) (local $quotients i64)
    (local.set $upper (i32.div_u (local.get $number) (i32.const 10000)))
    (local.set $digits
      (i64.or (i64.extend_i32_u (local.get $upper))
        (i64.shl
          (i64.extend_i32_u (i32.sub (local.get $number) (i32.mul (local.get $upper) (i32.const 10000))))
          (i64.const 32))))
    ;; 10486 / 2^20 is as good as a hundredth below 10000.
    (local.set $quotients
      (i64.and
        (i64.shr_u (i64.mul (local.get $digits) (i64.const 10486)) (i64.const 20))
        (i64.const 0x7f0000007f)))
    (local.set $digits
      (i64.or (local.get $quotients)
        (i64.shl
          (i64.sub (local.get $digits) (i64.mul (local.get $quotients) (i64.const 100)))
          (i64.const 16))))
    ;; 103 / 2^10 is as good as a tenth below 100.
    (local.set $quotients
      (i64.and
        (i64.shr_u (i64.mul (local.get $digits) (i64.const 103)) (i64.const 10))
        (i64.const 0xf000f000f000f)))
    (i64.or (local.get $quotients)
      (i64.shl
        (i64.sub (local.get $digits) (i64.mul (local.get $quotients) (i64.const 10)))
        (i64.const 8))))

  ;; Writes a whole number of at most 16 digits that is not 0; returns the end.
  (func $whole (param $out i32) (param $number i64) (result i32)
    (local $upper i64) (local $digits i64) (local $zeros i64)
    (if (i64.lt_u (local.get $number) (i64.const 100000000))
      (then (local.set $digits (call $eight (i32.wrap_i64 (local.get $number)))))
      (else
        (local.set $upper (i64.div_u (local.get $number) (i64.const 100000000)))
        (local.set $digits (call $eight (i32.wrap_i64 (local.get $upper))))))
    ;; Zeros in front, in bits.
    (local.set $zeros (i64.and (i64.ctz (local.get $digits)) (i64.const 0x38)))
    (i64.store (local.get $out)
      (i64.shr_u (i64.or (local.get $digits) (i64.const 0x3030303030303030)) (local.get $zeros)))
    (local.set $out
      (i32.add (local.get $out)
        (i32.wrap_i64 (i64.sub (i64.const 8) (i64.shr_u (local.get $zeros) (i64.const 3))))))
    (if (i64.eqz (local.get $upper)) (then (return (local.get $out))))
    (i64.store (local.get $out)
      (i64.or (i64.const 0x3030303030303030)
        (call $eight
          (i32.wrap_i64 (i64.sub (local.get $number) (i64.mul (local.get $upper) (i64.const 100000000)))))))
    (i32.add (local.get $out) (i32.const 8)))

  (func $copy (param $to i32) (param $from i32) (param $end i32)
    (loop $next
      (v128.store (local.get $to) (v128.load (local.get $from)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $next (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 16))) (local.get $end)))))

  ;; The values of the digits of two numbers of eight digits, zeros in front, one after the other: divided by ten
  ;; thousand, by a hundred and by ten, all groups of digits at once.
  (func $sixteen (param $upper i32) (param $lower i32) (result v128)
    (local $both v128) (local $quotients v128) (local $groups v128)
    (local.set $both (i32x4.replace_lane 1 (i32x4.splat (local.get $upper)) (local.get $lower)))
    ;; 3518437209 / 2^45 is as good as a ten-thousandth below 2^32.
    (local.set $quotients
      (i64x2.shr_u
        (i64x2.extmul_low_i32x4_u (local.get $both) (i32x4.splat (i32.const 3518437209)))
        (i32.const 45)))
    (local.set $groups
      (v128.or (local.get $quotients)
        (i64x2.shl
          (i32x4.sub (i64x2.extend_low_i32x4_u (local.get $both))
            (i32x4.mul (local.get $quotients) (i32x4.splat (i32.const 10000))))
          (i32.const 32))))
    ;; 5243 / 2^19 is as good as a hundredth below 10000.
    (local.set $quotients
      (i32x4.shr_u (i32x4.dot_i16x8_s (local.get $groups) (i32x4.splat (i32.const 5243))) (i32.const 19)))
    (local.set $groups
      (v128.or (local.get $quotients)
        (i32x4.shl
          (i32x4.sub (local.get $groups)
            (i32x4.dot_i16x8_s (local.get $quotients) (i32x4.splat (i32.const 100))))
          (i32.const 16))))
    ;; 103 / 2^10 is as good as a tenth below 100.
    (local.set $quotients
      (i16x8.shr_u (i16x8.mul (local.get $groups) (i16x8.splat (i32.const 103))) (i32.const 10)))
    (v128.or (local.get $quotients)
      (i16x8.shl
        (i16x8.sub (local.get $groups) (i16x8.mul (local.get $quotients) (i16x8.splat (i32.const 10))))
        (i32.const 8))))

  ;; The text from a character on.
  (func $shifted (param $text v128) (param $by i32) (result v128)
    (i8x16.swizzle (local.get $text)
      (i8x16.add (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) (i8x16.splat (local.get $by)))))

  ;; Writes digits · 10^exponent, where digits is at least 10^15 and below 10^17; returns the end.
  (func $layout (param $out i32) (param $digits i64) (param $exponent i32) (result i32)
    (local $upper i64) (local $first i32) (local $has17 i32) (local $text v128) (local $count i32) (local $point i32)
    (local $before i32)
    (local.set $upper (i64.div_u (local.get $digits) (i64.const 100000000)))
    (local.set $first (i32.wrap_i64 (i64.div_u (local.get $digits) (i64.const 10000000000000000))))
    (local.set $text
      (call $sixteen
        (i32.sub (i32.wrap_i64 (local.get $upper)) (i32.mul (local.get $first) (i32.const 100000000)))
        (i32.wrap_i64 (i64.sub (local.get $digits) (i64.mul (local.get $upper) (i64.const 100000000))))))
    ;; The digits behind the first of seventeen, without the zeros at their end.
    (local.set $count
      (i32.sub (i32.const 32)
        (i32.clz (i8x16.bitmask (i8x16.ne (local.get $text) (v128.const i64x2 0 0))))))
    (local.set $text (v128.or (local.get $text) (v128.const i64x2 0x3030303030303030 0x3030303030303030)))
    (local.set $has17 (i32.ne (local.get $first) (i32.const 0)))
    (local.set $first (i32.add (local.get $first) (i32.const 48)))
    ;; How many of them stand before the point, and with the first one.
    (local.set $point (i32.add (local.get $exponent) (i32.const 16)))
    (local.set $before (i32.add (local.get $point) (local.get $has17)))
    (if (i32.and (i32.gt_s (local.get $before) (i32.const 0)) (i32.lt_s (local.get $point) (i32.const 16)))
      (then
        (i32.store8 (local.get $out) (local.get $first))
        (local.set $out (i32.add (local.get $out) (local.get $has17)))
        (v128.store (local.get $out) (local.get $text))
        (i32.store8 (i32.add (local.get $out) (local.get $point)) (i32.const 46))
        (v128.store offset=1 (i32.add (local.get $out) (local.get $point))
          (call $shifted (local.get $text) (local.get $point)))
        (return (i32.add (local.get $out)
          (select (i32.add (local.get $count) (i32.const 1)) (local.get $point)
            (i32.gt_s (local.get $count) (local.get $point)))))))
    (if (i32.and (i32.gt_s (local.get $before) (i32.const -6)) (i32.le_s (local.get $before) (i32.const 0)))
      (then
        ;; "0.000000"
        (i64.store (local.get $out) (i64.const 0x3030303030302e30))
        (local.set $out (i32.add (local.get $out) (i32.sub (i32.const 2) (local.get $before))))
        (i32.store8 (local.get $out) (local.get $first))
        (local.set $out (i32.add (local.get $out) (local.get $has17)))
        (v128.store (local.get $out) (local.get $text))
        (return (i32.add (local.get $out) (local.get $count)))))
    (if (i32.and (i32.gt_s (local.get $before) (i32.const 0)) (i32.le_s (local.get $before) (i32.const 21)))
      (then
        (i32.store8 (local.get $out) (local.get $first))
        (local.set $out (i32.add (local.get $out) (local.get $has17)))
        (v128.store (local.get $out) (local.get $text))
        (i64.store offset=16 (local.get $out) (i64.const 0x3030303030303030))
        (return (i32.add (local.get $out) (local.get $point)))))
    (if (i32.eqz (local.get $has17))
      (then
        (local.set $first (i8x16.extract_lane_u 0 (local.get $text)))
        (local.set $text (call $shifted (local.get $text) (i32.const 1)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))))
    (i32.store8 (local.get $out) (local.get $first))
    (local.set $out (i32.add (local.get $out) (i32.const 1)))
    (if (local.get $count)
      (then
        (i32.store8 (local.get $out) (i32.const 46))
        (v128.store offset=1 (local.get $out) (local.get $text))
        (local.set $out (i32.add (local.get $out) (i32.add (local.get $count) (i32.const 1))))))
    (call $power (local.get $out) (i32.sub (local.get $before) (i32.const 1))))

  ;; Writes e, a sign and an exponent; returns the end.
  (func $power (param $out i32) (param $exponent i32) (result i32)
    (local $size i32)
    (local.set $size
      (select (local.get $exponent) (i32.sub (i32.const 0) (local.get $exponent))
        (i32.ge_s (local.get $exponent) (i32.const 0))))
    (i32.store8 (local.get $out) (i32.const 101))
    (i32.store8 offset=1 (local.get $out)
      (select (i32.const 45) (i32.const 43) (i32.lt_s (local.get $exponent) (i32.const 0))))
    (call $whole (i32.add (local.get $out) (i32.const 2)) (i64.extend_i32_u (local.get $size))))

  ;; Writes one number; returns the end. What is not finite is null, as in JSON.
  (func $number (param $bits i64) (param $out i32) (result i32)
    (local $field i32) (local $c i64) (local $q i32)
    (local.set $field (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 52))) (i32.const 2047)))
    (local.set $c (i64.and (local.get $bits) (i64.const 0xfffffffffffff)))
    (if (i32.eq (local.get $field) (i32.const 2047))
      (then
        (i32.store (local.get $out) (i32.const 0x6c6c756e))
        (return (i32.add (local.get $out) (i32.const 4)))))
    (if (i64.eqz (i64.shl (local.get $bits) (i64.const 1)))
      (then
        (i32.store8 (local.get $out) (i32.const 48))
        (return (i32.add (local.get $out) (i32.const 1)))))
    ;; A minus, which is overwritten where there is none: the signs of returns cannot be predicted.
    (i32.store8 (local.get $out) (i32.const 45))
    (local.set $out (i32.add (local.get $out) (i32.wrap_i64 (i64.shr_u (local.get $bits) (i64.const 63)))))
    (if (i32.eqz (local.get $field))
      (then (return (call $exact (local.get $out) (local.get $c) (i32.const -1074) (i32.const 0)))))
    (local.set $q (i32.sub (local.get $field) (i32.const 1075)))
    (local.set $c (i64.or (local.get $c) (i64.const 0x10000000000000)))
    ;; Whole numbers.
    (if (i32.and (i32.le_s (local.get $q) (i32.const 0)) (i32.gt_s (local.get $q) (i32.const -53)))
      (then
        (if (i64.eqz (i64.and (local.get $c)
              (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (i32.sub (i32.const 0) (local.get $q))))
                (i64.const 1))))
          (then
            (return (call $whole (local.get $out)
              (i64.shr_u (local.get $c) (i64.extend_i32_u (i32.sub (i32.const 0) (local.get $q))))))))))
    ;; Below a power of two the doubles are closer than above it.
    (if (i64.eq (local.get $c) (i64.const 0x10000000000000))
      (then
        (return (call $exact (local.get $out) (local.get $c) (local.get $q)
          (i32.gt_u (local.get $field) (i32.const 1))))))
    (call $rounded (local.get $out) (local.get $c) (local.get $q)))

  ;; Writes c · 2^q, where c is above 2^52 and below 2^53; returns the end. In units of 10^k it has 16 or 17 digits
  ;; before its point: it is rounded to tens where that reads back as the same number, and to ones where not. That takes
  ;; one product in place of three, and no branch. Of the power of ten the upper 96 bits are enough: they make the
  ;; fraction too small by 2^-37 at most, and what is as near to a limit goes to $exact, with room to spare.
  (func $rounded (param $out i32) (param $c i64) (param $q i32) (result i32)
    (local $k i32) (local $power i32) (local $h i64) (local $top i64) (local $scaled i64) (local $rest i64)
    (local $fraction i64) (local $ones i64) (local $tens i64) (local $modulo i64) (local $half i64) (local $above i64)
    (local $isUp i32)
    (local.set $k (i32.shr_s (i32.mul (local.get $q) (i32.const 1262611)) (i32.const 22)))
    (local.set $h (call $shiftOf (local.get $q) (local.get $k)))
    (local.set $power (i32.shl (i32.sub (i32.const 292) (local.get $k)) (i32.const 4)))
    (local.set $top (i64.load offset=8 (local.get $power)))
    (local.set $scaled (i64.shl (local.get $c) (local.get $h)))
    (local.set $rest
      (i64.shr_u
        (i64.mul (i64.load32_u offset=4 (local.get $power)) (i64.shr_u (local.get $scaled) (i64.const 25)))
        (i64.const 7)))
    (local.set $fraction (i64.add (i64.mul (local.get $top) (local.get $scaled)) (local.get $rest)))
    (local.set $ones
      (i64.add (call $high (local.get $top) (local.get $scaled))
        (i64.extend_i32_u (i64.lt_u (local.get $fraction) (local.get $rest)))))
    (local.set $tens (i64.div_u (local.get $ones) (i64.const 10)))
    ;; The last digit with the fraction, half the distance to the next double, and their sum, in units of 2^-60.
    (local.set $modulo
      (i64.or
        (i64.shl (i64.sub (local.get $ones) (i64.mul (local.get $tens) (i64.const 10))) (i64.const 60))
        (i64.shr_u (local.get $fraction) (i64.const 4))))
    (local.set $half (i64.shr_u (local.get $top) (i64.sub (i64.const 5) (local.get $h))))
    (local.set $above (i64.add (local.get $modulo) (local.get $half)))
    (if (i32.or
          (i64.lt_u (i64.sub (local.get $fraction) (i64.const 0x7ffffffff8000000)) (i64.const 0x10000000))
          (i32.or
            (i64.lt_u (i64.add (i64.sub (local.get $modulo) (local.get $half)) (i64.const 0x1000000))
              (i64.const 0x2000000))
            (i64.lt_u (i64.sub (local.get $above) (i64.const 0x9fffffffff000000)) (i64.const 0x2000000))))
      (then (return (call $exact (local.get $out) (local.get $c) (local.get $q) (i32.const 0)))))
    (local.set $isUp (i64.ge_u (local.get $above) (i64.const 0xa000000000000000)))
    (call $layout (local.get $out)
      (select
        (i64.mul (i64.add (local.get $tens) (i64.extend_i32_u (local.get $isUp))) (i64.const 10))
        (i64.add (local.get $ones) (i64.shr_u (local.get $fraction) (i64.const 63)))
        (i32.or (local.get $isUp) (i64.lt_u (local.get $modulo) (local.get $half))))
      (local.get $k)))

  ;; How far c is shifted, so that the point of its product with the power of ten stands before the lower 128 bits.
  (func $shiftOf (param $q i32) (param $k i32) (result i64)
    (i64.extend_i32_s
      (i32.add
        (i32.add (local.get $q)
          (i32.shr_s (i32.mul (i32.sub (i32.const 0) (local.get $k)) (i32.const 1741647)) (i32.const 19)))
        (i32.const 1))))

  ;; Writes c · 2^q as Schubfach does; returns the end.
  (func $exact (param $out i32) (param $c i64) (param $q i32) (param $isCloser i32) (result i32)
    (local $k i32) (local $h i64) (local $power i32) (local $low i64) (local $top i64)
    (local $lower i64) (local $value i64) (local $upper i64) (local $s i64) (local $tens i64)
    (local $isBelow i32) (local $isAbove i32)
    ;; floor(log10(2^q)), of three quarters of it where the doubles below are closer.
    (local.set $k
      (i32.shr_s
        (i32.sub (i32.mul (local.get $q) (i32.const 1262611))
          (select (i32.const 524031) (i32.const 0) (local.get $isCloser)))
        (i32.const 22)))
    (local.set $h (call $shiftOf (local.get $q) (local.get $k)))
    (local.set $power (i32.shl (i32.sub (i32.const 292) (local.get $k)) (i32.const 4)))
    (local.set $low (i64.load (local.get $power)))
    (local.set $top (i64.load offset=8 (local.get $power)))
    ;; Four times the number and the ends of the interval that reads back as it, in units of 10^k.
    (local.set $s (i64.shl (local.get $c) (i64.const 2)))
    (local.set $value (call $scaled (local.get $low) (local.get $top) (i64.shl (local.get $s) (local.get $h))))
    (local.set $lower
      (call $scaled (local.get $low) (local.get $top)
        (i64.shl
          (i64.add (i64.sub (local.get $s) (i64.const 2)) (i64.extend_i32_u (local.get $isCloser)))
          (local.get $h))))
    (local.set $upper
      (call $scaled (local.get $low) (local.get $top)
        (i64.shl (i64.add (local.get $s) (i64.const 2)) (local.get $h))))
    ;; The ends belong to it when its significand is even.
    (local.set $lower (i64.add (local.get $lower) (i64.and (local.get $c) (i64.const 1))))
    (local.set $upper (i64.sub (local.get $upper) (i64.and (local.get $c) (i64.const 1))))
    (local.set $s (i64.shr_u (local.get $value) (i64.const 2)))
    (if (i64.ge_u (local.get $s) (i64.const 10))
      (then
        (local.set $tens (i64.div_u (local.get $s) (i64.const 10)))
        (local.set $isBelow
          (i64.le_u (local.get $lower) (i64.mul (local.get $tens) (i64.const 40))))
        (local.set $isAbove
          (i64.le_u (i64.add (i64.mul (local.get $tens) (i64.const 40)) (i64.const 40)) (local.get $upper)))
        (if (i32.ne (local.get $isBelow) (local.get $isAbove))
          (then
            (return (call $filled (local.get $out)
              (i64.add (local.get $tens) (i64.extend_i32_u (local.get $isAbove)))
              (i32.add (local.get $k) (i32.const 1))))))))
    (local.set $isBelow (i64.le_u (local.get $lower) (i64.shl (local.get $s) (i64.const 2))))
    (local.set $isAbove
      (i64.le_u (i64.add (i64.shl (local.get $s) (i64.const 2)) (i64.const 4)) (local.get $upper)))
    (if (i32.eq (local.get $isBelow) (local.get $isAbove))
      (then
        ;; The nearer one; of two as near, the even one.
        (local.set $tens (i64.add (i64.shl (local.get $s) (i64.const 2)) (i64.const 2)))
        (local.set $isAbove
          (i32.or (i64.gt_u (local.get $value) (local.get $tens))
            (i32.and (i64.eq (local.get $value) (local.get $tens))
              (i32.wrap_i64 (i64.and (local.get $s) (i64.const 1))))))))
    (call $filled (local.get $out)
      (i64.add (local.get $s) (i64.extend_i32_u (local.get $isAbove)))
      (local.get $k)))

  ;; Writes digits · 10^exponent with as many digits as $layout asks for; returns the end.
  (func $filled (param $out i32) (param $digits i64) (param $exponent i32) (result i32)
    (loop $next
      (if (i64.lt_u (local.get $digits) (i64.const 1000000000000000))
        (then
          (local.set $digits (i64.mul (local.get $digits) (i64.const 10)))
          (local.set $exponent (i32.sub (local.get $exponent) (i32.const 1)))
          (br $next))))
    (call $layout (local.get $out) (local.get $digits) (local.get $exponent)))

  ;; Writes pieces: each a text, as the places of its beginning and its end, and a number behind it unless the highest
  ;; bit of the first is set. Returns the end.
  (func (export "writePieces")
    (param $pieces i32) (param $count i32) (param $values i32) (param $out i32) (result i32)
    (local $last i32) (local $bits i64) (local $before i64) (local $from i32) (local $end i32) (local $start i32)
    (local $written i32) (local $isText i32)
    (local.set $last (i32.add (local.get $pieces) (i32.shl (local.get $count) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $pieces) (local.get $last)))
        (local.set $isText (i32.and (i32.load (local.get $pieces)) (i32.const 0x80000000)))
        (local.set $from (i32.and (i32.load (local.get $pieces)) (i32.const 0x7fffffff)))
        (local.set $end (i32.load offset=4 (local.get $pieces)))
        (call $copy (local.get $out) (local.get $from) (local.get $end))
        (local.set $out (i32.add (local.get $out) (i32.sub (local.get $end) (local.get $from))))
        (local.set $pieces (i32.add (local.get $pieces) (i32.const 8)))
        (br_if $next (local.get $isText))
        (local.set $bits (i64.load (local.get $values)))
        ;; While an account rests, every number is the one before.
        (if (i32.and (i64.eq (local.get $bits) (local.get $before)) (i32.gt_u (local.get $written) (i32.const 0)))
          (then
            (v128.store (local.get $out) (v128.load (local.get $start)))
            (v128.store offset=16 (local.get $out) (v128.load offset=16 (local.get $start)))
            (local.set $start (local.get $out))
            (local.set $out (i32.add (local.get $out) (local.get $written))))
          (else
            (local.set $start (local.get $out))
            (local.set $out (call $number (local.get $bits) (local.get $out)))
            (local.set $written (i32.sub (local.get $out) (local.get $start)))
            (local.set $before (local.get $bits))))
        (local.set $values (i32.add (local.get $values) (i32.const 8)))
        (br $next)))
    (local.get $out)))
