-- Writes a message for each webhook of its workspace that wants to know that a run has ended, in the transaction that
-- ends the run: no message is lost, and none tells of a run that has not ended. Workspaces without webhooks pay for one
-- look at an index.
create function note_ended_runs() returns trigger language plpgsql as $$
begin
  if not exists (select from webhooks) then
    return null;
  end if;
  if tg_table_name = 'backtest_results' then
    perform add_webhook_messages('backtest.ended', array_agg(r.workspace_id), array_agg(json_build_object(
      'id', r.id, 'status', r.status, 'strategyId', b.strategy_id, 'strategyVersionId', b.strategy_version_id,
      'path', '/public/v1/backtests/' || r.id)::text))
    from ended r join backtests b on b.id = r.id
    where exists (select from webhooks w where w.workspace_id = r.workspace_id and w.is_enabled)
    having count(*) > 0;
  else
    perform add_webhook_messages(case when new.backtest_id is null then 'sweep.ended' else 'robustness.ended' end,
      array[new.workspace_id], array[json_build_object('id', new.id, 'status', new.status,
        'strategyId', new.strategy_id, 'strategyVersionId', new.strategy_version_id, 'backtestId', new.backtest_id,
        'path',
        case when new.backtest_id is null then '/public/v1/sweeps/' || new.id
          else '/public/v1/backtests/' || new.backtest_id || '/robustness/' || new.id end)::text]);
  end if;
  return null;
end $$;

create trigger backtest_results_note_ended after insert on backtest_results
  referencing new table as ended for each statement execute function note_ended_runs();
-- At the end of the transaction: it locks webhooks after the turn of the workspace, as the end of backtests does.
create constraint trigger sweeps_note_ended after update on sweeps deferrable initially deferred
  for each row when (old.finished_at is null and new.finished_at is not null) execute function note_ended_runs();
