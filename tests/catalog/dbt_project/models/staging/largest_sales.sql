{{ config(materialized='ephemeral') }}
select * from {{ ref('large_sales') }} where amount > 10
