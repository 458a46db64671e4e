-- depends_on: {{ ref('till_sales') }}
select id as sale_id, customer_id, pence / 100.0 as amount, sold_at from {{ source('till', 'sales') }}
