select
    c.customer_id::integer as customer_id,
    sum(s.amount)::double as spent,
    max(l.amount)::double as largest
from {{ ref('stg_customers') }} as c
join {{ ref('stg_sales') }} as s using (customer_id)
left join {{ ref('largest_sales') }} as l using (customer_id)
group by 1
