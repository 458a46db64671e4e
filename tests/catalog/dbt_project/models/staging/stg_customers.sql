select id as customer_id, name, city from {{ ref('till_customers') }}
