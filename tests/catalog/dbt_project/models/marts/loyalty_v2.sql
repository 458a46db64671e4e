select customer_id, visits, visits > 1 as is_regular from {{ ref('loyalty', v=1) }}
