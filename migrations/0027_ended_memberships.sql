-- The end of a membership revokes the keys of its user. Memberships that ended before have left theirs active.
update api_keys k set revoked_at = m.ended_at
from members m
where m.workspace_id = k.workspace_id and m.user_id = k.created_by and m.ended_at is not null and k.revoked_at is null;
