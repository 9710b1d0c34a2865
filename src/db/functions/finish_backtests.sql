-- Writes how claims ended. `rows` says of each where its parts lie in `bytes`, and which of `summaries` is its own: the
-- flat summaries, one after the other, of `summary_length` numbers each. A claim that is no longer the latest writes
-- nothing. In SQL, since PL/pgSQL would copy the whole array of summaries for each of its parts.
--
-- Claims are looked up by their ids. In a join of them with the queue, statistics from when nothing ran made the
-- planner compare every running backtest with every result: twice to four times the work with 400 running.
-- @returns the ids that were written
create function finish_backtests(rows json, bytes bytea, summaries double precision[],
  summary_length integer) returns uuid[] language sql
-- Hash joins stay on: they join only rows of this statement.
set enable_seqscan = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
  with result as materialized (
    select * from json_to_recordset(rows) as r (id uuid, attempt integer, status text, "isCached" boolean, error json,
      "barsDone" double precision, "barsTotal" double precision, summary integer, "detailAt" integer,
      "detailLength" integer, "tradesAt" integer, "tradesLength" integer, warnings json, diagnosis text)
  ), claim as materialized (
    select array_agg(id) as ids, array_agg(attempt) as attempts from result
  ), gone as (
    delete from backtest_queue q
    where q.id = any ((select ids from claim)::uuid[])
      and q.attempt = ((select attempts from claim))[array_position((select ids from claim), q.id)]
      -- Not `claimed_by is not null`, for which there is an index of all that run.
      and num_nulls(q.claimed_by) = 0
    returning q.id, q.workspace_id, q.started_at, q.cancel_requested_at
  ), ended as materialized (
    select gone.workspace_id, gone.started_at, gone.cancel_requested_at, result.*
    from gone join result on result.id = gone.id
  ), stored as (
    insert into backtest_results (id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at,
      bars_done, bars_total, error, summary_numbers, warnings, diagnosis)
    select id, workspace_id, status, "isCached", attempt, cancel_requested_at, started_at, "barsDone", "barsTotal",
      error, summaries[(summary - 1) * summary_length + 1 : summary * summary_length],
      case when warnings is null then '{}' else array(select json_array_elements_text(warnings)) end, diagnosis
    from ended
  ), detailed as (
    insert into backtest_details (id, detail, trades)
    select id, substr(bytes, "detailAt", "detailLength"), substr(bytes, "tradesAt", "tradesLength")
    from ended where "detailAt" is not null
  ), change as (
    select workspace_id, -count(*)::integer as open,
      coalesce(sum("detailLength"::bigint + "tradesLength"), 0)::bigint as amount
    from ended group by workspace_id
  ), counted as materialized (
    select close_turns(array_agg(workspace_id), array_agg(open), array_agg(amount)) from change having count(*) > 0
  )
  select array(select id from ended) from (select count(*) from counted) as done
$$;
