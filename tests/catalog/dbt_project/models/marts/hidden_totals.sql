select sum(spent) as total from {{ ref('spending') }}
