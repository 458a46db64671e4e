select customer_id, spent from {{ ref('spending') }}
