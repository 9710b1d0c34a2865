-- More timeframes of market data: every one that bars can be made of, up to weeks and months.

alter table snapshots drop constraint snapshots_timeframe_check;
alter table snapshots add constraint snapshots_timeframe_check check (
  timeframe in ('1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '1w', '1M')
);
