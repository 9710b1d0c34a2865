;; Takes the numbers out of a text and puts them back, sixteen characters at a time. `npm run simd` builds it into
;; wasm.ts; a test builds it again and compares, and another compares with the plain loop it stands for. It has a memory
;; of its own (digits.ts).
;; Zeros stand behind the text that is read, and what lies behind the ends of what is written is overwritten.
(module
  (memory (import "host" "memory") 1)

  ;; Text goes to $text, with a zero in the place of each number; the characters of the numbers go to $numbers, two in a
  ;; byte, the first in the lower half. A number ends with 15 and begins with a byte of its own. Returns the end of the
  ;; text. At 0 stands the end of the numbers, at 4 a hash of the text.
  (func (export "splitDigits")
    (param $from i32) (param $end i32) (param $text i32) (param $numbers i32) (result i32)
    (local $start i32) (local $some v128) (local $codes v128) (local $length i32) (local $mask i32) (local $hash i64)
    (local $second i64) (local $third i64)
    (local.set $start (local.get $text))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
        (local.set $some (v128.load (local.get $from)))
        (v128.store (local.get $text) (local.get $some))
        ;; A number begins with a digit or a minus.
        (local.set $mask
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u
                (i8x16.sub (local.get $some) (v128.const i8x16 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48))
                (v128.const i8x16 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10))
              (i8x16.eq (local.get $some) (v128.const i8x16 45 45 45 45 45 45 45 45 45 45 45 45 45 45 45 45)))))
        (if (i32.eqz (local.get $mask))
          (then
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $text (i32.add (local.get $text) (i32.const 16)))
            (br $next)))
        (local.set $length (i32.ctz (local.get $mask)))
        (local.set $from (i32.add (local.get $from) (local.get $length)))
        (local.set $text (i32.add (local.get $text) (local.get $length)))
        (loop $more
          (local.set $some (v128.load (local.get $from)))
          ;; From + to 9 by their distance from +, which is 15 for whatever is neither; e apart.
          (local.set $codes
            (v128.bitselect
              (v128.const i8x16 12 12 12 12 12 12 12 12 12 12 12 12 12 12 12 12)
              (i8x16.swizzle
                (v128.const i8x16 11 15 13 14 15 0 1 2 3 4 5 6 7 8 9 15)
                (i8x16.min_u
                  (i8x16.sub (local.get $some) (v128.const i8x16 43 43 43 43 43 43 43 43 43 43 43 43 43 43 43 43))
                  (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15)))
              (i8x16.eq (local.get $some)
                (v128.const i8x16 101 101 101 101 101 101 101 101 101 101 101 101 101 101 101 101))))
          (local.set $length
            (i32.ctz
              (i32.or (i32.const 0x10000)
                (i8x16.bitmask
                  (i8x16.eq (local.get $codes)
                    (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15))))))
          (local.set $codes
            (v128.and
              (v128.or (local.get $codes) (i16x8.shr_u (local.get $codes) (i32.const 4)))
              (v128.const i16x8 255 255 255 255 255 255 255 255)))
          (v128.store64_lane 0 (local.get $numbers)
            (i8x16.narrow_i16x8_u (local.get $codes) (local.get $codes)))
          (local.set $from (i32.add (local.get $from) (local.get $length)))
          (if (i32.eq (local.get $length) (i32.const 16))
            (then
              (local.set $numbers (i32.add (local.get $numbers) (i32.const 8)))
              (br $more))))
        (local.set $numbers
          (i32.add (local.get $numbers) (i32.add (i32.shr_u (local.get $length) (i32.const 1)) (i32.const 1))))
        (i32.store8 (local.get $text) (i32.const 0))
        (local.set $text (i32.add (local.get $text) (i32.const 1)))
        (br $next)))
    (local.set $text (i32.sub (local.get $text) (i32.sub (local.get $from) (local.get $end))))
    (v128.store (local.get $text) (v128.const i64x2 0 0))
    (v128.store offset=16 (local.get $text) (v128.const i64x2 0 0))
    ;; Three words at once: each product waits for the one before it.
    (local.set $from (local.get $start))
    (block $hashed
      (loop $words
        (br_if $hashed (i32.ge_u (local.get $from) (local.get $text)))
        (local.set $hash (call $hashed (local.get $hash) (i64.load (local.get $from))))
        (local.set $second (call $hashed (local.get $second) (i64.load offset=8 (local.get $from))))
        (local.set $third (call $hashed (local.get $third) (i64.load offset=16 (local.get $from))))
        (local.set $from (i32.add (local.get $from) (i32.const 24)))
        (br $words)))
    (local.set $hash (call $hashed (call $hashed (local.get $hash) (local.get $second)) (local.get $third)))
    (i32.store (i32.const 0) (local.get $numbers))
    (i32.store (i32.const 4) (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 32))))
    (local.get $text))

  (func $hashed (param $hash i64) (param $word i64) (result i64)
    (i64.mul
      (i64.xor (i64.rotl (local.get $hash) (i64.const 23)) (local.get $word))
      (i64.const 0x9e3779b97f4a7c15)))

  ;; Puts the numbers back into the text that ends at $end, where no zero may follow. Returns the end of the whole, or 0
  ;; when there are more or fewer numbers than places for them.
  (func (export "joinDigits")
    (param $from i32) (param $end i32) (param $numbers i32) (param $last i32) (param $out i32) (result i32)
    (local $some v128) (local $length i32) (local $mask i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
        (local.set $some (v128.load (local.get $from)))
        (v128.store (local.get $out) (local.get $some))
        (local.set $mask
          (i8x16.bitmask (i8x16.eq (local.get $some) (v128.const i64x2 0 0))))
        (if (i32.eqz (local.get $mask))
          (then
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))
            (br $next)))
        (local.set $length (i32.ctz (local.get $mask)))
        (local.set $from (i32.add (local.get $from) (i32.add (local.get $length) (i32.const 1))))
        (local.set $out (i32.add (local.get $out) (local.get $length)))
        (loop $more
          (if (i32.ge_u (local.get $numbers) (local.get $last)) (then (return (i32.const 0))))
          (local.set $some (i16x8.extend_low_i8x16_u (v128.load64_zero (local.get $numbers))))
          (local.set $some
            (v128.or
              (v128.and (local.get $some) (v128.const i16x8 15 15 15 15 15 15 15 15))
              (v128.and
                (i16x8.shl (local.get $some) (i32.const 4))
                (v128.const i16x8 3840 3840 3840 3840 3840 3840 3840 3840))))
          (v128.store (local.get $out)
            (i8x16.swizzle
              (v128.const i8x16 48 49 50 51 52 53 54 55 56 57 63 43 101 45 46 0)
              (local.get $some)))
          (local.set $length
            (i32.ctz
              (i32.or (i32.const 0x10000)
                (i8x16.bitmask
                  (i8x16.eq (local.get $some)
                    (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15))))))
          (local.set $out (i32.add (local.get $out) (local.get $length)))
          (if (i32.eq (local.get $length) (i32.const 16))
            (then
              (local.set $numbers (i32.add (local.get $numbers) (i32.const 8)))
              (br $more))))
        (local.set $numbers
          (i32.add (local.get $numbers) (i32.add (i32.shr_u (local.get $length) (i32.const 1)) (i32.const 1))))
        (br $next)))
    (if (i32.ne (local.get $numbers) (local.get $last)) (then (return (i32.const 0))))
    (i32.sub (local.get $out) (i32.sub (local.get $from) (local.get $end)))))
