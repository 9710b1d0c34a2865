-- Deleting a version looks for the sweeps that have run it: without an index, among those of all workspaces.
create index sweeps_by_version on sweeps (strategy_version_id);
