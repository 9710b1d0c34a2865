-- The file that a snapshot was imported from, so that a command that runs on it can say so. Null: made by a generator, or imported earlier.

alter table snapshots add column source_file text;
