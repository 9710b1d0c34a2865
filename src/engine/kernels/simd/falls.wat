;; Falls of marks from their highest so far, and their sum. `npm run simd` builds it into wasm.ts; a test builds it
;; again and compares. What one call leaves for the next lies in the first 128 bytes (falls.ts), the marks behind it.
(module
  (memory (import "host" "memory") 1)

  ;; Between two peaks only a new low can deepen the fall, because 1 - mark/peak never grows with the mark. All other
  ;; marks therefore cost two comparisons and the sum, two marks at a time. The sum is compensated as `compensatedSum`
  ;; is, in the order of the marks.
  (func (export "addMarks") (param $count i32)
    (local $at i32) (local $end i32) (local $isExtreme i32) (local $mark f64) (local $index i32) (local $below i32)
    (local $peak f64) (local $lowest f64) (local $peakIndex i32) (local $fall f64)
    (local $total f64) (local $lost f64) (local $next f64) (local $part f64)
    (local $marks v128) (local $peaks v128) (local $lows v128) (local $totals v128) (local $sums v128)
    (local $parts v128) (local $errors v128)
    (local.set $peak (f64.load offset=0 (i32.const 0)))
    (local.set $lowest (f64.load offset=8 (i32.const 0)))
    (local.set $total (f64.load offset=16 (i32.const 0)))
    (local.set $lost (f64.load offset=24 (i32.const 0)))
    (local.set $peakIndex (i32.load offset=64 (i32.const 0)))
    (local.set $end (i32.shl (local.get $count) (i32.const 3)))
    (block $done
      (loop $row
        (local.set $peaks (f64x2.splat (local.get $peak)))
        (local.set $lows (f64x2.splat (local.get $lowest)))
        (block $one
          (loop $two
            (br_if $one (i32.ge_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
            (local.set $marks (v128.load offset=128 (local.get $at)))
            (br_if $one
              (v128.any_true
                (v128.or
                  (f64x2.ge (local.get $marks) (local.get $peaks))
                  (f64x2.lt (local.get $marks) (local.get $lows)))))
            (local.set $next (f64.add (local.get $total) (f64x2.extract_lane 0 (local.get $marks))))
            (local.set $totals (f64x2.replace_lane 1 (f64x2.splat (local.get $total)) (local.get $next)))
            (local.set $total (f64.add (local.get $next) (f64x2.extract_lane 1 (local.get $marks))))
            (local.set $sums (f64x2.replace_lane 1 (f64x2.splat (local.get $next)) (local.get $total)))
            (local.set $parts (f64x2.sub (local.get $sums) (local.get $totals)))
            (local.set $errors
              (f64x2.add
                (f64x2.sub (local.get $totals) (f64x2.sub (local.get $sums) (local.get $parts)))
                (f64x2.sub (local.get $marks) (local.get $parts))))
            (local.set $lost
              (f64.add
                (f64.add (local.get $lost) (f64x2.extract_lane 0 (local.get $errors)))
                (f64x2.extract_lane 1 (local.get $errors))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $two)))
        ;; One at a time while each is a peak or a low.
        (loop $extreme
          (br_if $done (i32.eq (local.get $at) (local.get $end)))
          (local.set $isExtreme (i32.const 0))
          (local.set $mark (f64.load offset=128 (local.get $at)))
          (local.set $next (f64.add (local.get $total) (local.get $mark)))
          (local.set $part (f64.sub (local.get $next) (local.get $total)))
          (local.set $lost
            (f64.add (local.get $lost)
              (f64.add
                (f64.sub (local.get $total) (f64.sub (local.get $next) (local.get $part)))
                (f64.sub (local.get $mark) (local.get $part)))))
          (local.set $total (local.get $next))
          (if (f64.ge (local.get $mark) (local.get $peak))
            (then
              (local.set $isExtreme (i32.const 1))
              (local.set $index
                (i32.add (i32.load offset=68 (i32.const 0)) (i32.shr_u (local.get $at) (i32.const 3))))
              (local.set $below (i32.sub (i32.sub (local.get $index) (local.get $peakIndex)) (i32.const 1)))
              (if (local.get $below)
                (then (call $recover (local.get $index) (local.get $peakIndex) (local.get $below))))
              (local.set $peakIndex (local.get $index))
              (local.set $peak (local.get $mark))
              (local.set $lowest (local.get $mark)))
            (else
              (if (f64.lt (local.get $mark) (local.get $lowest))
                (then
                  (local.set $isExtreme (i32.const 1))
                  (local.set $lowest (local.get $mark))
                  (f64.store offset=48 (i32.const 0)
                    (f64.max (f64.load offset=48 (i32.const 0)) (f64.sub (local.get $peak) (local.get $mark))))
                  (local.set $fall (f64.sub (f64.const 1) (f64.div (local.get $mark) (local.get $peak))))
                  (f64.store offset=32 (i32.const 0)
                    (f64.max (f64.load offset=32 (i32.const 0)) (local.get $fall)))
                  (if (f64.gt (local.get $fall) (f64.load offset=56 (i32.const 0)))
                    (then
                      (f64.store offset=56 (i32.const 0) (local.get $fall))
                      (i32.store offset=84 (i32.const 0) (local.get $peakIndex))
                      (i32.store offset=88 (i32.const 0)
                        (i32.add (i32.load offset=68 (i32.const 0)) (i32.shr_u (local.get $at) (i32.const 3))))
                      (i32.store offset=92 (i32.const 0) (i32.const -1))))))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $extreme (local.get $isExtreme)))
        (br $row)))
    (f64.store offset=0 (i32.const 0) (local.get $peak))
    (f64.store offset=8 (i32.const 0) (local.get $lowest))
    (f64.store offset=16 (i32.const 0) (local.get $total))
    (f64.store offset=24 (i32.const 0) (local.get $lost))
    (i32.store offset=64 (i32.const 0) (local.get $peakIndex))
    (i32.store offset=68 (i32.const 0) (i32.add (i32.load offset=68 (i32.const 0)) (local.get $count))))

  ;; A peak at `index`, after `below` marks below the one before.
  (func $recover (param $index i32) (param $peakIndex i32) (param $below i32)
    (i32.store offset=72 (i32.const 0) (i32.add (i32.load offset=72 (i32.const 0)) (local.get $below)))
    (if (i32.gt_s (local.get $below) (i32.load offset=76 (i32.const 0)))
      (then (i32.store offset=76 (i32.const 0) (local.get $below))))
    (if (f64.gt (f64.load offset=32 (i32.const 0)) (f64.const 0))
      (then
        (f64.store offset=40 (i32.const 0)
          (f64.add (f64.load offset=40 (i32.const 0)) (f64.load offset=32 (i32.const 0))))
        (f64.store offset=32 (i32.const 0) (f64.const 0))
        (i32.store offset=80 (i32.const 0) (i32.add (i32.load offset=80 (i32.const 0)) (i32.const 1)))
        (if (i32.eq (i32.load offset=84 (i32.const 0)) (local.get $peakIndex))
          (then
            (if (i32.lt_s (i32.load offset=92 (i32.const 0)) (i32.const 0))
              (then (i32.store offset=92 (i32.const 0) (local.get $index))))))))))
