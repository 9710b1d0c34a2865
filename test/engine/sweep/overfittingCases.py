"""Stored cases for overfittingCases.test.ts, computed from the formulas of the papers with numpy and scipy alone.

    python test/engine/sweep/overfittingCases.py > test/engine/sweep/overfittingCases.json      (numpy and scipy)
    npm run format

Bailey and Lopez de Prado (2012), "The Sharpe ratio efficient frontier": probabilistic Sharpe ratio and minimum track
record. The same (2014), "The deflated Sharpe ratio": expected maximum and deflated Sharpe ratio. Bailey, Borwein,
Lopez de Prado and Zhu (2015), "The probability of backtest overfitting": combinatorially symmetric cross-validation.
Nothing here was written from or compared with this repository's implementation.
"""

import itertools
import json
import sys

import numpy as np
import scipy
from scipy import stats


def sharpe(returns: np.ndarray) -> np.ndarray:
    """Of each column; 0 where the returns do not vary."""
    spread = returns.std(axis=0, ddof=1)
    flat = np.ptp(returns, axis=0) == 0
    return np.where(flat, 0.0, returns.mean(axis=0) / np.where(flat, 1.0, spread))


def probabilistic(returns: np.ndarray, threshold: float) -> float:
    own = float(sharpe(returns[:, None])[0])
    spread = 1 - stats.skew(returns) * own + (stats.kurtosis(returns, fisher=False) - 1) / 4 * own**2
    return float(stats.norm.cdf((own - threshold) * np.sqrt(len(returns) - 1) / np.sqrt(spread)))


def track_record(returns: np.ndarray) -> float | None:
    own = float(sharpe(returns[:, None])[0])
    if own <= 0:
        return None
    spread = 1 - stats.skew(returns) * own + (stats.kurtosis(returns, fisher=False) - 1) / 4 * own**2
    return float(1 + spread * (1.645 / own) ** 2)


def expected_maximum(trials: int, variance: float) -> float:
    quantile = stats.norm.ppf
    return float(
        np.sqrt(variance)
        * ((1 - np.euler_gamma) * quantile(1 - 1 / trials) + np.euler_gamma * quantile(1 - 1 / (trials * np.e)))
    )


def probability_of_overfitting(returns: np.ndarray, blocks: int) -> float:
    size = len(returns) // blocks
    parts = returns[len(returns) - blocks * size :].reshape(blocks, size, -1)
    logits = []
    for chosen in itertools.combinations(range(blocks), blocks // 2):
        rest = [block for block in range(blocks) if block not in chosen]
        inside = sharpe(np.concatenate(parts[list(chosen)]))
        outside = sharpe(np.concatenate(parts[rest]))
        rank = stats.rankdata(outside)[int(inside.argmax())]
        share = rank / (returns.shape[1] + 1)
        logits.append(np.log(share / (1 - share)))
    return float(np.mean(np.array(logits) <= 0))


def tables() -> dict[str, tuple[np.ndarray, int]]:
    noise = np.random.default_rng
    edge = noise(2).normal(0, 0.01, (200, 6))
    edge[:, 3] += 0.004
    still = noise(4).normal(0.0002, 0.008, (101, 5))
    still[:, 1] = 0
    return {
        "noise": (noise(1).normal(0, 0.01, (165, 6)), 16),
        "one variant has an edge": (edge, 16),
        "fat tails": (noise(3).standard_t(3, (163, 5)) * 0.006, 16),
        "few days, one variant that never trades": (still, 8),
        "skewed": (noise(5).exponential(0.01, (96, 8)) - 0.0095, 8),
        "all lose": (noise(6).normal(-0.002, 0.01, (88, 4)), 8),
    }


def main() -> None:
    cases = []
    for name, (table, blocks) in tables().items():
        returns = table.round(6)
        ratios = sharpe(returns)
        best = int(ratios.argmax())
        variance = float(ratios.var(ddof=1))
        threshold = expected_maximum(returns.shape[1], variance)
        cases.append(
            {
                "name": name,
                "blocks": blocks,
                "best": best,
                "expectedMaximum": threshold,
                "probabilisticSharpe": probabilistic(returns[:, best], 0),
                "deflatedSharpe": probabilistic(returns[:, best], threshold),
                "minTrackRecordDays": track_record(returns[:, best]),
                "overfittingProbability": probability_of_overfitting(returns, blocks),
                "returns": returns.T.tolist(),
            }
        )
    versions = f"numpy {np.__version__} and scipy {scipy.__version__}"
    source = f"overfittingCases.py with {versions}, from the formulas of the papers"
    json.dump({"source": source, "cases": cases}, sys.stdout)
    print()


main()
