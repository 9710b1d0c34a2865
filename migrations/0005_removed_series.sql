-- A series can be removed. Its row stays without a snapshot, so that a shipped series is not imported again at the next start.

alter table series alter column sha256 drop not null;
