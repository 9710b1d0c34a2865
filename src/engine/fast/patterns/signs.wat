;; The values of a pattern from the bits of its signs, in a memory of their own or in that of the kernels. `npm run
;; simd` builds them into wasm.ts; a test builds them again and compares.
(module
  (memory $values (import "host" "values") 1)
  (memory $bits (import "host" "bits") 1)

  ;; The signs of the 16 rows whose bits begin at `at` (bullish), and 128 (bearish) and 256 bytes (tied) later, a byte
  ;; each: 100 or -100, 80 or -80 where it is tied, and 0 without a side.
  (func $signs (param $at i32) (param $isPlain i32) (result v128) (local $places v128) (local $amounts v128)
    (local.set $places (v128.const i8x16 1 2 4 8 16 32 64 -128 1 2 4 8 16 32 64 -128))
    (if (local.get $isPlain) (then (return (v128.and (i8x16.splat (i32.const 100))
      (call $spread (v128.load16_splat $bits (local.get $at)) (local.get $places))))))
    (local.set $amounts (i8x16.sub (i8x16.splat (i32.const 100)) (v128.and (i8x16.splat (i32.const 20))
      (call $spread (v128.load16_splat $bits offset=256 (local.get $at)) (local.get $places)))))
    (v128.bitselect
      (i8x16.neg (local.get $amounts))
      (v128.and (local.get $amounts) (call $spread (v128.load16_splat $bits (local.get $at)) (local.get $places)))
      (call $spread (v128.load16_splat $bits offset=128 (local.get $at)) (local.get $places))))
  ;; A byte of ones for each of 16 bits.
  (func $spread (param $twice v128) (param $places v128) (result v128)
    (i8x16.eq (local.get $places) (v128.and (local.get $places)
      (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $twice) (local.get $twice)))))

  ;; Whether no bit is set but bullish ones: a pattern of one side, without ties.
  (func $isPlain (result i32) (local $at i32) (local $any v128)
    (local.set $at (i32.const 128))
    (loop $next
      (local.set $any (v128.or (local.get $any) (v128.load $bits (local.get $at))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (i32.const 384))))
    (i32.eqz (v128.any_true (local.get $any))))

  ;; The signs of rows as integers, from `out` on. `size` is that of their bits: two bytes for 16 rows, not 0.
  (func (export "integers") (param $out i32) (param $size i32) (local $at i32) (local $signs v128) (local $half v128)
    (local $isPlain i32)
    (local.set $isPlain (call $isPlain))
    (loop $next
      (local.set $signs (call $signs (local.get $at) (local.get $isPlain)))
      (local.set $half (i16x8.extend_low_i8x16_s (local.get $signs)))
      (v128.store $values (local.get $out) (i32x4.extend_low_i16x8_s (local.get $half)))
      (v128.store $values offset=16 (local.get $out) (i32x4.extend_high_i16x8_s (local.get $half)))
      (local.set $half (i16x8.extend_high_i8x16_s (local.get $signs)))
      (v128.store $values offset=32 (local.get $out) (i32x4.extend_low_i16x8_s (local.get $half)))
      (v128.store $values offset=48 (local.get $out) (i32x4.extend_high_i16x8_s (local.get $half)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 2))) (local.get $size)))))

  ;; The same as doubles.
  (func (export "doubles") (param $out i32) (param $size i32) (local $at i32) (local $signs v128) (local $half v128)
    (local $isPlain i32)
    (local.set $isPlain (call $isPlain))
    (loop $next
      (local.set $signs (call $signs (local.get $at) (local.get $isPlain)))
      (local.set $half (i16x8.extend_low_i8x16_s (local.get $signs)))
      (call $fourDoubles (local.get $out) (i32x4.extend_low_i16x8_s (local.get $half)))
      (call $fourDoubles (i32.add (local.get $out) (i32.const 32)) (i32x4.extend_high_i16x8_s (local.get $half)))
      (local.set $half (i16x8.extend_high_i8x16_s (local.get $signs)))
      (call $fourDoubles (i32.add (local.get $out) (i32.const 64)) (i32x4.extend_low_i16x8_s (local.get $half)))
      (call $fourDoubles (i32.add (local.get $out) (i32.const 96)) (i32x4.extend_high_i16x8_s (local.get $half)))
      (local.set $out (i32.add (local.get $out) (i32.const 128)))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 2))) (local.get $size)))))
  (func $fourDoubles (param $out i32) (param $four v128)
    (v128.store $values (local.get $out) (f64x2.convert_low_i32x4_s (local.get $four)))
    (v128.store $values offset=16 (local.get $out) (f64x2.convert_low_i32x4_s
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $four) (local.get $four)))))
)
