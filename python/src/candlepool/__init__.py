"""Candlepool from Python: write a strategy, run it, look at the result.

>>> import candlepool as cp
>>> client = cp.local()
>>> golden = cp.Strategy(entry=cp.sma(50).crosses_above(cp.sma(200)), stop_loss=10)
>>> client.backtest(golden, symbol="SPX", timeframe="1d", fees=0.0001).plot()
"""

from candlepool import indicators
from candlepool.charts import Chart
from candlepool.client import Client
from candlepool.comparing import Combination, Comparison
from candlepool.errors import (
    ApiError,
    AuthenticationError,
    CandlepoolError,
    InvalidConfig,
    InvalidMarketData,
    InvalidRequest,
    InvalidStrategy,
    Issue,
    LocalServiceError,
    NotFound,
    PermissionDenied,
    RateLimited,
    RunFailed,
    ServiceUnavailable,
    WaitTimeout,
)
from candlepool.expressions import Condition, Expression, Param, Value
from candlepool.functions import (
    all_of,
    any_of,
    bar_time,
    close,
    every_bars,
    high,
    highest,
    hl2,
    hlc3,
    low,
    lowest,
    market,
    maximum,
    minimum,
    ohlc4,
    open_,
    param,
    pattern,
    pivot_high,
    pivot_low,
    schedule,
    sequence,
    series,
    session,
    state,
    state_machine,
    step,
    time_window,
    volume,
    when,
)
from candlepool.indicators import *  # noqa: F403
from candlepool.local import local, stop_local
from candlepool.results import Backtest
from candlepool.robustness import Robustness
from candlepool.strategy import (
    Strategy,
    atr_stop,
    entry_rule,
    equal_slots,
    exit_rule,
    fixed_cash,
    fixed_units,
    limit_order,
    percent_balance,
    percent_equity,
    price_stop,
    risk_percent,
    stop_order,
    volatility_target,
)
from candlepool.summary import Summary
from candlepool.sweeps import Sweep
from candlepool.tables import Table
from candlepool.uploads import NaiveTimesError

__version__ = "1.0.0"

__all__ = [
    "ApiError",
    "AuthenticationError",
    "Backtest",
    "CandlepoolError",
    "Chart",
    "Client",
    "Combination",
    "Comparison",
    "Condition",
    "Expression",
    "InvalidConfig",
    "InvalidMarketData",
    "InvalidRequest",
    "InvalidStrategy",
    "Issue",
    "LocalServiceError",
    "NaiveTimesError",
    "NotFound",
    "Param",
    "PermissionDenied",
    "RateLimited",
    "Robustness",
    "RunFailed",
    "ServiceUnavailable",
    "Strategy",
    "Summary",
    "Sweep",
    "Table",
    "Value",
    "WaitTimeout",
    "all_of",
    "any_of",
    "atr_stop",
    "bar_time",
    "close",
    "entry_rule",
    "equal_slots",
    "every_bars",
    "exit_rule",
    "fixed_cash",
    "fixed_units",
    "high",
    "highest",
    "hl2",
    "hlc3",
    "indicators",
    "limit_order",
    "local",
    "low",
    "lowest",
    "market",
    "maximum",
    "minimum",
    "ohlc4",
    "open_",
    "param",
    "pattern",
    "percent_balance",
    "percent_equity",
    "pivot_high",
    "pivot_low",
    "price_stop",
    "risk_percent",
    "schedule",
    "sequence",
    "series",
    "session",
    "state",
    "state_machine",
    "step",
    "stop_local",
    "stop_order",
    "time_window",
    "volatility_target",
    "volume",
    "when",
]
__all__ += indicators.__all__
