select cast('2026-01-01' as date) as day
