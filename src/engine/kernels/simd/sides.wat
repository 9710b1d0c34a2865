;; Two sides of a comparison. `npm run simd` builds it into wasm.ts; a test builds it again and compares. The first 64
;; bytes of the memory are what goes in and out besides rows (sides.ts), the values of the left side lie behind them.
(module
  (memory (import "host" "memory") 1)

  ;; At 0 the least and the greatest of so many values, at 16 their sum in the order of the rows, at 24 how many there
  ;; are; what is NaN counts as missing. A NaN stands behind the last value.
  (func (export "valueStats") (param $count i32)
    (local $at i32) (local $end i32) (local $some v128) (local $isPresent v128)
    (local $least v128) (local $greatest v128) (local $total f64) (local $present v128)
    (local.set $least (v128.const f64x2 inf inf))
    (local.set $greatest (v128.const f64x2 -inf -inf))
    (local.set $end (i32.shl (local.get $count) (i32.const 3)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $some (v128.load offset=64 (local.get $at)))
        (local.set $isPresent (f64x2.eq (local.get $some) (local.get $some)))
        (local.set $present (i64x2.sub (local.get $present) (local.get $isPresent)))
        (local.set $least (f64x2.pmin (local.get $least) (local.get $some)))
        (local.set $greatest (f64x2.pmax (local.get $greatest) (local.get $some)))
        ;; 0 in the place of what is missing.
        (local.set $some (v128.and (local.get $some) (local.get $isPresent)))
        (local.set $total
          (f64.add
            (f64.add (local.get $total) (f64x2.extract_lane 0 (local.get $some)))
            (f64x2.extract_lane 1 (local.get $some))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (f64.store (i32.const 0)
      (f64.min (f64x2.extract_lane 0 (local.get $least)) (f64x2.extract_lane 1 (local.get $least))))
    (f64.store (i32.const 8)
      (f64.max (f64x2.extract_lane 0 (local.get $greatest)) (f64x2.extract_lane 1 (local.get $greatest))))
    (f64.store (i32.const 16) (local.get $total))
    (i64.store (i32.const 24)
      (i64.add (i64x2.extract_lane 0 (local.get $present)) (i64x2.extract_lane 1 (local.get $present)))))

  ;; The first row from $row on, or else $end, where |left - right| is at most a limit times (|left| + 1e-12). The limit
  ;; is at 0, the right side so many bytes behind the left. Up to three rows behind the last are read.
  (func (export "nextNear") (param $row i32) (param $end i32) (param $right i32) (result i32)
    (local $left i32) (local $last i32) (local $limit v128) (local $near i32)
    (local.set $limit (v128.load64_splat (i32.const 0)))
    (local.set $left (i32.add (i32.shl (local.get $row) (i32.const 3)) (i32.const 64)))
    (local.set $right (i32.add (local.get $left) (local.get $right)))
    (local.set $last (i32.add (i32.shl (local.get $end) (i32.const 3)) (i32.const 64)))
    (loop $next
      (if (i32.ge_u (local.get $left) (local.get $last)) (then (return (local.get $end))))
      (local.set $near
        (i32.or
          (call $areNear (v128.load (local.get $left)) (v128.load (local.get $right)) (local.get $limit))
          (i32.shl
            (call $areNear
              (v128.load offset=16 (local.get $left)) (v128.load offset=16 (local.get $right)) (local.get $limit))
            (i32.const 2))))
      (local.set $left (i32.add (local.get $left) (i32.const 32)))
      (local.set $right (i32.add (local.get $right) (i32.const 32)))
      (br_if $next (i32.eqz (local.get $near))))
    (local.set $row
      (i32.add (i32.shr_u (i32.sub (local.get $left) (i32.const 96)) (i32.const 3)) (i32.ctz (local.get $near))))
    (select (local.get $row) (local.get $end) (i32.lt_u (local.get $row) (local.get $end))))

  ;; A bit for each of two rows; 0 where a side is missing.
  (func $areNear (param $left v128) (param $right v128) (param $limit v128) (result i32)
    (i64x2.bitmask
      (f64x2.le
        (f64x2.abs (f64x2.sub (local.get $left) (local.get $right)))
        (f64x2.mul (local.get $limit)
          (f64x2.add (f64x2.abs (local.get $left)) (v128.const f64x2 1e-12 1e-12)))))))
