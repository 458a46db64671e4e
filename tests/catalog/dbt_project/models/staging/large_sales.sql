{{ config(materialized='ephemeral') }}
select * from {{ ref('stg_sales') }} where amount > 5
