;; Doubles as JavaScript and JSON write them: the shortest digits that read back as the same double, found by Schubfach
;; (Raffaello Giulietti, "The Schubfach way to render doubles", 2020). `npm run simd` builds it into wasm.ts; a test
;; builds it again and compares. It has a memory of its own (decimals.ts): at 0 the powers of ten from 10^-292 to 10^324
;; as 128 bits each, the low half first; at 9872 the hundred pairs of digits; at 10080 the digits of a number, and 32
;; zeros behind them. Addresses are in bytes. Texts are copied 16 bytes at a time: what lies behind them is
;; overwritten later.
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

  (func $copy24 (param $to i32) (param $from i32)
    (i64.store (local.get $to) (i64.load (local.get $from)))
    (i64.store offset=8 (local.get $to) (i64.load offset=8 (local.get $from)))
    (i64.store offset=16 (local.get $to) (i64.load offset=16 (local.get $from))))

  (func $copy (param $to i32) (param $from i32) (param $end i32)
    (loop $next
      (v128.store (local.get $to) (v128.load (local.get $from)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $next (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 16))) (local.get $end)))))

  ;; Writes digits · 10^exponent, where digits is not 0 and below 10^17; returns the end.
  (func $layout (param $out i32) (param $digits i64) (param $exponent i32) (result i32)
    (local $upper i64) (local $top i64) (local $first i32) (local $end i32) (local $count i32) (local $point i32)
    (local $middle i64) (local $last i64)
    (local.set $upper (i64.div_u (local.get $digits) (i64.const 100000000)))
    (local.set $last (call $eight
      (i32.wrap_i64 (i64.sub (local.get $digits) (i64.mul (local.get $upper) (i64.const 100000000))))))
    (i64.store (i32.const 10089) (i64.or (local.get $last) (i64.const 0x3030303030303030)))
    (local.set $top (i64.div_u (local.get $upper) (i64.const 100000000)))
    (local.set $middle (call $eight
      (i32.wrap_i64 (i64.sub (local.get $upper) (i64.mul (local.get $top) (i64.const 100000000))))))
    (i64.store (i32.const 10081) (i64.or (local.get $middle) (i64.const 0x3030303030303030)))
    (i32.store8 (i32.const 10080) (i32.add (i32.wrap_i64 (local.get $top)) (i32.const 48)))
    (local.set $first (i32.const 10080))
    (block $found
      (loop $zero
        (br_if $found (i32.ne (i32.load8_u (local.get $first)) (i32.const 48)))
        (local.set $first (i32.add (local.get $first) (i32.const 1)))
        (br $zero)))
    ;; Behind the last digit that is not 0.
    (local.set $end
      (if (result i32) (i64.ne (local.get $last) (i64.const 0))
        (then (i32.sub (i32.const 10097) (i32.wrap_i64 (i64.shr_u (i64.clz (local.get $last)) (i64.const 3)))))
        (else (i32.sub (i32.const 10089) (i32.wrap_i64 (i64.shr_u (i64.clz (local.get $middle)) (i64.const 3)))))))
    (local.set $count (i32.sub (local.get $end) (local.get $first)))
    ;; How many digits stand before the point.
    (local.set $point (i32.add (i32.sub (i32.const 10097) (local.get $first)) (local.get $exponent)))
    (if (i32.and (i32.gt_s (local.get $point) (i32.const 0)) (i32.le_s (local.get $point) (i32.const 21)))
      (then
        (call $copy24 (local.get $out) (local.get $first))
        (if (i32.le_s (local.get $count) (local.get $point))
          (then (return (i32.add (local.get $out) (local.get $point)))))
        (local.set $out (i32.add (local.get $out) (local.get $point)))
        (i32.store8 (local.get $out) (i32.const 46))
        (call $copy24 (i32.add (local.get $out) (i32.const 1)) (i32.add (local.get $first) (local.get $point)))
        (return (i32.add (local.get $out)
          (i32.add (i32.const 1) (i32.sub (local.get $count) (local.get $point)))))))
    (if (i32.and (i32.gt_s (local.get $point) (i32.const -6)) (i32.le_s (local.get $point) (i32.const 0)))
      (then
        ;; "0.000000"
        (i64.store (local.get $out) (i64.const 0x3030303030302e30))
        (local.set $out (i32.add (local.get $out) (i32.sub (i32.const 2) (local.get $point))))
        (call $copy24 (local.get $out) (local.get $first))
        (return (i32.add (local.get $out) (local.get $count)))))
    (i32.store8 (local.get $out) (i32.load8_u (local.get $first)))
    (local.set $out (i32.add (local.get $out) (i32.const 1)))
    (if (i32.gt_s (local.get $count) (i32.const 1))
      (then
        (i32.store8 (local.get $out) (i32.const 46))
        (call $copy24 (i32.add (local.get $out) (i32.const 1)) (i32.add (local.get $first) (i32.const 1)))
        (local.set $out (i32.add (local.get $out) (local.get $count)))))
    (i32.store8 (local.get $out) (i32.const 101))
    (local.set $point (i32.sub (local.get $point) (i32.const 1)))
    (i32.store8 offset=1 (local.get $out)
      (select (i32.const 45) (i32.const 43) (i32.lt_s (local.get $point) (i32.const 0))))
    (if (i32.lt_s (local.get $point) (i32.const 0))
      (then (local.set $point (i32.sub (i32.const 0) (local.get $point)))))
    (local.set $out (i32.add (local.get $out) (i32.const 2)))
    (if (i32.ge_s (local.get $point) (i32.const 100))
      (then
        (i32.store8 (local.get $out) (i32.add (i32.div_u (local.get $point) (i32.const 100)) (i32.const 48)))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))
        (i32.store16 (local.get $out)
          (i32.load16_u offset=9872 (i32.shl (i32.rem_u (local.get $point) (i32.const 100)) (i32.const 1))))
        (return (i32.add (local.get $out) (i32.const 2)))))
    (if (i32.ge_s (local.get $point) (i32.const 10))
      (then
        (i32.store16 (local.get $out) (i32.load16_u offset=9872 (i32.shl (local.get $point) (i32.const 1))))
        (return (i32.add (local.get $out) (i32.const 2)))))
    (i32.store8 (local.get $out) (i32.add (local.get $point) (i32.const 48)))
    (i32.add (local.get $out) (i32.const 1)))

  ;; Writes one number; returns the end. What is not finite is null, as in JSON.
  (func $number (param $bits i64) (param $out i32) (result i32)
    (local $field i32) (local $c i64) (local $q i32) (local $isCloser i32) (local $k i32) (local $h i64)
    (local $power i32) (local $low i64) (local $top i64)
    (local $lower i64) (local $value i64) (local $upper i64) (local $s i64) (local $tens i64)
    (local $word0 i64) (local $word1 i64) (local $word2 i64) (local $half i64) (local $carried i64) (local $shift i64)
    (local $isBelow i32) (local $isAbove i32)
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
    (if (i64.lt_s (local.get $bits) (i64.const 0))
      (then
        (i32.store8 (local.get $out) (i32.const 45))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))))
    ;; Below a power of two the doubles are closer than above it.
    (local.set $isCloser
      (i32.and (i64.eqz (local.get $c)) (i32.gt_u (local.get $field) (i32.const 1))))
    (if (local.get $field)
      (then
        (local.set $c (i64.or (local.get $c) (i64.const 0x10000000000000)))
        (local.set $q (i32.sub (local.get $field) (i32.const 1075)))
        ;; Whole numbers.
        (if (i32.and (i32.le_s (local.get $q) (i32.const 0)) (i32.gt_s (local.get $q) (i32.const -53)))
          (then
            (if (i64.eqz (i64.and (local.get $c)
                  (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (i32.sub (i32.const 0) (local.get $q))))
                    (i64.const 1))))
              (then
                (return (call $whole (local.get $out)
                  (i64.shr_u (local.get $c) (i64.extend_i32_u (i32.sub (i32.const 0) (local.get $q)))))))))))
      (else (local.set $q (i32.const -1074))))
    ;; floor(log10(2^q)), of three quarters of it where the doubles below are closer.
    (local.set $k
      (i32.shr_s
        (i32.sub (i32.mul (local.get $q) (i32.const 1262611))
          (select (i32.const 524031) (i32.const 0) (local.get $isCloser)))
        (i32.const 22)))
    (local.set $h
      (i64.extend_i32_s
        (i32.add
          (i32.add (local.get $q)
            (i32.shr_s (i32.mul (i32.sub (i32.const 0) (local.get $k)) (i32.const 1741647)) (i32.const 19)))
          (i32.const 1))))
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
            (return (call $layout (local.get $out)
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
    (call $layout (local.get $out)
      (i64.add (local.get $s) (i64.extend_i32_u (local.get $isAbove)))
      (local.get $k)))

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
            (call $copy24 (local.get $out) (local.get $start))
            (i64.store offset=24 (local.get $out) (i64.load offset=24 (local.get $start)))
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
