select customer_id, count(*) as visits from {{ ref('stg_sales') }} group by 1
