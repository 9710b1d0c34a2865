;; Kernels that read columns where they lie: memory 0 is the one that threads share (sharedMemory.ts), memory 1 a page
;; for what goes in and out besides rows. V8 keeps the address of the first memory in a register. `npm run simd` builds
;; the kernels into wasm.ts; a test builds them again and compares. Addresses are in bytes, two rows to a vector;
;; nothing behind the last row is read.
(module
  (memory $columns (import "host" "columns") 1 65536 shared)
  (memory $state (import "host" "memory") 1)

  ;; How many of `rows` rows pass before one whose higher price is at least `above` or whose lower is at most `below`.
  ;; A sign bit in `sign` turns the prices over. The best and the worst price of the passed rows go into the state:
  ;; above, below, best, worst (f64 each, at 0).
  (func (export "passRows") (param $high i32) (param $low i32) (param $rows i32) (param $sign f64) (result i32)
    (local $row i32) (local $last i32) (local $signs v128) (local $above v128) (local $below v128)
    (local $best v128) (local $worst v128) (local $h v128) (local $l v128)
    (local.set $signs (f64x2.splat (local.get $sign)))
    (local.set $above (v128.load64_splat $state (i32.const 0)))
    (local.set $below (v128.load64_splat $state (i32.const 8)))
    (local.set $best (v128.load64_splat $state (i32.const 16)))
    (local.set $worst (v128.load64_splat $state (i32.const 24)))
    (local.set $last (i32.sub (local.get $rows) (i32.const 1)))
    (block $touched (loop $next
      (br_if $touched (i32.ge_s (local.get $row) (local.get $last)))
      (local.set $h (v128.xor (v128.load $columns (local.get $high)) (local.get $signs)))
      (local.set $l (v128.xor (v128.load $columns (local.get $low)) (local.get $signs)))
      (br_if $touched (v128.any_true (v128.or
        (f64x2.ge (local.get $h) (local.get $above))
        (f64x2.le (local.get $l) (local.get $below)))))
      (local.set $best (f64x2.pmax (local.get $best) (local.get $h)))
      (local.set $worst (f64x2.pmin (local.get $worst) (local.get $l)))
      (local.set $high (i32.add (local.get $high) (i32.const 16)))
      (local.set $low (i32.add (local.get $low) (i32.const 16)))
      (local.set $row (i32.add (local.get $row) (i32.const 2)))
      (br $next)))
    ;; The first of two rows of which one is touched, or a last row without another.
    (if (i32.lt_s (local.get $row) (local.get $rows)) (then
      (local.set $h (v128.xor (v128.load64_splat $columns (local.get $high)) (local.get $signs)))
      (local.set $l (v128.xor (v128.load64_splat $columns (local.get $low)) (local.get $signs)))
      (if (i32.eqz (v128.any_true (v128.or
        (f64x2.ge (local.get $h) (local.get $above))
        (f64x2.le (local.get $l) (local.get $below))))) (then
        (local.set $best (f64x2.pmax (local.get $best) (local.get $h)))
        (local.set $worst (f64x2.pmin (local.get $worst) (local.get $l)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))))))
    (v128.store64_lane $state 0 (i32.const 16) (f64x2.pmax (local.get $best)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $best) (local.get $best))))
    (v128.store64_lane $state 0 (i32.const 24) (f64x2.pmin (local.get $worst)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $worst) (local.get $worst))))
    (local.get $row))

  ;; The same with a level that follows the best price: best × factor - offset, after the best of the row itself. The
  ;; state: above, below, best, worst, peak (a highest price of its own), factor, offset.
  (func (export "trailRows") (param $high i32) (param $low i32) (param $rows i32) (param $sign f64) (result i32)
    (local $row i32) (local $last i32) (local $signs v128) (local $above v128) (local $below v128)
    (local $best v128) (local $worst v128) (local $peak v128) (local $h v128) (local $l v128) (local $reached v128)
    (local $factor v128) (local $offset v128)
    (local.set $signs (f64x2.splat (local.get $sign)))
    (local.set $above (v128.load64_splat $state (i32.const 0)))
    (local.set $below (v128.load64_splat $state (i32.const 8)))
    (local.set $best (v128.load64_splat $state (i32.const 16)))
    (local.set $worst (v128.load64_splat $state (i32.const 24)))
    (local.set $peak (v128.load64_splat $state (i32.const 32)))
    (local.set $factor (v128.load64_splat $state (i32.const 40)))
    (local.set $offset (v128.load64_splat $state (i32.const 48)))
    (local.set $last (i32.sub (local.get $rows) (i32.const 1)))
    (block $touched (loop $next
      (br_if $touched (i32.ge_s (local.get $row) (local.get $last)))
      (local.set $h (v128.xor (v128.load $columns (local.get $high)) (local.get $signs)))
      (local.set $l (v128.xor (v128.load $columns (local.get $low)) (local.get $signs)))
      ;; The best after the first row in both lanes, then after each row in its own.
      (local.set $reached (f64x2.pmax
        (f64x2.pmax (local.get $best)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $h) (local.get $h)))
        (local.get $h)))
      (br_if $touched (v128.any_true (v128.or
        (v128.or
          (f64x2.ge (local.get $h) (local.get $above))
          (f64x2.le (local.get $l) (local.get $below)))
        (f64x2.le (local.get $l)
          (f64x2.sub (f64x2.mul (local.get $reached) (local.get $factor)) (local.get $offset))))))
      (local.set $best
        (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $reached) (local.get $reached)))
      (local.set $peak (f64x2.pmax (local.get $peak) (local.get $h)))
      (local.set $worst (f64x2.pmin (local.get $worst) (local.get $l)))
      (local.set $high (i32.add (local.get $high) (i32.const 16)))
      (local.set $low (i32.add (local.get $low) (i32.const 16)))
      (local.set $row (i32.add (local.get $row) (i32.const 2)))
      (br $next)))
    (if (i32.lt_s (local.get $row) (local.get $rows)) (then
      (local.set $h (v128.xor (v128.load64_splat $columns (local.get $high)) (local.get $signs)))
      (local.set $l (v128.xor (v128.load64_splat $columns (local.get $low)) (local.get $signs)))
      (local.set $reached (f64x2.pmax (local.get $best) (local.get $h)))
      (if (i32.eqz (v128.any_true (v128.or
        (v128.or
          (f64x2.ge (local.get $h) (local.get $above))
          (f64x2.le (local.get $l) (local.get $below)))
        (f64x2.le (local.get $l)
          (f64x2.sub (f64x2.mul (local.get $reached) (local.get $factor)) (local.get $offset)))))) (then
        (local.set $best (local.get $reached))
        (local.set $peak (f64x2.pmax (local.get $peak) (local.get $h)))
        (local.set $worst (f64x2.pmin (local.get $worst) (local.get $l)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))))))
    (v128.store64_lane $state 0 (i32.const 16) (local.get $best))
    (v128.store64_lane $state 0 (i32.const 24) (f64x2.pmin (local.get $worst)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $worst) (local.get $worst))))
    (v128.store64_lane $state 0 (i32.const 32) (f64x2.pmax (local.get $peak)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $peak) (local.get $peak))))
    (local.get $row))

  ;; How many of `rows` rows are 0.
  (func (export "countZeros") (param $a i32) (param $rows i32) (result i32)
    (local $end i32) (local $counts v128) (local $zero v128)
    (local.set $end (i32.add (local.get $a) (i32.shl (i32.and (local.get $rows) (i32.const -2)) (i32.const 3))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $a) (local.get $end)))
      (local.set $counts (i64x2.sub (local.get $counts)
        (f64x2.eq (v128.load $columns (local.get $a)) (local.get $zero))))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (br $next)))
    (i32.add
      (i32.add
        (i32.wrap_i64 (i64x2.extract_lane 0 (local.get $counts)))
        (i32.wrap_i64 (i64x2.extract_lane 1 (local.get $counts))))
      (if (result i32) (i32.and (local.get $rows) (i32.const 1))
        (then (f64.eq (f64.load $columns (local.get $a)) (f64.const 0)))
        (else (i32.const 0)))))

  ;; In how many of `rows` rows a = b and c = d.
  (func (export "countEqualPairs")
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $rows i32) (result i32)
    (local $i i32) (local $size i32) (local $counts v128)
    (local.set $size (i32.shl (i32.and (local.get $rows) (i32.const -2)) (i32.const 3)))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $i) (local.get $size)))
      (local.set $counts (i64x2.sub (local.get $counts)
        (v128.and
          (f64x2.eq
            (v128.load $columns (i32.add (local.get $a) (local.get $i)))
            (v128.load $columns (i32.add (local.get $b) (local.get $i))))
          (f64x2.eq
            (v128.load $columns (i32.add (local.get $c) (local.get $i)))
            (v128.load $columns (i32.add (local.get $d) (local.get $i)))))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br $next)))
    (i32.add
      (i32.add
        (i32.wrap_i64 (i64x2.extract_lane 0 (local.get $counts)))
        (i32.wrap_i64 (i64x2.extract_lane 1 (local.get $counts))))
      (if (result i32) (i32.and (local.get $rows) (i32.const 1))
        (then (i32.and
          (f64.eq
            (f64.load $columns (i32.add (local.get $a) (local.get $i)))
            (f64.load $columns (i32.add (local.get $b) (local.get $i))))
          (f64.eq
            (f64.load $columns (i32.add (local.get $c) (local.get $i)))
            (f64.load $columns (i32.add (local.get $d) (local.get $i))))))
        (else (i32.const 0)))))

  ;; The first of `rows` rows whose high is beyond both neighbors times `spike`, whose low times `spike` is below both,
  ;; or whose open is beyond the close before times `jump`, or that beyond it; `rows` when none is. Each address is that
  ;; of the first row; there is a row before it, and one behind the last. Of the two rows of the last vector the first
  ;; is looked at once more, where `rows` is odd: there are two at least.
  (func (export "nextOutlying")
    (param $open i32) (param $high i32) (param $low i32) (param $close i32) (param $rows i32)
    (param $spike f64) (param $jump f64) (result i32)
    (local $i i32) (local $last i32) (local $at i32) (local $spikes v128) (local $jumps v128) (local $found v128)
    (local $o v128) (local $c v128)
    (local.set $spikes (f64x2.splat (local.get $spike)))
    (local.set $jumps (f64x2.splat (local.get $jump)))
    ;; The last vector begins two rows before the end.
    (local.set $last (i32.shl (i32.sub (local.get $rows) (i32.const 2)) (i32.const 3)))
    (loop $next
      ;; Beyond both of two prices is beyond the farther one, and only the larger of two can be beyond the other.
      (local.set $at (i32.add (local.get $high) (local.get $i)))
      (local.set $found
        (f64x2.gt (v128.load $columns (local.get $at)) (f64x2.mul (local.get $spikes) (f64x2.pmax
          (v128.load $columns (i32.sub (local.get $at) (i32.const 8)))
          (v128.load $columns offset=8 (local.get $at))))))
      (local.set $at (i32.add (local.get $low) (local.get $i)))
      (local.set $found (v128.or (local.get $found)
        (f64x2.gt
          (f64x2.pmin
            (v128.load $columns (i32.sub (local.get $at) (i32.const 8)))
            (v128.load $columns offset=8 (local.get $at)))
          (f64x2.mul (local.get $spikes) (v128.load $columns (local.get $at))))))
      (local.set $o (v128.load $columns (i32.add (local.get $open) (local.get $i))))
      (local.set $c (v128.load $columns (i32.sub (i32.add (local.get $close) (local.get $i)) (i32.const 8))))
      (local.set $found (v128.or (local.get $found)
        (f64x2.gt
          (f64x2.pmax (local.get $o) (local.get $c))
          (f64x2.mul (local.get $jumps) (f64x2.pmin (local.get $o) (local.get $c))))))
      (if (v128.any_true (local.get $found)) (then
        (return (i32.add
          (i32.shr_u (local.get $i) (i32.const 3))
          (i32.eqz (i32.and (i64x2.bitmask (local.get $found)) (i32.const 1)))))))
      (if (i32.eq (local.get $i) (local.get $last)) (then (return (local.get $rows))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (if (i32.gt_s (local.get $i) (local.get $last)) (then (local.set $i (local.get $last))))
      (br $next))
    (unreachable)))
