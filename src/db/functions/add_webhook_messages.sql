-- Adds one message per webhook that wants `kind`, and a job that delivers them. `workspaces` and `data` are parallel;
-- an element of `data` is the JSON of a message's `data`.
--
-- A webhook at which `kept` messages wait keeps no more of them, and counts what it has missed.
create function add_webhook_messages(kind text, workspaces uuid[], data text[]) returns void language plpgsql as $$
declare
  kept constant integer := 10000;
  hook record;
begin
  for hook in
    -- Locked in this order everywhere, so that two statements never wait for each other.
    select w.id, w.waiting, w.rests_until from webhooks w
    where w.workspace_id = any (workspaces) and w.is_enabled and kind = any (w.events)
    order by w.id for no key update
  loop
    if hook.waiting >= kept then
      update webhooks w set missed = missed + (select count(*) from unnest(workspaces) one where one = w.workspace_id)
      where w.id = hook.id;
      continue;
    end if;
    with added as (
      insert into webhook_messages (webhook_id, event, body)
      select hook.id, kind, format('{"type":%s,"timestamp":%s,"data":%s}', to_json(kind),
        to_json(to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), run.data)
      from unnest(workspaces, data) as run (workspace_id, data)
      join webhooks w on w.id = hook.id and w.workspace_id = run.workspace_id
      returning 1
    )
    update webhooks set waiting = waiting + (select count(*) from added) where id = hook.id;
    -- Where messages wait, a job waits for them (addWebhookJob in src/db/tickets.ts makes the same).
    if hook.waiting = 0 then
      perform graphile_worker.add_job('deliver_webhook', json_build_object('webhookId', hook.id), max_attempts => 5,
        job_key => 'webhook ' || hook.id, run_at => greatest(now(), hook.rests_until), priority => 0);
    end if;
  end loop;
end $$;
