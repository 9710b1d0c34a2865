-- Adds one message per webhook that wants `kind`, and a job that delivers them. `workspaces` and `data` are parallel;
-- an element of `data` is the JSON of a message's `data`.
--
-- A webhook of which `kept` messages are waiting keeps no more of them, and counts what it has missed.
create function add_webhook_messages(kind text, workspaces uuid[], data text[]) returns void language plpgsql as $$
declare
  kept constant integer := 10000;
  hook record;
begin
  for hook in
    select w.id, w.rests_until, count(*)::integer as messages, array_agg(run.data order by run.place) as data
    from unnest(workspaces, data) with ordinality as run (workspace_id, data, place)
    join webhooks w on w.workspace_id = run.workspace_id
    where w.is_enabled and kind = any (w.events)
    -- In this order everywhere, so that two statements that count a missed message never wait for each other.
    group by w.id order by w.id
  loop
    if (select count(*) from (select from webhook_messages m
      where m.webhook_id = hook.id and m.due_at is not null limit kept) as waiting) >= kept then
      update webhooks set missed = missed + hook.messages where id = hook.id;
      continue;
    end if;
    insert into webhook_messages (webhook_id, event, body)
    select hook.id, kind, format('{"type":%s,"timestamp":%s,"data":%s}', to_json(kind),
      to_json(to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), one)
    from unnest(hook.data) as one;
    -- One waiting job per webhook (addWebhookJob in src/db/tickets.ts makes the same).
    perform graphile_worker.add_job('deliver_webhook', json_build_object('webhookId', hook.id), max_attempts => 5,
      job_key => 'webhook ' || hook.id, run_at => greatest(now(), hook.rests_until), priority => 3);
  end loop;
end $$;
