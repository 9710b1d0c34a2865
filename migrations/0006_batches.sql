-- Batches: which backtests were queued by one request, so that its answer need not list them. Rows of other requests
-- take no more room, since the column is null.

alter table backtests add column batch_id uuid;
create index backtests_by_batch on backtests (batch_id) where batch_id is not null;
